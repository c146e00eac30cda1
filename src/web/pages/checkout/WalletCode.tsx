import { Trans, useLingui } from '@lingui/react/macro'
import { skipToken, useQuery } from '@tanstack/react-query'
import { useEffect, useState, type FormEvent } from 'react'
import { parseAddress } from '#contract/address.ts'
import { familyOf } from '#contract/network.ts'
import type { PaymentStatus } from '#contract/payment.ts'
import { callProxy } from '../../api/client.ts'
import { serverNow } from '../../api/clock.ts'
import { paymentQuery } from '../../api/queries.ts'
import { paymentUri } from '../../payment-uris/uris.ts'
import { pathTo } from '../../router/paths.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
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
import { useNow } from '../../ui/use-now.ts'
import { StatusPill } from '../../ui/StatusPill.tsx'
import { useAccounts } from '../../wallet/state/accounts.ts'
import { describeBeginFailure } from '../../payment-flow/begin-failure.ts'
import { cleanRecipient, formatWithSymbol } from '../../payment-flow/form/fields.ts'
import { breachOf } from '../../payment-flow/form/spending-limit.ts'
import { LazyEvidenceCard } from '../../payment-flow/LazyEvidenceCard.tsx'
import { isOutstanding } from '../../payment-flow/journal.ts'
import type { PaymentState } from '../../payment-flow/machine.ts'
import type { PaymentRun } from '../../payment-flow/run.ts'
import { StepHeading, useStepFocus } from '../../payment-flow/steps/Steps.tsx'
import { openEvidence } from '../../payment-intent/evidence.ts'
import { Card } from '../../ui/Card.tsx'

const LOOK_EVERY_MS = 3_000
const LEASE_EVERY_MS = 30_000
/** The proxy keeps a place for so long. */
const LEASE_MS = 120_000
/** Of these the service names the transaction that decides. */
const DECIDED: readonly PaymentStatus[] = ['confirmed', 'finalized', 'rolled_back', 'failed']

/**
 * A code that a wallet reads as a payment. The service finds such a payment by who sends it, so the payer says first from which address they will pay. On
 * Solana the payment's id is its memo; on EVM nothing in it names the order, and the payer signs afterwards that the payment is theirs.
 */
export function WalletCode({
  orderFrom,
  onStart,
}: {
  onStart: (order: WalletPaymentIntent) => Promise<void>
  orderFrom: (sender: string) => WalletPaymentIntent | undefined
}) {
  const { t } = useLingui()
  const sample = orderFrom('')
  const family = sample && familyOf(sample.network)
  const connected = useAccounts().find((account) => account.family === family)
  const [sender, setSender] = useState(connected?.address ?? '')
  const [problem, setProblem] = useState<string>()
  const [refusal, setRefusal] = useState<string>()
  const [busy, setBusy] = useState(false)
  if (!sample) {
    return (
      <p className="text-sm text-muted">
        <Trans>Enter recipient and amount first.</Trans>
      </p>
    )
  }

  async function make(event: FormEvent) {
    event.preventDefault()
    const parsed = parseAddress(cleanRecipient(sender))
    if (!parsed.ok || parsed.family !== family)
      return setProblem(t`Use an address on this network.`)
    const order = orderFrom(parsed.address)
    if (!order) return
    setProblem(undefined)
    setRefusal(undefined)
    setBusy(true)
    try {
      const breach = await breachOf(order)
      if (breach) return setRefusal(breach)
      await onStart(order)
    } catch (error) {
      setRefusal(describeBeginFailure(error))
    } finally {
      setBusy(false)
    }
  }

  return (
    <form className="space-y-4" noValidate onSubmit={(event) => void make(event)}>
      {refusal && (
        <Banner role="alert" tone="bad">
          {refusal}
        </Banner>
      )}
      <Field error={problem} hint={t`Pay from this address only.`} label={t`Your paying address`}>
        <WrappedInput onChange={(event) => setSender(event.target.value)} value={sender} />
      </Field>
      <Button busy={busy} type="submit" variant="primary" wide>
        <Trans>Show the code</Trans>
      </Button>
    </form>
  )
}

type CodeState = Extract<PaymentState, { step: 'code' }>

