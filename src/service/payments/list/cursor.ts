import { isPaymentId } from '#contract/payment.ts'
import { refuseParameters } from '../../context/network.ts'

/** What a list is ordered by: when its payments were created, or when they landed. */
export type ListOrder = 'created' | 'landed'

/** A place in a list that is ordered by a time and id: the last row that was read. New rows do not move it. */
export type CursorPosition = { at: Date; id: string }

const MARKS: Readonly<Record<ListOrder, string>> = { created: '', landed: 'l' }

/** The end of the year 9999: later times have no spelling that Postgres reads, and no payment. */
export const LAST_MOMENT = 253_402_300_799_999

export function writeCursorText({ at, id }: CursorPosition, by: ListOrder): string {
  return Buffer.from(`${MARKS[by]}${at.getTime()}.${id}`).toString('base64url')
}

/** @throws `INVALID_PARAMETERS` when it is none of ours, or of a list in another order */
export function readCursorText(text: string, by: ListOrder): CursorPosition {
  const match = /^l?([0-9]{1,15})\.(.+)$/.exec(Buffer.from(text, 'base64url').toString('utf8'))
  const [, time = '', id = ''] = match ?? []
  if (
    !match ||
    Number(time) > LAST_MOMENT ||
    !isPaymentId(id) ||
    writeCursorText({ at: new Date(Number(time)), id }, by) !== text
  ) {
    throw refuseParameters({
      cursor: 'Expected nextCursor of an answer before, to a request with the same `by`.',
    })
  }
  return { at: new Date(Number(time)), id }
}
