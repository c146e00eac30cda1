import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useEffect } from 'react'
import { findAsset } from '#contract/network.ts'
import { balanceAlertsQuery } from '../../api/balances.ts'
import { serverNow } from '../../api/clock.ts'
import {
  failedWebhooksQuery,
  fileFailuresQuery,
  refundRequestsQuery,
  surplusQuery,
  undeliveredQuery,
  unmatchedQuery,
} from '../../api/inbox.ts'
import { newestQuery, type Viewer } from '../../api/queries.ts'
import { useConfig, useNetwork } from '../../api/use-config.ts'
import type { JournalEntry } from '../../payment-flow/journal.ts'
import { useUnfinished } from '../../payment-flow/use-unfinished.ts'
import { forgetMispaid, useMispaid, type Mispaid, refundPath } from '../../payment-view/mispaid.ts'
import { Link } from '../../router/Link.tsx'
import { pathToRun } from '../../router/path-to-run.ts'
import { pathTo, type SearchOf } from '../../router/paths.ts'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { toast } from '../../ui/Toast.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { InboxItem } from './InboxItem.tsx'
import { RefundRequestItems } from './RefundRequestItems.tsx'

// Nothing of it is loaded unless an alert is set.
const LowBalanceItem = lazy(() =>
  import('./LowBalanceItem.tsx').then((module) => ({ default: module.LowBalanceItem })),
)

/** A payment that is pending for longer than this needs attention. */
const LATE_AFTER_MS = 10 * 60_000
/** Rounds the time, so that the query stays the same for a while. */
const STEP_MS = 60_000

/**
 * What needs a person's attention: payments dropped by a reorg, payments that stay open too long,
 * failed webhooks and downloads, payments begun in this browser, and money received in another amount
 * than requested. Nothing when all is well.
 */
export function Inbox({ viewer }: { viewer: Viewer }) {
  const unfinished = useUnfinished()
  const mispaid = useOwnMispaid(viewer)
  const lateSince = Math.floor((serverNow() - LATE_AFTER_MS) / STEP_MS) * STEP_MS
  const { data: rolledBack } = useQuery({
    ...newestQuery(viewer, { status: 'rolled_back' }, 1),
    refetchInterval: STEP_MS,
  })
  const { data: late } = useQuery({
    ...newestQuery(viewer, { status: 'pending', until: String(lateSince) }, 1),
    refetchInterval: STEP_MS,
  })
  const { data: unmatched } = useInfiniteQuery({
    ...unmatchedQuery,
    enabled: viewer.wallets === 'all',
  })
  const { data: undelivered } = useInfiniteQuery({
    ...undeliveredQuery,
    enabled: viewer.wallets === 'all',
  })
  const { data: refundRequests } = useInfiniteQuery({
    ...refundRequestsQuery,
    enabled: viewer.wallets === 'all',
  })
  const owed = useOwed(viewer)
  const failed = useFailures(viewer)
  const low = useLowBalances(viewer)
  const newestRequests = refundRequests?.pages[0]
  const requests = newestRequests?.total ?? 0
  const untold = undelivered?.pages[0]?.total ?? 0
  const unassigned = unmatched?.pages[0]?.undecided ?? 0
  const [back, open] = [rolledBack?.total ?? 0, late?.total ?? 0]
  const here = unfinished.length + mispaid.length + low.length
  const sent = failed.deliveries + failed.downloads
  if (back + open + unassigned + untold + owed + requests + sent + here === 0) return null
  return (
    <Card flush title={<Trans>Needs your attention</Trans>}>
      <ul className="divide-y divide-line border-t border-line">
        {back > 0 && (
          <InboxItem
            action={<Open search={{ status: 'rolled_back' }} />}
            icon="back"
            title={
              <Plural
                one="# payment dropped by a reorganization"
                other="# payments dropped by a reorganization"
                value={back}
              />
            }
            tone="bad"
          >
            <Trans>Dropped by a reorganization. It may be included again. Do not deliver.</Trans>
          </InboxItem>
        )}
        {unassigned > 0 && (
          <InboxItem
            action={
              <Link
                className={buttonClass({ size: 'sm' })}
                to={pathTo('overview', { search: { show: 'unmatched' } })}
              >
                <Trans>Show</Trans>
              </Link>
            }
            icon="question"
            title={
              <Plural
                one="# payment received without an order"
                other="# payments received without an order"
                value={unassigned}
              />
            }
            tone="warn"
          />
        )}
        {untold > 0 && (
          <InboxItem
            action={
              <Link
                className={buttonClass({ size: 'sm' })}
                to={pathTo('overview', { search: { show: 'undelivered' } })}
              >
                <Trans>Show</Trans>
              </Link>
            }
            icon="warning"
            title={
              <Plural
                one="# payment with unconfirmed delivery"
                other="# payments with unconfirmed delivery"
                value={untold}
              />
            }
            tone="warn"
          >
            <Trans>Deliver or refund it.</Trans>
          </InboxItem>
        )}
        {owed > 0 && <SurplusItem count={owed} />}
        <FailureItems {...failed} />
        {newestRequests && <RefundRequestItems {...newestRequests} />}
        {open > 0 && (
          <InboxItem
            action={<Open search={{ status: 'pending' }} />}
            icon="hourglass"
            title={
              <Plural
                one="# payment pending for over 10 minutes"
                other="# payments pending for over 10 minutes"
                value={open}
              />
            }
            tone="warn"
          />
        )}
        {low.map((each) => (
          <Suspense fallback={null} key={`${each.network.network} ${each.wallet}`}>
            <LowBalanceItem low={each} />
          </Suspense>
        ))}
        {unfinished.map((entry) =>
          entry.state.order.operation ? (
            <Settlement entry={entry} key={entry.id} />
          ) : (
            <Unsettled entry={entry} key={entry.id} />
          ),
        )}
        {mispaid.map((each) => (
          <MispaidItem key={`${each.network} ${each.transaction}`} mispaid={each} />
        ))}
      </ul>
    </Card>
  )
}

