import { useQuery } from '@tanstack/react-query'
import { Plural, Trans } from '@lingui/react/macro'
import { newestQuery, type Viewer } from '../../api/queries.ts'
import { undeliveredQuery, unmatchedQuery } from '../../api/inbox.ts'
import { serverNow } from '../../api/clock.ts'
import { pathTo, type SearchOf } from '../../router/paths.ts'
import { Link } from '../../router/Link.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Address } from '../../ui/Address.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Card } from '../../ui/Card.tsx'
import type { JournalEntry } from '../../payment-flow/journal.ts'
import { InboxItem } from './InboxItem.tsx'
import { MispaidItem } from './MispaidItem.tsx'
import { useOwnMispaid } from './use-own-mispaid.ts'
import { useUnfinished } from '../../payment-flow/use-unfinished.ts'

/** A payment that is pending for longer than this needs attention. */
const LATE_AFTER_MS = 10 * 60_000
/** Rounds the time, so that the query stays the same for a while. */
const STEP_MS = 60_000

/**
 * What needs a person's attention: payments dropped by a reorg, payments that stay open too long,
 * those begun in this browser, and money received in another amount than requested. Nothing when
 * all is well.
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
  const { data: unmatched } = useQuery({ ...unmatchedQuery, enabled: viewer.wallets === 'all' })
  const { data: undelivered } = useQuery({ ...undeliveredQuery, enabled: viewer.wallets === 'all' })
  const untold = undelivered?.total ?? 0
  const unassigned = unmatched?.transfers.filter(({ assigned }) => assigned === null).length ?? 0
  const [back, open] = [rolledBack?.total ?? 0, late?.total ?? 0]
  if (back + open + unassigned + untold + unfinished.length + mispaid.length === 0) return null
  return (
    <Card flush title={<Trans>Needs your attention</Trans>}>
      <ul className="divide-y divide-line border-t border-line">
        {back > 0 && (
          <InboxItem
            action={<Open search={{ status: 'rolled_back' }} />}
            icon="back"
            title={
              <Plural
                one="# payment was dropped by a reorganization"
                other="# payments were dropped by a reorganization"
                value={back}
              />
            }
            tone="bad"
          >
            <Trans>
              It counted as paid and no longer does. Do not deliver on it; it may still arrive
              again.
            </Trans>
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
                one="# payment arrived, and nothing shows whose it is"
                other="# payments arrived, and nothing shows whose they are"
                value={unassigned}
              />
            }
            tone="warn"
          >
            <Trans>
              The money is in your wallet. Ask the payer to sign, or assign it yourself.
            </Trans>
          </InboxItem>
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
                one="# payment was collected and may not be delivered"
                other="# payments were collected and may not be delivered"
                value={untold}
              />
            }
            tone="warn"
          >
            <Trans>
              The connection to your server closed before it was told. Deliver it, or refund the
              customer.
            </Trans>
          </InboxItem>
        )}
        {open > 0 && (
          <InboxItem
            action={<Open search={{ status: 'pending' }} />}
            icon="hourglass"
            title={
              <Plural
                one="# payment is open for more than 10 minutes"
                other="# payments are open for more than 10 minutes"
                value={open}
              />
            }
            tone="warn"
          >
            <Trans>
              Nothing is lost, and nothing is decided: it was sent, and the network has not
              confirmed it.
            </Trans>
          </InboxItem>
        )}
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

/** A payment begun in this browser. */
function Unsettled({ entry: { id, state } }: { entry: JournalEntry }) {
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
      action={<GoOn to={pathTo('checkout', { search: { payment: id } })} />}
      icon="question"
      title={
        state.step === 'unknown' ? (
          <Trans>A payment from this browser may have been sent</Trans>
        ) : (
          <Trans>A payment from this browser is not settled</Trans>
        )
      }
      tone="warn"
    >
      <Trans>
        {amount} to {recipient}. Do not pay it a second time before this one is known.
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
      title={<Trans>A settlement from this browser is not finished</Trans>}
      tone="warn"
    >
      {order.operation?.kind === 'acknowledge' ? (
        <Trans>A receipt on the chain, for a payment you have.</Trans>
      ) : !('sent' in state) ? (
        <Trans>
          {amount} that a payer signed for you. Nothing is collected yet, and what they signed is
          good for a limited time.
        </Trans>
      ) : (
        <Trans>
          {amount} that a payer signed for you. Resume the settlement here; a second one would cost
          a second fee.
        </Trans>
      )}
    </InboxItem>
  )
}

function GoOn({ to }: { to: string }) {
  return (
    <Link className={buttonClass({ size: 'sm' })} to={to}>
      <Trans>Go on</Trans>
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
