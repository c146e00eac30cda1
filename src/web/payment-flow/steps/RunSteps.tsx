import { Trans } from '@lingui/react/macro'
import { type ReactNode, useEffect, useState } from 'react'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Spinner } from '../../ui/Spinner.tsx'
import { canCancel, canReportCancelled, type PaymentState } from '../machine.ts'
import type { PaymentRun } from '../run.ts'
import { BuildStep } from './BuildStep.tsx'
import { ReviewStep } from './ReviewStep.tsx'
import { StepHeading } from './Steps.tsx'

export type RunStepsProps = {
  run: PaymentRun
  state: PaymentState
  /** Away from this run, which is given up. */
  onLeave: () => void
  /** The same order from another account; this run is given up. */
  onOther: (order: WalletPaymentIntent) => void
  /** To the form while a wallet may still send this payment, which stays open. */
  onBack?: () => void
  /** The sentence on top of the review, where it is not a payment to somebody. */
  summary?: ReactNode
  /** How it is doing, once something was signed. */
  children: ReactNode
}

/** Prepare, review, wallet, chain: the same steps wherever this browser has somebody sign. */
export function RunSteps({
  run,
  state,
  onLeave,
  onOther,
  onBack,
  summary,
  children,
}: RunStepsProps) {
  // A signature that arrived meanwhile is not cancelled: its payment stays in view. What the journal cannot keep is left all the same, unless a wallet was asked.
  const cancelled = (then: () => void) => () =>
    void run
      .cancel()
      .catch(() => undefined)
      .then(() => canLeave(run.state()) && then())
  const leave = cancelled(onLeave)
  const wallet = state.order.walletName
  switch (state.step) {
    case 'draft':
    case 'building':
    case 'expired_unsigned':
    case 'cancelled':
      return (
        <BuildStep
          onChange={leave}
          onStart={(order) => cancelled(() => onOther(order))()}
          run={run}
          state={state}
        />
      )
    case 'review':
    case 'rejected':
      return (
        <ReviewStep
          key={state.attempt}
          onChange={leave}
          run={run}
          state={state}
          summary={summary}
        />
      )
    case 'awaiting_wallet':
      return <WalletStep onBack={onBack} onChange={leave} state={state} />
    default:
      return (
        <>
          {children}
          {canReportCancelled(state) && (
            <Button className="no-print mt-4" onClick={() => void run.reportCancelled()}>
              <Trans>Cancelled in {wallet}</Trans>
            </Button>
          )}
          {state.step === 'unknown' && state.reason === 'wallet_lost' && onBack && (
            <BackToForm onBack={onBack} walletName={wallet} />
          )}
        </>
      )
  }
}

/** Whether nothing can come of a payment that is left in this state. */
function canLeave(state: PaymentState): boolean {
  return state.step === 'cancelled' || (canCancel(state) && state.step !== 'awaiting_wallet')
}

const HELP_AFTER_MS = 8_000

type WalletStepProps = {
  state: Extract<PaymentState, { step: 'awaiting_wallet' }>
  onChange: () => void
  onBack: (() => void) | undefined
}

/** Step 3: the wallet has the word. */
function WalletStep({ state, onChange, onBack }: WalletStepProps) {
  const { order } = state
  const { walletName } = order
  const units = order.amountAtomic.toString()
  const [slow, setSlow] = useState(false)
  const [inPage, setInPage] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => {
      setInPage(asksInPage(document))
      setSlow(true)
    }, HELP_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])

  return (
    <Card>
      <div className="py-6 text-center">
        <span className="inline-flex text-accent">
          <Spinner />
        </span>
        <StepHeading large>
          <Trans>Approve in {walletName}</Trans>
        </StepHeading>
        <p className="mx-auto mt-1 max-w-108 text-sm text-muted">
          <Trans>Check amount and address, then approve.</Trans>
        </p>
        <div className="mx-auto mt-5 max-w-120 rounded-lg bg-sunken px-4 py-4">
          <Amount
            atomic={order.amountAtomic}
            decimals={order.asset.decimals}
            exact
            size="lg"
            symbol={order.asset.symbol}
          />
          {!order.asset.native && (
            <p className="figures text-sm text-muted">
              <Trans>Some wallets show {units} base units.</Trans>
            </p>
          )}
          <p className="mt-1">
            <Address full value={order.recipient} />
          </p>
        </div>
        {slow && !inPage && <WalletHelp walletName={walletName} />}
        {canCancel(state) ? (
          <Button className="mt-5" onClick={onChange} variant="quiet">
            <Trans>Cancel</Trans>
          </Button>
        ) : (
          slow && onBack && <BackToForm onBack={onBack} walletName={walletName} />
        )}
      </div>
    </Card>
  )
}

/** A wallet that asks in the page takes the focus there, outside of the app: it is in no toolbar, and not locked. */
export function asksInPage({
  activeElement,
  body,
}: Pick<Document, 'activeElement' | 'body'>): boolean {
  return activeElement !== null && activeElement !== body && !activeElement.closest('#root')
}

/** What may keep a wallet from answering. */
function WalletHelp({ walletName }: { walletName: string }) {
  return (
    <div className="mx-auto mt-5 max-w-108 text-start text-sm text-muted" role="status">
      <p className="font-medium text-ink">
        <Trans>Nothing happening?</Trans>
      </p>
      <ul className="mt-1 list-disc space-y-1 ps-5">
        <li className="pointer-coarse:hidden">
          <Trans>Open extensions in the toolbar.</Trans>
        </li>
        <li>
          <Trans>Unlock {walletName}. Answer older requests first.</Trans>
        </li>
        <li>
          <Trans>Wallets may warn about test networks.</Trans>
        </li>
      </ul>
    </div>
  )
}

/** A request that is still open in the wallet could be approved later, beside another payment. The form and its review warn of this one. */
function BackToForm({ walletName, onBack }: { walletName: string; onBack: () => void }) {
  return (
    <div className="no-print mt-5 text-center">
      <p className="text-sm text-muted">
        <Trans>To restart, reject it in {walletName} first.</Trans>
      </p>
      <Button className="mt-1" onClick={onBack} variant="quiet">
        <Trans>Back to the form</Trans>
      </Button>
    </div>
  )
}

/** The wallet's answer was lost, and the wallet keeps the nonce: asking once more cannot pay twice. */
export function RepeatRequest({ run, walletName }: { run: PaymentRun; walletName: string }) {
  const [asking, setAsking] = useState<'open' | 'refused'>()
  async function repeatRequest() {
    setAsking('open')
    setAsking((await run.repeatRequest()) ? undefined : 'refused')
  }
  return (
    <div className="no-print mt-4">
      <Button
        busy={asking === 'open'}
        icon={<Icon name="refresh" />}
        onClick={() => void repeatRequest()}
        variant="primary"
      >
        <Trans>Ask {walletName} again</Trans>
      </Button>
      <p className="mt-2 text-sm text-muted" role="status">
        {asking === 'open' ? (
          <Trans>Approve in {walletName}</Trans>
        ) : asking === 'refused' ? (
          <Trans>{walletName} did not send it again.</Trans>
        ) : (
          <Trans>Asking again cannot pay twice.</Trans>
        )}
      </p>
    </div>
  )
}
