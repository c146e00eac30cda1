import { Trans } from '@lingui/react/macro'
import type { RefObject } from 'react'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { refundableOf } from '#contract/payment.ts'
import { Button } from '../../ui/Button.tsx'
import { useRefund } from './refund.ts'

/** Leads to the refund, which on a phone is far below. Only where there is a form. */
export function RefundButton({
  payment,
  heading,
}: {
  payment: PaymentStatusBody
  /** Of the card of the refund. */
  heading: RefObject<HTMLSpanElement | null>
}) {
  const { mayRefund, asset } = useRefund(payment)
  if (!mayRefund || !asset || refundableOf(payment) === 0n) return null
  return (
    <Button
      onClick={() => {
        heading.current?.scrollIntoView()
        heading.current?.focus({ preventScroll: true })
      }}
    >
      <Trans>Refund</Trans>
    </Button>
  )
}
