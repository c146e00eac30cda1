import { Trans } from '@lingui/react/macro'
import type { PaymentRow } from '#contract/payment-body.ts'
import { Address } from '../ui/Address.tsx'
import { directionWords } from './Direction.tsx'

type DirectionLineProps = {
  payment: Parameters<typeof directionWords>[0] & Pick<PaymentRow, 'sender' | 'recipient'>
  /** Of the other side. */
  className?: string
}

/** "Received from 0xf39F…2266". */
export function DirectionLine({ payment, className }: DirectionLineProps) {
  const received = payment.type === 'received'
  const party = <Address value={received ? payment.sender : payment.recipient} />
  return (
    <>
      {directionWords(payment)}{' '}
      <span className={className}>
        {received ? <Trans>from {party}</Trans> : <Trans>to {party}</Trans>}
      </span>
    </>
  )
}