/**
 * Whether the code may be paid now; undefined until that is known. A link is asked, in the background too: a place that it gave to one payer is kept for
 * two minutes after each answer.
 */
function useMayPay(state: CodeState): boolean | undefined {
  const { order, built } = state
  const { link, quote } = order
  const { paymentId } = built
  const now = useNow()
  const { data, dataUpdatedAt, isError } = useQuery({
    queryKey: ['linkLease', paymentId],
    queryFn: link
      ? ({ signal }) => callProxy('linkLease', { body: { link: link.text, paymentId } }, { signal })
      : skipToken,
    refetchInterval: LEASE_EVERY_MS,
    refetchIntervalInBackground: true,
  })
  if (!isOutstanding(state, serverNow()) || (quote && quote.expiresAt <= serverNow())) return false
  if (!link) return true
  if (!data) return isError ? false : undefined
  return data.leased && now - dataUpdatedAt < LEASE_MS
}

/** Step 3 of a payment by code: the code, until the service names what the wallet sent. */
export function CodeStep({
  run,
  state,
  onLeave,
}: {
  run: PaymentRun
  state: CodeState
  /** To the form. The code may still be paid: the payment stays open. */
  onLeave: () => void
}) {
  const { t } = useLingui()
  const { order, built } = state
  const { title } = useConfig()
  const mayPay = useMayPay(state)
  // It is loaded after the step changed.
  const container = useStepFocus('code')
  const { paymentId } = built
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
  const { data, dataUpdatedAt } = useQuery({
    ...paymentQuery(paymentId),
    refetchInterval: LOOK_EVERY_MS,
  })
  // Until then another transaction may still pay: one that failed ends no order.
  const sent = data && DECIDED.includes(data.status) ? data.signature : null
  useEffect(() => {
    // What the journal cannot keep now is tried again with the next reading.
    if (sent !== null) run.codePaid(sent).catch(() => undefined)
  }, [dataUpdatedAt, run, sent])
  const unproven = data !== undefined && data.attribution.missing.length > 0
  const evidence = data ? openEvidence(data, network) : null
  // Nothing that is sent then is looked for: the code must not be scanned again.
  const failed = data?.status === 'failed'
  // While one is on its way, a second scan would pay twice.
  const waits = data === undefined || data.status === 'created' || data.status === 'expired'
  const payable = waits && !unproven && mayPay === true
  const over = failed || (waits && mayPay === false)
  const amount = formatWithSymbol(amountAtomic, asset)
  return (
    <Card>
      <div className="space-y-4 text-center" ref={container}>
        <StepHeading large>
          <Trans>Wallet code</Trans>
        </StepHeading>
        <p>
          <Amount
            atomic={amountAtomic}
            decimals={asset.decimals}
            exact
            size="lg"
            symbol={asset.symbol}
          />
        </p>
        {payable && (
          <QrCode
            className="mx-auto w-full max-w-64 border border-line"
            label={t`Wallet code: pay ${amount} to ${recipient}`}
            value={uri}
          />
        )}
        <p className="flex justify-center" role="status">
          {data && (
            <StatusPill status={data.status === 'expired' && !over ? 'created' : data.status} />
          )}
        </p>
        <p className="text-sm text-muted">
          {payable ? (
            <Trans>Scan with your wallet. Check amount and address.</Trans>
          ) : unproven ? (
            !evidence && (
              <Trans>Such a payment arrived. Open it and sign with the paying wallet.</Trans>
            )
          ) : (
            over && !failed && <Trans>This code has expired. Do not pay it.</Trans>
          )}
        </p>
        <div className="flex flex-wrap justify-center gap-2">
          {payable && <CopyButton label={t`Copy code`} text value={uri} />}
          <Button onClick={onLeave} size="sm" variant={over ? 'primary' : 'secondary'}>
            {failed ? <Trans>Try again</Trans> : <Trans>Pay another way</Trans>}
          </Button>
          <Link
            className={buttonClass({ size: 'sm' })}
            to={pathTo('payment', { params: { paymentId } })}
          >
            <Trans>Show the payment</Trans>
          </Link>
        </div>
      </div>
      {evidence && <LazyEvidenceCard asset={asset} evidence={evidence} heading="h3" />}
    </Card>
  )
}
