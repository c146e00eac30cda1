import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useEffect, useCallback, useRef, useState } from 'react'
import { useNetwork } from '../../../api/use-config.ts'
import { canRebuild, isPaid, type OutgoingState } from '../../../payment-flow/machine.ts'
import type { PaymentRun } from '../../../payment-flow/run.ts'
import { ProgressCard, type Progress } from '../../../payment-flow/steps/ProgressCard.tsx'
import { RunSteps } from '../../../payment-flow/steps/RunSteps.tsx'
import { StepHeading } from '../../../payment-flow/steps/StepHeading.tsx'
import { useRunState } from '../../../payment-flow/steps/use-run.ts'
import { useStepFocus } from '../../../payment-flow/steps/use-step-focus.ts'
import { Address } from '../../../ui/Address.tsx'
import { Amount } from '../../../ui/Amount.tsx'
import { Banner } from '../../../ui/Banner.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Card } from '../../../ui/Card.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import type { Purchase } from './purchase.ts'
import { openAllowance } from './runs.ts'

export type AllowanceStepProps = { visit: Purchase; payment: PaymentRun; onLeave: () => void }

/**
 * Before a permit is signed: whether Permit2 may take the amount, and if not, the one transaction
 * that allows it.
 */
export function AllowanceStep({ visit, payment, onLeave }: AllowanceStepProps) {
  const { allowance, look, renew, run } = useAllowance(visit, payment)
  const { asset } = payment.state().order
  const { symbol } = asset
  switch (allowance) {
    case 'enough':
    case 'reading':
      return (
        <Card>
          <div aria-busy="true">
            <StepHeading>
              <Trans>Looking whether Permit2 may take {symbol} from you</Trans>
            </StepHeading>
            <Skeleton className="mt-5 h-7 w-3/4" />
          </div>
        </Card>
      )
    case 'held':
      return (
        <Banner role="alert" tone="warn">
          <Trans>
            This request is open in another tab. Go on there, or close that tab to go on here.
          </Trans>
        </Banner>
      )
    case 'unread':
      return (
        <Card>
          <StepHeading>
            <Trans>Your connection to the network does not answer</Trans>
          </StepHeading>
          <p className="mt-1 text-sm text-muted">
            <Trans>Nothing was sent. What Permit2 may take is read first.</Trans>
          </p>
          <div className="mt-5 flex flex-wrap gap-2">
            <Button icon={<Icon name="refresh" />} onClick={look} variant="primary">
              <Trans>Try again</Trans>
            </Button>
            <Button onClick={onLeave}>
              <Trans>Change the payment</Trans>
            </Button>
          </div>
        </Card>
      )
    case 'missing':
      return (
        run && (
          <Allowing
            key={run.state().order.id}
            look={look}
            onLeave={onLeave}
            renew={renew}
            run={run}
          />
        )
      )
  }
}

type AllowingProps = { run: PaymentRun; look: () => void; renew: () => void; onLeave: () => void }

/** The transaction that allows it, in the usual payment steps. */
function Allowing({ run, look, renew, onLeave }: AllowingProps) {
  const state = useRunState(run)
  const paid = isPaid(state)
  const over = state.step === 'failed'
  useEffect(() => {
    // No matter what the wallet sent, the current allowance decides.
    if (paid || over) look()
  }, [paid, over, look])
  const container = useStepFocus('sent' in state ? 'chain' : state.step)
  return (
    <div ref={container}>
      <RunSteps
        onLeave={onLeave}
        onOther={onLeave}
        run={run}
        state={state}
        summary={<Summary run={run} />}
      >
        {'sent' in state && (
          <ProgressCard progress={allowanceProgress(state)}>
            {over && (
              <Button
                className="mt-4"
                icon={<Icon name="refresh" />}
                onClick={canRebuild(state) ? () => void run.rebuild() : renew}
                variant="primary"
              >
                <Trans>Prepare it again</Trans>
              </Button>
            )}
          </ProgressCard>
        )}
      </RunSteps>
    </div>
  )
}

function Summary({ run }: { run: PaymentRun }) {
  const { order } = run.state()
  const networkName = useNetwork(order.network)?.name ?? order.network
  return (
    <div className="mt-4 rounded-lg bg-sunken px-4 py-4">
      <p className="text-sm text-muted">
        <Trans>First you let Permit2 take at most</Trans>
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
          from your account on {networkName}, and only where you sign for it. This moves nothing but
          the network fee; the payment itself comes after it.
        </Trans>
      </p>
      <p className="mt-2 text-sm text-muted">
        <Trans>
          Permit2 is the contract <Address copy full value={order.recipient} />
        </Trans>
      </p>
    </div>
  )
}

