import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useEffect, useCallback, useRef, useState } from 'react'
import { useNetwork } from '../../../api/use-config.ts'
import { canRebuild, isPaid, type OutgoingState } from '../../../payment-flow/machine.ts'
import type { PaymentRun } from '../../../payment-flow/run.ts'
import { ProgressCard, type Progress } from '../../../payment-flow/steps/ProgressCard.tsx'
import { RunSteps } from '../../../payment-flow/steps/RunSteps.tsx'
import { StepHeading, useStepFocus } from '../../../payment-flow/steps/Steps.tsx'
import { useRunState } from '../../../payment-flow/steps/use-run.ts'
import { Address } from '../../../ui/Address.tsx'
import { Amount } from '../../../ui/Amount.tsx'
import { Banner } from '../../../ui/Banner.tsx'
import { Button } from '../../../ui/Button.tsx'
import { Card } from '../../../ui/Card.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import type { Purchase } from './purchase.ts'
import { openAllowance } from './runs.ts'

export type AllowanceStepProps = { purchase: Purchase; payment: PaymentRun; onLeave: () => void }

/**
 * Before a permit is signed: whether Permit2 may take the amount, and if not, the one transaction
 * that allows it.
 */
export function AllowanceStep({ purchase, payment, onLeave }: AllowanceStepProps) {
  const { allowance, look, renew, run } = useAllowance(purchase, payment)
  const { asset } = payment.state().order
  const { symbol } = asset
  switch (allowance) {
    case 'enough':
    case 'reading':
      return (
        <Card>
          <div aria-busy="true">
            <StepHeading>
              <Trans>Checking Permit2 for {symbol}</Trans>
            </StepHeading>
            <Skeleton className="mt-5 h-7 w-3/4" />
          </div>
        </Card>
      )
    case 'held':
      return (
        <Banner role="alert" tone="warn">
          <Trans>Open in another tab. Continue there, or close it.</Trans>
        </Banner>
      )
    case 'unread':
      return (
        <Card>
          <StepHeading>
            <Trans>RPC endpoint does not answer</Trans>
          </StepHeading>
          <p className="mt-1 text-sm text-muted">
            <Trans>Nothing was sent.</Trans>
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
        <Trans>First, allow Permit2 to spend up to</Trans>
      </p>
      <Amount
        atomic={order.amountAtomic}
        decimals={order.asset.decimals}
        exact
        size="xl"
        symbol={order.asset.symbol}
      />
      <p className="mt-2 text-sm text-muted">
        <Trans>from your account on {networkName}.</Trans>{' '}
        <Trans>You pay only the network fee now.</Trans>
      </p>
      <p className="mt-2 text-sm text-muted">
        <Trans>
          Permit2 contract: <Address copy full value={order.recipient} />
        </Trans>
      </p>
    </div>
  )
}

/** How the transaction that lets Permit2 take an amount is doing. */
function allowanceProgress(state: OutgoingState): Progress {
  switch (state.step) {
    case 'signed':
    case 'broadcast':
    case 'submitted':
      return {
        title: t`Allowing it`,
        body: t`Approval sent. Next: sign.`,
        tone: 'info',
        icon: 'hourglass',
        working: true,
      }
    case 'confirmed':
    case 'finalized':
      return {
        title: t`Allowed`,
        body: t`Sign the payment.`,
        tone: 'good',
        icon: 'check',
        working: false,
      }
    case 'rolled_back':
      return {
        title: t`Dropped by a reorganization`,
        body: t`It may be included again.`,
        tone: 'bad',
        icon: 'back',
        working: true,
      }
    case 'unknown':
      return {
        title: t`Checking whether it was sent`,
        body: state.reason === 'wallet_lost' ? t`Check your wallet.` : t`Not visible yet.`,
        tone: 'warn',
        icon: 'question',
        working: true,
      }
    case 'failed':
      return state.reason === 'other'
        ? {
            title: t`Wrong allowance`,
            body: t`Nothing was paid. Request the price again.`,
            tone: 'warn',
            icon: 'warning',
            working: false,
          }
        : {
            title: t`Not approved`,
            body: t`Nothing was paid.`,
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
function useAllowance(purchase: Purchase, payment: PaymentRun): AllowanceView {
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
    void checkAllowance()

    async function checkAllowance() {
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
        const opened = await openAllowance(purchase, order)
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
  }, [network, order, payment, turn, purchase, look])

  return { allowance, look, renew, run }
}
