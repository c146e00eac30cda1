import { useQuery } from '@tanstack/react-query'
import { useRef, useState, type FormEvent } from 'react'
import { Trans, useLingui } from '@lingui/react/macro'
import { shortAddress } from '#contract/known-address.ts'
import { formatAmount } from '#contract/amount.ts'
import { findAsset, type Asset } from '#contract/network.ts'
import type { PaymentRow, PaymentStatusBody } from '#contract/payment-body.ts'
import { isPaid, refundableOf } from '#contract/payment.ts'
import type { RefundRequest } from '#contract/refund-request.ts'
import { hasRole } from '#contract/role.ts'
import { describeError } from '../../errors/codes.ts'
import { joinMessage } from '../../errors/row.ts'
import { call } from '../../api/client.ts'
import { useRefundWallets } from '../../api/hosted-wallets.ts'
import { directionFor } from '../../api/merge-payment.ts'
import { queryClient } from '../../api/query-client.ts'
import { useSession } from '../../api/session.ts'
import { useNetwork } from '../../api/use-config.ts'
import { checkAmount, localDecimal, readAmount } from '../../payment-flow/form/fields.ts'
import { ReasonField } from '../../payment-flow/form/ReasonField.tsx'
import { navigate } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { Link } from '../../router/Link.tsx'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Field } from '../../ui/Field.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Input } from '../../ui/Input.tsx'
import { Select } from '../../ui/Select.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { StatusPill } from '../../ui/StatusPill.tsx'
import { requestsOfPaymentQuery } from '../../api/inbox.ts'
import { CustomerReason, RefundRequestActions } from '../../payment-view/RefundRequestActions.tsx'
import { ForRole } from '../../session/ForRole.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { isUnsigned, readReturned } from './returned.ts'

/** For the payee of a payment that arrived: what went back of it, and a payment that sends the rest, through the same review as any other. */
export function ReturnCard({ payment }: { payment: PaymentStatusBody }) {
  const session = useSession()
  const { t } = useLingui()
  const viewer = session.kind === 'known' ? session.viewer : null
  const direction = viewer && directionFor(payment, viewer)
  // `external`: to a wallet that the account uses and has not registered.
  const mine =
    payment.refundOf === null &&
    (direction === 'received' || (direction === 'external' && viewer?.wallets === 'all'))
  const network = useNetwork(payment.network)
  const asset = network && findAsset(network, payment.asset)
  // Who only looks at the account refunds nothing.
  const refunds =
    session.kind === 'known' &&
    (hasRole(session.session?.role, 'operator') ||
      session.session?.wallets.includes(payment.recipient))
  const { data, error } = useQuery({
    // An event about any payment may be about a return of this one.
    queryKey: ['paymentSummary', 'returned', payment.paymentId],
    queryFn: ({ signal }) => readReturned(payment, { all: viewer?.wallets === 'all', signal }),
    enabled: mine && isPaid(payment.status),
  })
  const { data: refundRequests } = useQuery({
    ...requestsOfPaymentQuery(payment.paymentId),
    enabled: mine && isPaid(payment.status),
  })
  if (!mine || !isPaid(payment.status)) return null
  const { refundedAtomic, pendingAtomic } = payment.refund
  const leftAtomic = refundableOf(payment)
  const money = { decimals: payment.decimals, symbol: payment.symbol }
  return (
    <Card title={<Trans>Refund</Trans>}>
      {refundRequests && refundRequests.requests.length > 0 && (
        <ul className="mb-4 space-y-4 border-b border-line pb-4">
          {refundRequests.requests.map((request) => (
            <li key={request.requestId}>
              <Request request={request} />
            </li>
          ))}
        </ul>
      )}
      {data ? (
        <>
          <Facts>
            <Fact name={<Trans>Paid to</Trans>}>
              <Address copy value={payment.recipient} />
            </Fact>
            {refundedAtomic !== '0' && (
              <Fact name={<Trans>Refunded</Trans>}>
                <Amount atomic={refundedAtomic} exact {...money} />
              </Fact>
            )}
            {pendingAtomic !== '0' && (
              <Fact name={<Trans>Under way</Trans>}>
                <Amount atomic={pendingAtomic} exact {...money} />
              </Fact>
            )}
            <Fact name={<Trans>Refundable</Trans>}>
              <Amount atomic={leftAtomic} exact {...money} />
            </Fact>
          </Facts>
          {data.length > 0 && (
            <ul className="mt-3 space-y-2 border-t border-line pt-3 text-sm">
              {data.map((row) => (
                <li key={row.paymentId}>
                  <span className="flex items-center justify-between gap-3">
                    <Link
                      className="underline decoration-edge underline-offset-4"
                      to={pathTo('payment', { params: { paymentId: row.paymentId } })}
                    >
                      <Amount atomic={row.amountAtomic} {...money} />
                    </Link>
                    <StatusPill status={row.status} />
                  </span>
                  {isUnsigned(row) && <Unsigned refund={row} releases={refunds === true} />}
                </li>
              ))}
            </ul>
          )}
          {refunds && asset && leftAtomic > 0n && (
            <RefundForm asset={asset} leftAtomic={leftAtomic} payment={payment} />
          )}
        </>
      ) : error ? (
        <p className="text-sm text-muted">
          {joinMessage({
            title: describeError(error).title,
            body: t`Refunded amount unknown. Refunds are unavailable here.`,
          })}
        </p>
      ) : (
        <Skeleton className="h-16" />
      )}
    </Card>
  )
}

