import { t as words } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useState, type FormEvent } from 'react'
import { formatAmount } from '#contract/amount.ts'
import type { EndpointResponse } from '#contract/endpoints.ts'
import { LosslessNumber } from '#contract/json.ts'
import { shortAddress } from '#contract/known-address.ts'
import { familyOf } from '#contract/network.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import {
  MOST_REASON,
  refundRequestText,
  refundRequestTypedData,
  type RefundRequest,
  type RefundRequestTerms,
} from '#contract/refund-request.ts'
import { call } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import { requestWithRetry } from '../../api/retry.ts'
import { useNetwork } from '../../api/use-config.ts'
import { describeError } from '../../errors/codes.ts'
import { joinMessage } from '../../errors/row.ts'
import { Amount } from '../../ui/Amount.tsx'
import { announce } from '../../ui/announce.tsx'
import { Badge, type Tone } from '../../ui/Badge.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Input } from '../../ui/Input.tsx'
import { TextArea } from '../../ui/TextArea.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { loadWalletAdapter } from '../../wallet/load-adapter.ts'
import {
  openConnectDialog,
  useAccounts,
  type ConnectedAccount,
} from '../../wallet/state/accounts.ts'
import { signalOf } from '../../wallet/state/errors.ts'
import { formatWithSymbol, readAmount, writeAmount } from './fields.ts'
import { requestFromWallet } from '../tab-runs.ts'

type Requests = EndpointResponse<'refundRequestRead'>

export type RefundRequestCardProps = {
  payment: PaymentStatusBody
  requests: Requests
  heading: 'h2' | 'h3'
  /** Whether the form is open: then its button is the filled one of the page. */
  onForm?: ((open: boolean) => void) | undefined
}

/** The payer's side of a refund: what was asked for, what became of it, and the form that asks. */
export function RefundRequestCard({
  payment,
  requests: { requests, next },
  heading: Heading,
  onForm,
}: RefundRequestCardProps) {
  const [asking, setAsking] = useState(false)
  const open = asking && next !== null
  useEffect(() => {
    onForm?.(open)
    return () => onForm?.(false)
  }, [onForm, open])
  const requestButton = next !== null && !asking && (
    <Button onClick={() => setAsking(true)} size="sm">
      {requests.length === 0 ? (
        <Trans>Request a refund</Trans>
      ) : (
        <Trans>Request another refund</Trans>
      )}
    </Button>
  )
  const content = (
    <>
      {requests.length > 0 && (
        <ul className="mb-3 space-y-3">
          {requests.map((request) => (
            <li key={request.requestId}>
              <RequestRow request={request} />
            </li>
          ))}
        </ul>
      )}
      {requestButton}
      {next !== null && asking && (
        <RequestForm next={next} onClose={() => setAsking(false)} payment={payment} />
      )}
    </>
  )
  const title = open ? <Trans>Request a refund</Trans> : <Trans>Refund</Trans>
  if (Heading === 'h2')
    return (
      <Card className="no-print" title={title}>
        {content}
      </Card>
    )
  // Few who have just paid want it back: a button is enough.
  if (requests.length === 0 && !asking) return <div className="no-print mt-4">{requestButton}</div>
  return (
    <section className="no-print mt-6 rounded-lg border border-line p-4 text-start">
      <Heading className="mb-3 text-base font-semibold">{title}</Heading>
      {content}
    </section>
  )
}

const TONES: Readonly<Record<RefundRequest['state'], Tone>> = {
  open: 'info',
  refunding: 'info',
  refunded: 'good',
  declined: 'neutral',
}

/** One request, in the words of its payer, and the answer in the merchant's. */
function RequestRow({ request }: { request: RefundRequest }) {
  const { amountAtomic, decimals, symbol, state, declined, reason } = request
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        <Badge tone={TONES[state]}>{stateWord(state)}</Badge>
        <Amount atomic={amountAtomic} decimals={decimals} exact symbol={symbol} />
        <Time at={declined?.at ?? request.timestamp} className="text-muted" />
      </div>
      {reason !== null && (
        <p className="mt-1 text-sm text-muted [overflow-wrap:anywhere]">
          <Trans>You wrote:</Trans>{' '}
          <q>
            <UntrustedText text={reason} />
          </q>
        </p>
      )}
      {state === 'declined' && declined?.note && (
        <p className="mt-1 text-sm [overflow-wrap:anywhere]">
          <Trans>The merchant wrote:</Trans>{' '}
          <q>
            <UntrustedText text={declined.note} />
          </q>
        </p>
      )}
    </>
  )
}

function stateWord(state: RefundRequest['state']): string {
  switch (state) {
    case 'open':
      return words`Requested`
    case 'refunding':
      return words`Refund under way`
    case 'refunded':
      return words`Refunded`
    case 'declined':
      return words`Declined`
  }
}

