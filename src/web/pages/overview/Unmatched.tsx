import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Fragment, useState } from 'react'
import { explorerLink } from '#contract/network.ts'
import { isPaid } from '#contract/payment.ts'
import type { UnmatchedTransfer } from '#contract/unmatched-endpoints.ts'
import { call } from '../../api/client.ts'
import { unmatchedQuery } from '../../api/inbox.ts'
import { useNetwork } from '../../api/use-config.ts'
import { describeError } from '../../errors/codes.ts'
import { joinMessage } from '../../errors/row.ts'
import { orderTexts } from '../../payment-view/describe-row.ts'
import { refundPath } from '../../payment-view/mispaid.ts'
import { Link } from '../../router/Link.tsx'
import { hrefOf } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { ForRole } from '../../session/ForRole.tsx'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { announce } from '../../ui/announce.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { InboxList } from './InboxList.tsx'
import { AssignDialog, type PendingAssignment, type Candidate } from './AssignDialog.tsx'

/** Money that arrived at the merchant's wallets and that no order has evidence for. Only operators get here. */
export function Unmatched() {
  const query = useInfiniteQuery(unmatchedQuery)
  const [assignment, setAssignment] = useState<PendingAssignment>()
  const refetch = () => void query.refetch()
  return (
    <>
      <InboxList
        itemsOf={({ transfers }) => transfers}
        keyOf={({ transferId }) => transferId}
        query={query}
        subtitle={<Trans>Received without an order.</Trans>}
        title={<Trans>Unmatched payments</Trans>}
      >
        {(transfer) => (
          <TransferItem
            onAssign={(candidate) => setAssignment({ transfer, candidate })}
            onChanged={refetch}
            transfer={transfer}
          />
        )}
      </InboxList>
      {assignment && (
        <AssignDialog
          assignment={assignment}
          onAssigned={refetch}
          onClose={() => setAssignment(undefined)}
        />
      )}
    </>
  )
}

type TransferItemProps = {
  transfer: UnmatchedTransfer
  onAssign: (candidate: Candidate) => void
  onChanged: () => void
}

/** One transfer, the orders that it fits, and what the merchant can do about it. */
export function TransferItem({ transfer, onAssign, onChanged }: TransferItemProps) {
  const { t } = useLingui()
  const network = useNetwork(transfer.network)
  const { assigned, candidates, refundedBy } = transfer
  return (
    <li>
      <Card>
        <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
          <h2>
            <Amount
              atomic={transfer.amountAtomic}
              decimals={transfer.decimals}
              exact
              size="lg"
              symbol={transfer.symbol}
            />
          </h2>
          <Time at={transfer.timestamp} className="text-sm text-muted" />
        </div>
        <Facts className="mt-3">
          <Fact name={t`From`} long>
            <Address
              copy
              full
              href={network && explorerLink(network, 'address', transfer.sender)}
              value={transfer.sender}
            />
          </Fact>
          <Fact name={t`To`} long>
            <Address copy full value={transfer.recipient} />
          </Fact>
          <Fact name={t`Network`}>{network?.name ?? transfer.network}</Fact>
          <Fact name={t`Transaction`} long>
            <Address
              copy
              full
              href={network && explorerLink(network, 'tx', transfer.signature)}
              noun="transaction"
              value={transfer.signature}
            />
          </Fact>
        </Facts>
        {assigned ? (
          <Assigned assigned={assigned} onChanged={onChanged} transferId={transfer.transferId} />
        ) : refundedBy !== null ? (
          <Link
            className={buttonClass({ size: 'sm', variant: 'quiet' }, 'mt-4')}
            to={pathTo('payment', { params: { paymentId: refundedBy.paymentId } })}
          >
            {isPaid(refundedBy.status) ? (
              <>
                <Icon name="check" /> <Trans>Refunded</Trans>
              </>
            ) : (
              <>
                <Icon name="clock" /> <Trans>Refund under way</Trans>
              </>
            )}
          </Link>
        ) : (
          <div className="mt-4 border-t border-line pt-4">
            <p className="text-sm text-muted">
              <Trans>Assign, refund, or send the signing link.</Trans>
            </p>
            <ForRole least="operator">
              <Link
                className={buttonClass({ size: 'sm' }, 'mt-2')}
                to={refundPath(
                  {
                    ...transfer,
                    payer: transfer.sender,
                    cameAtomic: transfer.amountAtomic,
                    transaction: transfer.signature,
                  },
                  transfer,
                )}
              >
                <Trans>Refund</Trans>
              </Link>
            </ForRole>
            <h3 className="mt-4 text-sm font-medium">
              <Trans>Matching orders</Trans>
            </h3>
            {candidates.length === 0 ? (
              <p className="mt-1 text-sm text-muted">
                <Trans>Nothing found</Trans>
              </p>
            ) : (
              <ul className="mt-2 grid gap-3">
                {candidates.map((candidate) => (
                  <CandidateRow
                    candidate={candidate}
                    key={candidate.paymentId}
                    transfer={transfer}
                    onAssign={() => onAssign(candidate)}
                  />
                ))}
              </ul>
            )}
          </div>
        )}
      </Card>
    </li>
  )
}

