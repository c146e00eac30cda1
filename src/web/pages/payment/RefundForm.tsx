import { Trans, useLingui } from '@lingui/react/macro'
import { useRef, useState, type FormEvent } from 'react'
import { formatAmount } from '#contract/amount.ts'
import { shortAddress } from '#contract/known-address.ts'
import type { Asset } from '#contract/network.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { quoteOf } from '#contract/quote.ts'
import { useRefundWallets } from '../../api/hosted-wallets.ts'
import { formatPrice } from '../../locales/formats.ts'
import { checkAmount, localDecimal, readAmount } from '../../payment-flow/form/fields.ts'
import { ReasonField } from '../../payment-flow/form/ReasonField.tsx'
import { Worth } from '../../payment-flow/Worth.tsx'
import { navigate } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { Button } from '../../ui/Button.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { Select } from '../../ui/Select.tsx'
import { quotedShare } from './refund.ts'

/** How much goes back, and why. What is sent is reviewed on the next page. */
export function RefundForm({
  payment,
  asset,
  leftAtomic,
}: {
  payment: PaymentStatusBody
  asset: Asset
  leftAtomic: bigint
}) {
  const { t } = useLingui()
  // Until it is changed, all that is left.
  const [typed, setAmount] = useState<string>()
  const amount = typed ?? localDecimal(formatAmount(leftAtomic, asset.decimals))
  const read = readAmount(amount, asset)
  const [reason, setReason] = useState('')
  const [problem, setProblem] = useState<string>()
  const field = useRef<HTMLInputElement>(null)
  const { paymentId, recipient } = payment
  const managed = useRefundWallets(payment) ?? []
  // A payment goes back from where it came to, where that can pay.
  const own = managed.every(({ wallet }) => wallet !== recipient)
  const [from, setFrom] = useState<string>()

  function review(event: FormEvent) {
    event.preventDefault()
    const fits = checkAmount(amount, asset, { refundableAtomic: leftAtomic })
    if (fits === true && read.ok) {
      const search = {
        amount: formatAmount(read.atomic, asset.decimals),
        reason: reason.trim(),
        from,
      }
      navigate(pathTo('refund', { params: { paymentId }, search }))
    } else {
      setProblem(fits === true ? undefined : fits)
      field.current?.focus()
    }
  }

  return (
    <form className="no-print mt-4 space-y-4" noValidate onSubmit={review}>
      <Field
        error={problem}
        hint={
          problem === undefined &&
          read.ok && <RefundWorth asset={asset} atomic={read.atomic} payment={payment} />
        }
        label={<Trans>Amount</Trans>}
      >
        <Input
          inputMode="decimal"
          onChange={(event) => setAmount(event.target.value)}
          ref={field}
          suffix={asset.symbol}
          value={amount}
        />
      </Field>
      <ReasonField onChange={(event) => setReason(event.target.value)} value={reason} />
      {managed.length > 0 && (
        <Field label={<Trans>Pay from</Trans>}>
          <Select onChange={(event) => setFrom(event.target.value)} value={from ?? recipient}>
            {own && <option value={recipient}>{t`My wallet`}</option>}
            {managed.map(({ wallet, name }) => (
              <option key={wallet} value={wallet}>
                {name} · {shortAddress(wallet)}
              </option>
            ))}
          </Select>
        </Field>
      )}
      <Button type="submit" wide>
        <Trans>Review refund</Trans>
      </Button>
    </form>
  )
}

/** Of a price in fiat its share, which is what the customer paid; otherwise what the amount is worth now. */
function RefundWorth({
  payment,
  asset,
  atomic,
}: {
  payment: PaymentStatusBody
  asset: Asset
  atomic: bigint
}) {
  const quote = quoteOf(payment.metadata)
  if (!quote) return <Worth asset={asset} atomic={atomic} />
  const share = quotedShare(quote, atomic, BigInt(payment.amountAtomic))
  const price = formatPrice(share, quote.currency)
  return (
    <span className="figures">
      <Trans>{price} at the payment’s rate</Trans>
    </span>
  )
}