type RequestFormProps = {
  payment: PaymentStatusBody
  next: NonNullable<Requests['next']>
  onClose: () => void
}

/** What the wallet signs is built here, from what the form shows. Of the service's answer it has the number, the deployment, and what is left at most. */
function RequestForm({ payment, next, onClose }: RequestFormProps) {
  const { t } = useLingui()
  const { network: id, sender: payer, paymentId, asset, symbol, decimals } = payment
  const network = useNetwork(id)
  const family = familyOf(id)
  const account = useAccounts().find((each) => each.family === family)
  const most = BigInt(next.amountAtomic)
  const [amount, setAmount] = useState(() => writeAmount(most, decimals))
  const [reason, setReason] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const parsed = readAmount(amount, { decimals })
  const fits = parsed.ok && parsed.atomic > 0n && parsed.atomic <= most
  const maximum = formatWithSymbol(most, { decimals, symbol })

  async function sendRequest(signer: ConnectedAccount, amountAtomic: bigint) {
    const { number, deployment } = next
    const written = reason.trim()
    const terms = { paymentId, number, network: id, deployment, payer, asset, symbol, decimals }
    setBusy(true)
    setProblem(undefined)
    try {
      const signature = await sign(signer, { ...terms, amountAtomic, reason: written })
      await requestWithRetry(() =>
        call(
          'refundRequestCreate',
          {
            body: {
              paymentId,
              number,
              amount: new LosslessNumber(formatAmount(amountAtomic, decimals)),
              ...(written !== '' && { reason: written }),
              signature,
            },
          },
          { idempotencyKey: `refund-request-${paymentId}-${signature.slice(2, 66)}` },
        ),
      )
      announce(t`Refund requested.`)
      await queryClient.invalidateQueries({ queryKey: ['refundRequests'] })
      onClose()
    } catch (error) {
      setProblem(problemOf(error))
      setBusy(false)
    }
  }

  async function sign(signer: ConnectedAccount, terms: RefundRequestTerms): Promise<string> {
    if (!network) throw new Error('The network of the payment is not configured any more.')
    const adapter = await loadWalletAdapter(family)
    const signature = await requestFromWallet({ family, walletName: signer.walletName }, () =>
      family === 'evm'
        ? adapter.signTypedData(network, signer, refundRequestTypedData(terms))
        : adapter.signMessage(signer, refundRequestText(terms)),
    )
    if (signature === null) throw new InOtherTabError(signer.walletName)
    return signature
  }

  function submit(event: FormEvent) {
    event.preventDefault()
    if (account?.address === payer && fits) void sendRequest(account, parsed.atomic)
  }

  const paid = shortAddress(payer)
  return (
    <form className="grid gap-4" onSubmit={submit}>
      <Field
        error={fits ? undefined : <Trans>Enter at most {maximum}.</Trans>}
        label={<Trans>Amount</Trans>}
      >
        <Input
          inputMode="decimal"
          onChange={(event) => setAmount(event.target.value)}
          suffix={symbol}
          value={amount}
        />
      </Field>
      <Field label={<Trans>Reason</Trans>} optional>
        <TextArea
          maxLength={MOST_REASON}
          onChange={(event) => setReason(event.target.value)}
          value={reason}
        />
      </Field>
      <p className="text-sm text-muted">
        <Trans>Signing is free.</Trans> <Trans>The merchant decides.</Trans>
      </p>
      {problem !== undefined && (
        <Banner role="alert" tone="warn">
          {problem}
        </Banner>
      )}
      <div className="flex flex-wrap gap-2">
        {account?.address === payer ? (
          <Button
            busy={busy}
            className="max-sm:w-full"
            disabled={!fits}
            icon={<Icon name="wallet" />}
            type="submit"
            variant="primary"
          >
            <Trans>Request refund</Trans>
          </Button>
        ) : (
          <Button
            className="max-sm:w-full"
            icon={<Icon name="wallet" />}
            onClick={() => openConnectDialog(family)}
            variant="primary"
          >
            <Trans>Connect {paid}</Trans>
          </Button>
        )}
        <Button className="max-sm:w-full" disabled={busy} onClick={onClose} variant="quiet">
          <Trans>Cancel</Trans>
        </Button>
      </div>
    </form>
  )
}

/** The wallet has a request of another tab. */
class InOtherTabError extends Error {
  readonly walletName: string

  constructor(walletName: string) {
    super(`${walletName} has a request of another tab.`)
    this.walletName = walletName
  }
}

function problemOf(error: unknown): string {
  if (error instanceof InOtherTabError) {
    const { walletName } = error
    return words`Answer ${walletName} in the other tab.`
  }
  const signal = signalOf(error)
  if (signal === 'rejected') return words`Not signed. Nothing was requested.`
  if (signal === 'unsupported') return words`Your wallet cannot sign this. Contact the merchant.`
  return joinMessage(describeError(error))
}