/** A refund that a wallet may still send: what it holds is free once it is sent, or a person gives it up. */
function Unsigned({ refund, releases }: { refund: PaymentRow; releases: boolean }) {
  const [releasing, setReleasing] = useState(false)
  return (
    <div className="mt-1 text-muted">
      <p>
        <Trans>
          Waiting for a signature since <Time at={refund.timestamp} />.
        </Trans>
      </p>
      {releases && (
        <Button className="mt-2" onClick={() => setReleasing(true)} size="sm">
          <Trans>Discard refund</Trans>
        </Button>
      )}
      {releasing && <ReleaseDialog onClose={() => setReleasing(false)} refund={refund} />}
    </div>
  )
}

function ReleaseDialog({ refund, onClose }: { refund: PaymentRow; onClose: () => void }) {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const { paymentId, amountAtomic, decimals, symbol } = refund
  const amount = <Amount atomic={amountAtomic} decimals={decimals} exact symbol={symbol} />

  async function release() {
    setBusy(true)
    setProblem(undefined)
    try {
      await call(
        'transactionRelease',
        { body: { paymentId } },
        { idempotencyKey: `${paymentId}:release` },
      )
      await Promise.all(
        ['paymentStatus', 'paymentSummary', 'refundRequests'].map((name) =>
          queryClient.invalidateQueries({ queryKey: [name] }),
        ),
      )
      onClose()
    } catch (error) {
      setProblem(joinMessage(describeError(error)))
      setBusy(false)
    }
  }

  return (
    <Dialog
      description={<Trans>Then {amount} can be refunded again.</Trans>}
      footer={
        <>
          <Button onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button busy={busy} onClick={() => void release()} variant="danger">
            <Trans>Discard refund</Trans>
          </Button>
        </>
      }
      onClose={onClose}
      open
      title={<Trans>Discard the unsigned refund</Trans>}
    >
      <Banner role="note" tone="warn">
        <Trans>First reject the request in the wallet, and check its activity.</Trans>{' '}
        <Trans>If the wallet still approves it, the customer may be refunded twice.</Trans>
      </Banner>
      {problem !== undefined && (
        <Banner className="mt-4" role="alert" tone="bad">
          {problem}
        </Banner>
      )}
    </Dialog>
  )
}

/** How much goes back, and why. What is sent is reviewed on the next page. */
function RefundForm({
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
    const read = readAmount(amount, asset)
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
      <Field error={problem} label={<Trans>Amount</Trans>}>
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

/** What the payer asked for, and what became of it. */
function Request({ request }: { request: RefundRequest }) {
  const { amountAtomic, decimals, symbol, state, declined } = request
  const amount = <Amount atomic={amountAtomic} decimals={decimals} exact symbol={symbol} />
  return (
    <div className="text-sm">
      <p className="font-medium">
        {state === 'open' && <Trans>Refund of {amount} requested</Trans>}
        {state === 'refunding' && <Trans>Refund of {amount} under way</Trans>}
        {state === 'refunded' && <Trans>Request for {amount} refunded</Trans>}
        {state === 'declined' && <Trans>Request for {amount} declined</Trans>}
      </p>
      <p className="text-muted">
        <Trans>Signed by the payer</Trans> <Time at={request.timestamp} />
      </p>
      <p className="mt-1">
        <CustomerReason reason={request.reason} />
      </p>
      {state === 'declined' && declined?.note && (
        <p className="mt-1 [overflow-wrap:anywhere]">
          <Trans>You wrote:</Trans>{' '}
          <q>
            <UntrustedText text={declined.note} />
          </q>
        </p>
      )}
      {state === 'open' && (
        <ForRole least="operator">
          <div className="mt-3 flex gap-2">
            <RefundRequestActions request={request} />
          </div>
        </ForRole>
      )}
    </div>
  )
}