/** How the transaction that lets Permit2 take an amount is doing. */
function allowanceProgress(state: OutgoingState): Progress {
  const { walletName } = state.order
  switch (state.step) {
    case 'signed':
    case 'broadcast':
    case 'submitted':
      return {
        title: t`Allowing it`,
        body: t`The network has your leave and confirms it. Then you sign the payment.`,
        tone: 'info',
        icon: 'hourglass',
        working: true,
      }
    case 'confirmed':
    case 'finalized':
      return {
        title: t`Allowed`,
        body: t`Permit2 may take this amount where you sign for it.`,
        tone: 'good',
        icon: 'check',
        working: false,
      }
    case 'rolled_back':
      return {
        title: t`Dropped by a reorganization`,
        body: t`The block with your approval is no longer part of the chain. The approval may be included again.`,
        tone: 'bad',
        icon: 'back',
        working: true,
      }
    case 'unknown':
      return {
        title: t`Checking whether it was sent`,
        body:
          state.reason === 'wallet_lost'
            ? t`${walletName}’s answer got lost. If its window is still open, answer it there. This page looks on the chain for it.`
            : t`It was sent, and the network does not show it yet.`,
        tone: 'warn',
        icon: 'question',
        working: true,
      }
    case 'failed':
      return state.reason === 'other'
        ? {
            title: t`Another amount was allowed`,
            body: t`${walletName} let you change the amount, and what you allowed is less than this payment needs. Nothing was paid. Ask for the terms again.`,
            tone: 'warn',
            icon: 'warning',
            working: false,
          }
        : {
            title: t`It was not allowed`,
            body: t`The transaction did not go through. Nothing was paid.`,
            tone: 'bad',
            icon: 'cross',
            working: false,
          }
  }
}

const LOOK_AGAIN_MS = 2_000
const LATE_LOOKS = 10

type Allowance = 'reading' | 'unread' | 'missing' | 'enough' | 'held'

type AllowanceView = {
  allowance: Allowance
  /** Reads the current allowance again. */
  look: () => void
  /** Starts a new allowance after the previous one ended. */
  renew: () => void
  run: PaymentRun | undefined
}

/**
 * Reads what Permit2 may take of the payer's token, prepares the allowance, and builds the payment
 * once it exists.
 */
function useAllowance(visit: Purchase, payment: PaymentRun): AllowanceView {
  const { order } = payment.state()
  const network = useNetwork(order.network)
  const [allowance, setAllowance] = useState<Allowance>('reading')
  const [run, setRun] = useState<PaymentRun>()
  const [turn, setTurn] = useState(0)
  const begun = useRef<PaymentRun>(undefined)
  const late = useRef(0)
  const look = useCallback(() => setTurn((count) => count + 1), [])
  const renew = useCallback(() => {
    begun.current = undefined
    look()
  }, [look])

  useEffect(() => {
    if (!network) return
    let current = true
    void judge()

    async function judge() {
      try {
        const { readAllowance } = await import('../../../payment-flow/messages.ts')
        if (!network) return
        const allowed = await readAllowance(network, order.asset.address, order.sender)
        if (!current) return
        if (allowed >= order.amountAtomic) {
          setAllowance('enough')
          return void payment.build()
        }
        // A fresh allowance is not requested again because a node lags; a failed one, only if the
        // reader asks for it.
        const before = begun.current?.state()
        if (before && isPaid(before) && late.current++ < LATE_LOOKS)
          return void setTimeout(() => current && look(), LOOK_AGAIN_MS)
        if (before?.step === 'failed') return
        const opened = await openAllowance(visit, order)
        if (!current) return
        setAllowance(opened === 'held' ? 'held' : 'missing')
        // Until that tab is closed, or its allowance exists.
        if (opened === 'held') return void setTimeout(() => current && look(), LOOK_AGAIN_MS)
        begun.current = opened
        setRun(opened)
        if (opened.state().step === 'draft') void opened.build()
      } catch {
        if (current) setAllowance('unread')
      }
    }
    return () => {
      current = false
    }
  }, [network, order, payment, turn, visit, look])

  return { allowance, look, renew, run }
}
