import { Trans } from '@lingui/react/macro'
import { useEffect, useRef } from 'react'
import { explorerLink } from '#contract/network.ts'
import { canRebuild, isPaid, type OutgoingState } from '../../../payment-flow/machine.ts'
import type { WalletPaymentIntent } from '../../../payment-intent/intent.ts'
import type { PaymentRun } from '../../../payment-flow/run.ts'
import { useNetwork } from '../../../api/use-config.ts'
import { Address } from '../../../ui/Address.tsx'
import { Amount } from '../../../ui/Amount.tsx'
import { Button } from '../../../ui/Button.tsx'
import { ProgressCard } from '../../../payment-flow/steps/ProgressCard.tsx'
import { RunSteps } from '../../../payment-flow/steps/RunSteps.tsx'
import { useRunState } from '../../../payment-flow/steps/use-run.ts'
import { useStepFocus } from '../../../payment-flow/steps/Steps.tsx'
import { settleProgress } from './words.ts'

export type SettleFlowProps = { run: PaymentRun; onLeave: () => void; onDone: () => void }

/** Collecting a payment, or acknowledging one, in the steps of every payment. */
export function SettleFlow({ run, onLeave, onDone }: SettleFlowProps) {
  const state = useRunState(run)
  const paid = isPaid(state)
  const done = useRef(onDone)
  useEffect(() => {
    done.current = onDone
  }, [onDone])
  useEffect(() => {
    // Once is enough: the reader sees the new verdict above.
    if (paid) done.current()
  }, [paid])
  const container = useStepFocus('sent' in state ? 'chain' : state.step)
  return (
    <div ref={container}>
      <RunSteps
        onLeave={onLeave}
        onOther={onLeave}
        run={run}
        state={state}
        summary={<Summary order={state.order} />}
      >
        {'sent' in state && <Settled onLeave={onLeave} state={state} />}
      </RunSteps>
    </div>
  )
}

function Settled({ state, onLeave }: { state: OutgoingState; onLeave: () => void }) {
  const network = useNetwork(state.order.network)
  const { landed } = 'landed' in state ? state : { landed: null }
  return (
    <ProgressCard
      note={
        landed && (
          <p className="mt-2 text-sm text-muted">
            <Trans>Transaction</Trans>{' '}
            <Address
              copy
              full
              href={network && explorerLink(network, 'tx', landed.signature)}
              noun="transaction"
              value={landed.signature}
            />
          </p>
        )
      }
      progress={settleProgress(state)}
    >
      {canRebuild(state) && (
        <Button className="mt-4" onClick={onLeave}>
          <Trans>Back to the proof</Trans>
        </Button>
      )}
    </ProgressCard>
  )
}

/** What the payee is about to do, in one sentence. */
function Summary({ order }: { order: WalletPaymentIntent }) {
  const network = useNetwork(order.network)
  const networkName = network?.name ?? order.network
  const { operation } = order
  if (operation?.kind === 'acknowledge') {
    return (
      <div className="mt-4 rounded-lg bg-sunken px-4 py-4">
        <p className="text-lg font-semibold">
          <Trans>Receipt on {networkName}</Trans>
        </p>
        <p className="mt-2 text-sm text-muted">
          <Trans>The receipt is public and moves no money.</Trans>{' '}
          <Trans>You pay the network fee.</Trans>
        </p>
      </div>
    )
  }
  const recipient = <Address copy full value={order.recipient} />
  return (
    <div className="mt-4 rounded-lg bg-sunken px-4 py-4">
      <p className="text-sm text-muted">
        <Trans>You collect</Trans>
      </p>
      <Amount
        atomic={order.amountAtomic}
        decimals={order.asset.decimals}
        exact
        size="xl"
        symbol={order.asset.symbol}
      />
      <p className="mt-2 text-sm text-muted">
        <Trans>
          into {recipient} on {networkName}.
        </Trans>{' '}
        {operation?.kind === 'settle' && operation.way === 'broadcast' ? (
          <Trans>The payer pays the network fee.</Trans>
        ) : (
          <Trans>You pay the network fee.</Trans>
        )}
      </p>
    </div>
  )
}
