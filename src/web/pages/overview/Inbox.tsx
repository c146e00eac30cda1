import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { findAsset } from '#contract/network.ts'
import { serverNow } from '../../api/clock.ts'
import { undeliveredQuery, unmatchedQuery } from '../../api/inbox.ts'
import { newestQuery, type Viewer } from '../../api/queries.ts'
import { useNetwork } from '../../api/use-config.ts'
import type { JournalEntry } from '../../payment-flow/journal.ts'
import { useUnfinished } from '../../payment-flow/use-unfinished.ts'
import { forgetMispaid, useMispaid, type Mispaid, refundPath } from '../../payment-view/mispaid.ts'
import { Link } from '../../router/Link.tsx'
import { pathTo, type SearchOf } from '../../router/paths.ts'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { toast } from '../../ui/Toast.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { InboxItem } from './InboxItem.tsx'

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
    toast(t`Taken off your list.`, { undo })
  }

  return (
    <InboxItem
      action={
        <>
          <Link
            className={buttonClass({ size: 'sm' })}
            to={refundPath(mispaid, {
              decimals,
              description: t`Sent back: another amount than was asked for`,
            })}
          >
            <Trans>Send back</Trans>
          </Link>
          <Button onClick={putAside} size="sm" variant="quiet">
            <Trans>Dealt with</Trans>
          </Button>
        </>
      }
      icon="warning"
      title={
        BigInt(mispaid.cameAtomic) > BigInt(mispaid.expectedAtomic) ? (
          <Trans>More arrived than was asked for</Trans>
        ) : (
          <Trans>Less arrived than was asked for</Trans>
        )
      }
      tone="warn"
    >
      <Trans>
        {came} from {payer}; {expected} was asked for, so its proof was not accepted.
      </Trans>
    </InboxItem>
  )
}