/**
 * Managed wallets below their threshold. Without one set, no endpoint is asked: only the overview reads
 * them, once a minute at most.
 */
function useLowBalances({ wallets }: Viewer) {
  const { networks } = useConfig()
  const { data: alerts = [] } = useQuery({ ...balanceAlertsQuery, enabled: wallets === 'all' })
  const { data: low = [] } = useQuery({
    queryKey: ['lowBalances', alerts],
    queryFn: async () => (await import('./low-balances.ts')).readLow(networks, alerts),
    enabled: alerts.length > 0,
    staleTime: STEP_MS,
    retry: false,
  })
  return low
}

/** How many payments of links and invoices are owed back. */
function useOwed({ wallets }: Viewer): number {
  const { data } = useInfiniteQuery({ ...surplusQuery, enabled: wallets === 'all' })
  return data?.pages[0]?.total ?? 0
}

type Failures = { deliveries: number; downloads: number }

/** What did not reach the merchant's own systems, or the payers of files. */
function useFailures({ wallets }: Viewer): Failures {
  const enabled = wallets === 'all'
  const { data: webhooks = [] } = useQuery({ ...failedWebhooksQuery, enabled })
  const { data: files } = useQuery({ ...fileFailuresQuery, enabled })
  const deliveries = webhooks.reduce((sum, { dead }) => sum + dead, 0)
  return { deliveries, downloads: files?.failed ?? 0 }
}

function FailureItems({ deliveries, downloads }: Failures) {
  return (
    <>
      {deliveries > 0 && (
        <InboxItem
          action={
            <Link
              className={buttonClass({ size: 'sm' })}
              to={pathTo('developers', { search: { deliveries: 'failed' } })}
            >
              <Trans>Show</Trans>
            </Link>
          }
          icon="warning"
          title={
            <Plural
              one="# webhook delivery failed"
              other="# webhook deliveries failed"
              value={deliveries}
            />
          }
          tone="warn"
        />
      )}
      {downloads > 0 && (
        <InboxItem
          action={
            <Link className={buttonClass({ size: 'sm' })} to={pathTo('files', {})}>
              <Trans>Show</Trans>
            </Link>
          }
          icon="download"
          title={
            <Plural
              one="# download of a paid file failed"
              other="# downloads of paid files failed"
              value={downloads}
            />
          }
          tone="warn"
        >
          <Trans>Check the source, or refund.</Trans>
        </InboxItem>
      )}
    </>
  )
}

function SurplusItem({ count }: { count: number }) {
  return (
    <InboxItem
      action={
        <Link className={buttonClass({ size: 'sm' })} to={pathTo('links', {})}>
          <Trans>Show</Trans>
        </Link>
      }
      icon="back"
      title={
        <Plural
          one="# surplus payment needs a refund"
          other="# surplus payments need a refund"
          value={count}
        />
      }
      tone="warn"
    >
      <Trans>The link or invoice is paid or void.</Trans>
    </InboxItem>
  )
}

