import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { explorerLink } from '#contract/network.ts'
import { useNetwork } from '../../../api/use-config.ts'
import { isPaid, type OutgoingState } from '../../../payment-flow/machine.ts'
import { ReceiptButtons } from '../../../payment-flow/steps/ReceiptButtons.tsx'
import { joinSentences } from '../../../payment-flow/steps/words.ts'
import { ProgressCard, type Progress } from '../../../payment-flow/steps/ProgressCard.tsx'
import { Address } from '../../../ui/Address.tsx'
import { Amount } from '../../../ui/Amount.tsx'
import { Fact, Facts } from '../../../ui/Facts.tsx'
import { Time } from '../../../ui/Time.tsx'
import { UntrustedText } from '../../../ui/UntrustedText.tsx'
import type { Way } from '../request/usable.ts'
import type { Purchase } from './purchase.ts'
import type { PurchaseView } from './use-purchase.ts'

/** Where the money is, told by this browser's own node. */
export function PaidCard({ view }: { view: PurchaseView }) {
  const { state, purchase } = view
  const network = useNetwork(state.order.network)
  if (!('sent' in state)) return null
  const landed = 'landed' in state ? state.landed : null
  const { order } = state
  return (
    <ProgressCard
      aside={
        <Amount
          atomic={order.amountAtomic}
          decimals={order.asset.decimals}
          exact
          size="md"
          symbol={order.asset.symbol}
        />
      }
      progress={progressOf(state, purchase)}
    >
      <Facts className="mt-4 border-t border-line pt-3">
        <Fact name={<Trans>For</Trans>} long>
          <UntrustedText text={purchase.resource.description || purchase.request.url} />
        </Fact>
        {landed && (
          <Fact name={<Trans>Date</Trans>}>
            <Time at={landed.blockTime ?? order.createdAt} look="full" />
          </Fact>
        )}
        <Fact name={<Trans>From</Trans>} long>
          <Address copy full value={order.sender} />
        </Fact>
        <Fact name={<Trans>To</Trans>} long>
          <Address copy full value={order.recipient} />
        </Fact>
        <Fact name={<Trans>Network</Trans>}>{network?.name ?? order.network}</Fact>
        {landed && (
          <Fact name={<Trans>Transaction</Trans>} long>
            <Address
              copy
              full
              href={network && explorerLink(network, 'tx', landed.signature)}
              noun="transaction"
              value={landed.signature}
            />
          </Fact>
        )}
      </Facts>
      {isPaid(state) && (
        <div className="no-print mt-4 flex flex-wrap gap-2">
          <ReceiptButtons paperOnly={BY_SELLER.has(purchase.way)} primary={false} state={state} />
        </div>
      )}
    </ProgressCard>
  )
}

/** The seller sends what the payer signs. */
const BY_SELLER: ReadonlySet<Way> = new Set([
  'signed_transfer',
  'sponsored',
  'authorization',
  'permit',
])

/** How the payment of a purchase is doing, by what this browser's own node shows. */
function progressOf(state: OutgoingState, { way, closedAt }: Purchase): Progress {
  const waiting = { tone: 'info', icon: 'hourglass', working: true } as const
  const bySeller = BY_SELLER.has(way)
  const { walletName } = state.order
  switch (state.step) {
    case 'signed':
    case 'broadcast':
      return bySeller
        ? {
            ...waiting,
            title: t`Signed, held by the merchant`,
            body: closedAt === undefined ? t`Waiting for the merchant.` : '',
            working: closedAt === undefined,
          }
        : {
            ...waiting,
            title: t`Sent`,
            body: t`You can close this page.`,
          }
    case 'submitted':
      return {
        ...waiting,
        title: state.landed ? t`In a block` : t`On its way`,
        body: t`You can close this page.`,
      }
    case 'confirmed':
      return {
        title: t`Paid`,
        body: t`Confirmed.`,
        tone: 'good',
        icon: 'check',
        working: false,
      }
    case 'finalized':
      return {
        title: t`Paid and finalized`,
        body: '',
        tone: 'good',
        icon: 'checkDouble',
        working: false,
      }
    case 'rolled_back':
      return {
        title: t`Dropped by a reorganization`,
        body: joinSentences(t`It may be included again.`, t`Do not pay again.`),
        tone: 'bad',
        icon: 'back',
        working: true,
      }
    case 'unknown':
      return {
        title: t`Payment pending`,
        body: joinSentences(
          state.reason === 'wallet_lost'
            ? t`${walletName} did not answer.`
            : bySeller
              ? t`The merchant may still use your signature.`
              : t`Not visible yet.`,
          t`Do not pay again.`,
        ),
        tone: 'warn',
        icon: 'question',
        working: true,
      }
    case 'failed':
      return failureOf(state, bySeller)
  }
}

function failureOf(state: Extract<OutgoingState, { step: 'failed' }>, bySeller: boolean): Progress {
  const failed = { tone: 'bad', icon: 'cross', working: false } as const
  const unsure =
    !bySeller && state.reason === 'superseded' && !(state.sent.signature && state.detail)
  if (state.reason === 'other' || unsure)
    return {
      ...failed,
      title: t`Another payment was confirmed`,
      body: t`Check your wallet before you pay again.`,
    }
  if (state.reason === 'reverted')
    return {
      ...failed,
      title: t`Rejected by the network`,
      body: t`The recipient got nothing.`,
    }
  return bySeller
    ? {
        ...failed,
        tone: 'neutral',
        title: t`Signature expired unused`,
        body: joinSentences(t`Nothing was paid.`, t`You can pay again safely.`),
      }
    : {
        ...failed,
        title: t`Expired`,
        body: joinSentences(t`Nothing was paid.`, t`You can pay again safely.`),
      }
}