/** An order of the same payer and the same amount: only its id, its time and its texts tell it apart. */
function CandidateRow({
  candidate,
  transfer: { amountAtomic, decimals, symbol },
  onAssign,
}: {
  candidate: Candidate
  transfer: UnmatchedTransfer
  onAssign: () => void
}) {
  const { t } = useLingui()
  const { paymentId, timestamp, metadata } = candidate
  const path = pathTo('payment', { params: { paymentId } })
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 rounded-lg bg-sunken px-4 py-3 text-sm">
      <div className="min-w-0">
        <Link className="underline decoration-edge underline-offset-4" to={path}>
          <Address full noun="payment id" value={paymentId} />
        </Link>
        <p className="text-muted">
          <Amount atomic={amountAtomic} decimals={decimals} exact symbol={symbol} />
          {' · '}
          <Time at={timestamp} look="seconds" />
          {orderTexts({ metadata }).map((text) => (
            <Fragment key={text}>
              {' · '}
              <UntrustedText text={text} />
            </Fragment>
          ))}
        </p>
      </div>
      <div className="flex flex-wrap gap-2">
        <CopyButton
          label={t`Copy signing link`}
          text
          value={new URL(hrefOf(path), location.href).href}
        />
        <ForRole least="operator">
          <Button onClick={onAssign} size="sm">
            <Trans>Assign</Trans>
          </Button>
        </ForRole>
      </div>
    </li>
  )
}

type AssignedProps = {
  assigned: NonNullable<UnmatchedTransfer['assigned']>
  transferId: string
  onChanged: () => void
}

function Assigned({ assigned, transferId, onChanged }: AssignedProps) {
  const { t } = useLingui()
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const { paymentId, by, at, note } = assigned
  const order = (
    <Link
      className="underline decoration-edge underline-offset-4"
      to={pathTo('payment', { params: { paymentId } })}
    >
      <Address noun="payment id" value={paymentId} />
    </Link>
  )
  const who = by === null ? '–' : <Address value={by} />

  async function undo() {
    setBusy(true)
    setProblem(undefined)
    try {
      await call(
        'unmatchedUnassign',
        { params: { transferId }, body: {} },
        { idempotencyKey: crypto.randomUUID() },
      )
      announce(t`Assignment undone`)
      onChanged()
    } catch (error) {
      setProblem(joinMessage(describeError(error)))
    } finally {
      setBusy(false)
    }
  }

  return (
    <>
      <Banner
        action={
          <ForRole least="operator">
            <Button busy={busy} onClick={() => void undo()} size="sm">
              <Trans>Undo</Trans>
            </Button>
          </ForRole>
        }
        className="mt-4"
        role="note"
        tone="info"
      >
        <Trans>
          Assigned to {order} by {who}, <Time at={at} />. The order stays unpaid.
        </Trans>
        {note !== null && <span className="mt-1 block">{note}</span>}
      </Banner>
      {problem && (
        <Banner className="mt-2" role="alert" tone="bad">
          {problem}
        </Banner>
      )}
    </>
  )
}
