import { useQuery } from '@tanstack/react-query'
import { useState, type RefObject } from 'react'
import { Trans, useLingui } from '@lingui/react/macro'
import type { PaymentRow, PaymentStatusBody } from '#contract/payment-body.ts'
import { refundableOf } from '#contract/payment.ts'
import type { RefundRequest } from '#contract/refund-request.ts'
import { describeError } from '../../errors/codes.ts'
import { joinMessage } from '../../errors/row.ts'
import { call } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import { pathTo } from '../../router/paths.ts'
import { Link } from '../../router/Link.tsx'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { StatusPill } from '../../ui/StatusPill.tsx'
import { requestsOfPaymentQuery } from '../../api/inbox.ts'
import { CustomerReason, RefundRequestActions } from '../../payment-view/RefundRequestActions.tsx'
import { ForRole } from '../../session/ForRole.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { RefundForm } from './RefundForm.tsx'
import { useRefund } from './refund.ts'
import { isUnsigned, readReturned } from './returned.ts'

/** For the payee of a payment that arrived: what went back of it, and a payment that sends the rest, through the same review as any other. */
export function ReturnCard({
  payment,
  heading,
}: {
  payment: PaymentStatusBody
  heading: RefObject<HTMLSpanElement | null>
}) {
  const { t } = useLingui()
  const { isPayee, all, mayRefund, asset } = useRefund(payment)
  const { data, error } = useQuery({
    // An event about any payment may be about a return of this one.
    queryKey: ['paymentSummary', 'returned', payment.paymentId],
    queryFn: ({ signal }) => readReturned(payment, { all, signal }),
    enabled: isPayee,
  })
  const { data: refundRequests } = useQuery({
    ...requestsOfPaymentQuery(payment.paymentId),
    enabled: isPayee,
  })
  if (!isPayee) return null
  const { refundedAtomic, pendingAtomic } = payment.refund
  const leftAtomic = refundableOf(payment)
  const money = { decimals: payment.decimals, symbol: payment.symbol }
  return (
    <Card
      title={
        <span className="block scroll-mt-24 outline-none" ref={heading} tabIndex={-1}>
          <Trans>Refund</Trans>
        </span>
      }
    >
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
                  {isUnsigned(row) && <Unsigned refund={row} releases={mayRefund} />}
                </li>
              ))}
            </ul>
          )}
          {mayRefund && asset && leftAtomic > 0n && (
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