/** A payment begun in this browser. */
function Unsettled({ entry: { state } }: { entry: JournalEntry }) {
  const { order } = state
  const amount = (
    <Amount
      atomic={order.amountAtomic}
      decimals={order.asset.decimals}
      symbol={order.asset.symbol}
    />
  )
  const recipient = <Address value={order.recipient} />
  return (
    <InboxItem
      action={<GoOn to={pathToRun(state.order)} />}
      icon="question"
      title={
        state.step === 'unknown' ? <Trans>Possibly sent</Trans> : <Trans>Payment not final</Trans>
      }
      tone="warn"
    >
      <Trans>
        {amount} to {recipient}. Do not pay again.
      </Trans>
    </InboxItem>
  )
}

/** A payer's proof that is being settled, or acknowledged, from this browser. */
function Settlement({ entry: { id, state } }: { entry: JournalEntry }) {
  const { order } = state
  const amount = (
    <Amount
      atomic={order.amountAtomic}
      decimals={order.asset.decimals}
      symbol={order.asset.symbol}
    />
  )
  return (
    <InboxItem
      action={<GoOn to={pathTo('verify', { search: { settlement: id } })} />}
      icon="hourglass"
      title={<Trans>Settlement not finished</Trans>}
      tone="warn"
    >
      {order.operation?.kind === 'acknowledge' ? (
        <Trans>On-chain receipt</Trans>
      ) : (
        <>
          <Trans>{amount} signed for you.</Trans>
          {!('sent' in state) && (
            <>
              {' '}
              <Trans>Settle it before it expires.</Trans>
            </>
          )}
        </>
      )}
    </InboxItem>
  )
}

function GoOn({ to }: { to: string }) {
  return (
    <Link className={buttonClass({ size: 'sm' })} to={to}>
      <Trans>Continue</Trans>
    </Link>
  )
}

function Open({ search }: { search: SearchOf<'payments'> }) {
  return (
    <Link className={buttonClass({ size: 'sm' })} to={pathTo('payments', { search })}>
      <Trans>Show</Trans>
    </Link>
  )
}

/** What came to the viewer's wallets in another amount than was asked for, and has not gone back from this browser. */
function useOwnMispaid({ wallets }: Viewer): readonly Mispaid[] {
  const all = useMispaid()
  useEffect(() => {
    if (all.length > 0) void forgetReturned(all).catch(() => undefined)
  }, [all])
  return all.filter(({ wallet }) => wallets === 'all' || wallets.includes(wallet))
}

/** A payment of this browser that names the transaction and arrived has dealt with it. */
async function forgetReturned(all: readonly Mispaid[]): Promise<void> {
  const [{ openJournal }, { isPaid }] = await Promise.all([
    import('../../payment-flow/journal.ts'),
    import('../../payment-flow/machine.ts'),
  ])
  const paid = (await openJournal().list()).filter(({ state }) => isPaid(state))
  for (const mispaid of all) {
    const back = paid.some(
      ({ state: { order } }) =>
        order.reference === mispaid.transaction &&
        order.network === mispaid.network &&
        order.recipient === mispaid.payer,
    )
    if (back) forgetMispaid(mispaid)
  }
}

/**
 * Money received in another amount than requested. Nothing on a network that is no longer
 * configured.
 */
function MispaidItem({ mispaid }: { mispaid: Mispaid }) {
  const { t } = useLingui()
  const network = useNetwork(mispaid.network)
  const asset = network && findAsset(network, mispaid.asset)
  if (!asset) return null
  const { decimals, symbol } = asset
  const came = <Amount atomic={mispaid.cameAtomic} decimals={decimals} symbol={symbol} />
  const expected = <Amount atomic={mispaid.expectedAtomic} decimals={decimals} symbol={symbol} />
  const payer = <Address value={mispaid.payer} />

  function putAside() {
    const undo = forgetMispaid(mispaid)
    toast(t`Dealt with`, { undo })
  }

  return (
    <InboxItem
      action={
        <>
          <Link
            className={buttonClass({ size: 'sm' })}
            to={refundPath(mispaid, {
              decimals,
              description: t`Refunded: wrong amount`,
            })}
          >
            <Trans>Refund</Trans>
          </Link>
          <Button onClick={putAside} size="sm" variant="quiet">
            <Trans>Dealt with</Trans>
          </Button>
        </>
      }
      icon="warning"
      title={
        BigInt(mispaid.cameAtomic) > BigInt(mispaid.expectedAtomic) ? (
          <Trans>Overpaid</Trans>
        ) : (
          <Trans>Underpaid</Trans>
        )
      }
      tone="warn"
    >
      <Trans>
        Received {came} from {payer}; expected {expected}.
      </Trans>
    </InboxItem>
  )
}
