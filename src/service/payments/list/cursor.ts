import { isPaymentId } from '#contract/payment.ts'
import { refuseParameters } from '../../context/network.ts'

/** A place in a list that is ordered by creation and id: the last row that was read. New rows do not move it. */
export type CursorPosition = { createdAt: Date; id: string }

/** The end of the year 9999: later times have no spelling that Postgres reads, and no payment. */
export const LAST_MOMENT = 253_402_300_799_999

export function writeCursorText({ createdAt, id }: CursorPosition): string {
  return Buffer.from(`${createdAt.getTime()}.${id}`).toString('base64url')
}

/** @throws `INVALID_PARAMETERS` when it is none of ours */
export function readCursorText(text: string): CursorPosition {
  const match = /^([0-9]{1,15})\.(.+)$/.exec(Buffer.from(text, 'base64url').toString('utf8'))
  const [, time = '', id = ''] = match ?? []
  if (
    !match ||
    Number(time) > LAST_MOMENT ||
    !isPaymentId(id) ||
    writeCursorText({ createdAt: new Date(Number(time)), id }) !== text
  ) {
    throw refuseParameters({ cursor: 'Expected nextCursor of an answer before.' })
  }
  return { createdAt: new Date(Number(time)), id }
}
