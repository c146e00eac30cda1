import { t as words } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { canRebuild, isPaid } from '../../../payment-flow/machine.ts'
import { joinMessage } from '../../../errors/row.ts'
import { readReason, proofReasons } from '../../../errors/proof-reasons.ts'
import { Amount } from '../../../ui/Amount.tsx'
import { Banner } from '../../../ui/Banner.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Card } from '../../../ui/Card.tsx'
import { Checkbox } from '../../../ui/Checkbox.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { UntrustedText } from '../../../ui/UntrustedText.tsx'
import { ResultTitle } from '../request/ResultTitle.tsx'
import type { ResourceResponse } from '../request/send-request.ts'
import { isChallenge, isSameWay, readChallenge, type PaymentOption } from '../request/challenge.ts'
import type { Purchase } from './purchase.ts'
import { termsOf } from './runs.ts'
import type { PurchaseView } from './use-purchase.ts'

export type RefusedCardProps = {
  view: PurchaseView
  answer: ResourceResponse
  onPayAnew: (paymentOption: PaymentOption) => void
}

/**
 * The server wants money once more. Nothing is paid a second time without the reader's consent, and
 * never while the first payment may still be used.
 */
export function RefusedCard({ view, answer, onPayAnew }: RefusedCardProps) {
  const { t } = useLingui()
  const { state, purchase, sending, send, delivered } = view
  const [agreed, setAgreed] = useState(false)
  const terms = termsOf(purchase)
  const read = readChallenge(answer)
  const again = findAgain(purchase, answer)
  const { asset } = state.order
  const rose = again && again.terms.amountAtomic > terms.amountAtomic
  const reason = delivered?.delivery.reason
  const known = reason ? proofReasons[readReason(reason)] : undefined
  // Asking again costs nothing, but it is not the first choice for a proof that can never be
  // accepted.
  const hopeless = known?.retry === 'never'
  const paid = isPaid(state)
  const over = canRebuild(state)
  const said = isChallenge(read) ? read.error : null
  return (
    <Card title={<ResultTitle>{titleOfRefusal(purchase, answer)}</ResultTitle>}>
      {rose ? (
        <p className="text-sm">
          <Trans>
            The price was{' '}
            <Amount
              atomic={terms.amountAtomic}
              decimals={asset.decimals}
              exact
              symbol={asset.symbol}
            />
            . It is now{' '}
            <Amount
              atomic={again.terms.amountAtomic}
              className="font-semibold"
              decimals={asset.decimals}
              exact
              symbol={asset.symbol}
            />
            .
          </Trans>
        </p>
      ) : (
        known && (
          <p className="text-sm">{joinMessage({ title: t(known.title), body: t(known.body) })}</p>
        )
      )}
      {said && (
        <p className="mt-1 text-sm text-muted">
          <Trans>
            The server says: <UntrustedText text={said} />
          </Trans>
        </p>
      )}
      <Banner className="mt-4" tone={paid ? 'warn' : over ? 'info' : 'warn'}>
        {paid ? (
          <Trans>The merchant has your first payment. Request a refund, or pay again.</Trans>
        ) : over ? (
          <Trans>The first payment expired. You pay only once.</Trans>
        ) : (
          <Trans>Pay again after the first signature expires.</Trans>
        )}
      </Banner>
      {paid && again && (
        <Checkbox
          checked={agreed}
          className="mt-4"
          label={<Trans>Pay again</Trans>}
          onChange={(event) => setAgreed(event.target.checked)}
        />
      )}
      <div className="mt-4 flex flex-wrap gap-2">
        <Button
          busy={sending}
          icon={<Icon name="refresh" />}
          onClick={() => send()}
          variant={over || hopeless ? 'secondary' : 'primary'}
        >
          <Trans>Try again with the same payment</Trans>
        </Button>
        {again && (paid || over) && (
          <Button
            disabled={paid && !agreed}
            icon={<Icon name="pay" />}
            onClick={() => onPayAnew(again)}
            variant={over ? 'primary' : 'secondary'}
          >
            {rose ? <Trans>Pay the new price</Trans> : <Trans>Pay again</Trans>}
          </Button>
        )}
      </div>
    </Card>
  )
}

export function titleOfRefusal(purchase: Purchase, answer: ResourceResponse): string {
  const again = findAgain(purchase, answer)
  return again && again.terms.amountAtomic > termsOf(purchase).amountAtomic
    ? words`Price increased`
    : words`Payment rejected`
}

/** The same way to pay, among the terms of now. */
function findAgain(purchase: Purchase, answer: ResourceResponse): PaymentOption | undefined {
  const read = readChallenge(answer)
  if (!isChallenge(read)) return undefined
  const terms = termsOf(purchase)
  return read.offers.find(
    (paymentOption) =>
      purchase.version in paymentOption.entries && isSameWay(paymentOption.terms, terms),
  )
}
