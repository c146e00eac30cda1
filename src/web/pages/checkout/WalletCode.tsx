import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { parseAddress } from '#contract/address.ts'
import { familyOf } from '#contract/network.ts'
import { isPaid, isSettled } from '#contract/payment.ts'
import { paymentQuery } from '../../api/queries.ts'
import { paymentUri } from '../../payment-uris/uris.ts'
import { pathTo } from '../../router/paths.ts'
import type { WalletPaymentIntent, UserError } from '../../payment-intent/intent.ts'
import { Link } from '../../router/Link.tsx'
import { useConfig } from '../../api/use-config.ts'
import { Amount } from '../../ui/Amount.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Field } from '../../ui/Field.tsx'
import { WrappedInput } from '../../ui/WrappedInput.tsx'
import { QrCode } from '../../ui/QrCode.tsx'
import { StatusPill } from '../../ui/StatusPill.tsx'
import { useAccounts } from '../../wallet/state/accounts.ts'
import { cleanRecipient, formatWithSymbol } from '../../payment-flow/form/fields.ts'
import { paymentService } from '../../payment-flow/form/payment-service.ts'

const LOOK_EVERY_MS = 3_000

type Made = { order: WalletPaymentIntent; paymentId: string }

/**
 * A code that a wallet reads as a payment. The service finds such a payment by who sends it, so the payer says first from which address they will pay. On
 * Solana the payment's id is its memo; on EVM nothing in it names the order, and the payer signs afterwards that the payment is theirs.
 */
export function WalletCode({
  orderFrom,
}: {
  orderFrom: (sender: string) => WalletPaymentIntent | undefined
}) {
  const { t } = useLingui()
  const sample = orderFrom('')
  const family = sample && familyOf(sample.network)
  const connected = useAccounts().find((account) => account.family === family)
  const [sender, setSender] = useState(connected?.address ?? '')
  const [problem, setProblem] = useState<string>()
  const [userError, setUserError] = useState<UserError>()
  const [made, setMade] = useState<Made>()
  const [busy, setBusy] = useState(false)
  if (!sample) {
    return (
      <p className="text-sm text-muted">
        <Trans>Enter recipient and amount first.</Trans>
      </p>
    )
  }
  if (made) return <ShownCode again={() => setMade(undefined)} made={made} />

  async function make() {
    const parsed = parseAddress(cleanRecipient(sender))
    if (!parsed.ok || parsed.family !== family)
      return setProblem(t`Use an address on this network.`)
    const order = orderFrom(parsed.address)
    if (!order) return
    setProblem(undefined)
    setUserError(undefined)
    setBusy(true)
    try {
      const { paymentId } = await paymentService.build(order, order.id)
      setMade({ order, paymentId })
    } catch (error) {
      setUserError(paymentService.explain(error))
    } finally {
      setBusy(false)
    }
  }

  return (
    <div className="space-y-4">
      {userError && (
        <Banner role="alert" title={userError.title} tone="warn">
          {userError.body}
        </Banner>
      )}
      <Field error={problem} hint={t`Pay from this address only.`} label={t`Your paying address`}>
        <WrappedInput onChange={(event) => setSender(event.target.value)} value={sender} />
      </Field>
      <Button busy={busy} onClick={() => void make()} variant="primary" wide>
        <Trans>Show the code</Trans>
      </Button>
    </div>
  )
}

function ShownCode({
  made: { order, paymentId },
  again,
}: {
  made: Made
  /** Makes another code. */
  again: () => void
}) {
  const { t } = useLingui()
  const { title } = useConfig()
  const { asset, amountAtomic, recipient, network, description } = order
  const uri = paymentUri({
    network,
    asset,
    recipient,
    amountAtomic,
    memo: paymentId,
    label: title,
    message: description,
  })
  const { data } = useQuery({
    ...paymentQuery(paymentId),
    refetchInterval: ({ state }) =>
      state.data && isSettled(state.data.status) && state.data.status !== 'expired'
        ? false
        : LOOK_EVERY_MS,
  })
  const paid = data !== undefined && isPaid(data.status)
  const unproven = data !== undefined && data.attribution.missing.length > 0
  // Nothing that is sent now is looked for: the code must not be scanned again.
  const failed = data?.status === 'failed'
  const payable = !paid && !unproven && !failed
  const amount = formatWithSymbol(amountAtomic, asset)
  return (
    <div className="space-y-4 text-center">
      <Amount
        atomic={amountAtomic}
        decimals={asset.decimals}
        exact
        size="lg"
        symbol={asset.symbol}
      />
      {payable && (
        <QrCode
          className="mx-auto w-full max-w-64 border border-line"
          label={t`Wallet code: pay ${amount} to ${recipient}`}
          value={uri}
        />
      )}
      <p className="flex justify-center" role="status">
        {data && <StatusPill status={data.status === 'expired' ? 'created' : data.status} />}
      </p>
      <p className="text-sm text-muted">
        {failed ? null : paid ? (
          <Trans>The payment arrived.</Trans>
        ) : unproven ? (
          <Trans>A payment like this arrived. Show it and sign with the same wallet.</Trans>
        ) : (
          <Trans>Scan it with your wallet. Check amount and address there.</Trans>
        )}
      </p>
      <div className="flex flex-wrap justify-center gap-2">
        {payable && <CopyButton label={t`Copy code`} text value={uri} />}
        {failed && (
          <Button onClick={again} size="sm" variant="primary">
            <Trans>Try again</Trans>
          </Button>
        )}
        <Link
          className={buttonClass({ size: 'sm' })}
          to={pathTo('payment', { params: { paymentId } })}
        >
          <Trans>Show the payment</Trans>
        </Link>
      </div>
    </div>
  )
}
