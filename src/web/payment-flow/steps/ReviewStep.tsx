import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type ReactNode, useEffect } from 'react'
import { familyOf } from '#contract/network.ts'
import { actionFor } from '../../errors/error-messages.ts'
import { needsWallet, type Finding, type Simulation } from '../../payment-intent/intent.ts'
import { useNetwork } from '../../api/use-config.ts'
import { formatNumber } from '../../locales/formats.ts'
import { rpcUrlsOf } from '../../rpc/call.ts'
import { toneClass } from '../../ui/Badge.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { BottomBar } from '../../ui/BottomBar.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Time } from '../../ui/Time.tsx'
import { announce } from '../../ui/announce.tsx'
import { cx } from '../../ui/button-class.ts'
import { openConnectDialog, useAccounts } from '../../wallet/state/accounts.ts'
import type { PaymentState } from '../machine.ts'
import { type PaymentRun, SIGN_MARGIN_MS } from '../run.ts'
import { Instructions } from './Instructions.tsx'
import { MatchTable } from './MatchTable.tsx'
import { ReviewSummary } from './ReviewSummary.tsx'
import { SimulationResult } from './SimulationResult.tsx'
import { StepHeading } from './Steps.tsx'
import { useSecondsLeft } from './use-run.ts'
import { buttonAmountOf, describeEndpoint, describeSimulator } from './words.ts'
import { Disclosure } from '../../ui/Disclosure.tsx'

export type ReviewStepProps = {
  run: PaymentRun
  state: Extract<PaymentState, { step: 'review' | 'rejected' }>
  onChange: () => void
  /** The sentence on top, where it is not a payment to somebody. */
  summary?: ReactNode
}

/** Step 2, before any wallet opens: what was asked for beside what would be signed, read from its bytes in this browser. */
export function ReviewStep({ run, state, onChange, summary }: ReviewStepProps) {
  const { t } = useLingui()
  const { order, built, review } = state
  const { walletName } = order
  const [ticked, setTicked] = useState<readonly string[]>([])
  const seconds = useSecondsLeft(run)
  const closing = seconds * 1000 < SIGN_MARGIN_MS
  useDeadlineAnnouncements(seconds)

  const blocked = review.verdict === 'blocked'
  const running = review.simulation.state === 'running'
  const family = familyOf(order.network)
  const account = useAccounts().find((each) => each.family === family)
  const otherAccount =
    needsWallet(order) && account !== undefined && account.address !== order.sender
  const fee = review.match.rows.find(({ field }) => field === 'fee')?.got
  const caution = blocked || review.simulation.state === 'unavailable'

  return (
    <Card>
      <StepHeading>
        {summary ? (
          <Trans>Check and sign</Trans>
        ) : order.refundOf === undefined ? (
          <Trans>Review and pay</Trans>
        ) : (
          <Trans>Review refund</Trans>
        )}
      </StepHeading>

      {summary ?? (
        <ReviewSummary
          blocked={blocked}
          checksAddress={review.findings.some(({ code }) => code === 'FIRST_TIME')}
          order={order}
          rows={review.match.rows}
        />
      )}

      {state.step === 'rejected' && (
        <Banner
          action={
            actionFor(state.userError.code) === 'connect' &&
            account && (
              <Button onClick={() => openConnectDialog(family)} size="sm">
                <Trans>Connect {walletName}</Trans>
              </Button>
            )
          }
          className="mt-4"
          role="alert"
          title={state.userError.title}
          tone={state.userError.code === 'REJECTED' ? 'info' : 'warn'}
        >
          {state.userError.body}
        </Banner>
      )}
      {otherAccount && (
        <Banner
          className="mt-4"
          role="alert"
          title={t`${walletName} is on another account`}
          tone="warn"
        >
          <Trans>
            Prepared for <span className="font-mono text-[13px]">{order.sender}</span>. Switch back.
          </Trans>
        </Banner>
      )}
      <Findings blocked={blocked} findings={review.findings} onTick={setTicked} ticked={ticked} />
      {!blocked && <Verified closing={closing} seconds={seconds} simulation={review.simulation} />}
      <Disclosure
        aria-label={t`Details`}
        className="mt-3"
        open={caution || undefined}
        label={<Trans>Details</Trans>}
      >
        <CallerDuties built={built} order={order} review={review} />
        <MatchTable match={review.match} />
        <SimulationResult order={order} simulation={review.simulation} />
        <Instructions bytes={built.bytes} fee={fee} steps={review.steps} />
      </Disclosure>

      <SignBar
        account={account}
        blocked={blocked}
        closing={closing}
        onChange={onChange}
        run={run}
        running={running}
        state={state}
        summary={summary}
        ticked={ticked}
      />
    </Card>
  )
}

type SignBarProps = ReviewStepProps & {
  account: ReturnType<typeof useAccounts>[number] | undefined
  blocked: boolean
  closing: boolean
  running: boolean
  ticked: readonly string[]
}

/** The one way on, or why there is none. */
function SignBar({
  run,
  state,
  onChange,
  summary,
  account,
  blocked,
  closing,
  running,
  ticked,
}: SignBarProps) {
  const { t } = useLingui()
  const [busy, setBusy] = useState(false)
  const { walletName, network } = state.order
  const amount = buttonAmountOf(state.order)
  const signs = needsWallet(state.order)
  const unticked = state.review.findings.some(
    ({ code, severity }) => severity === 'warn' && !ticked.includes(code),
  )

  async function sign() {
    setBusy(true)
    await run.sign(ticked).finally(() => setBusy(false))
    const after = run.state()
    // Since the review was built the same was paid in another tab.
    if (after.step === 'review' && after.review !== state.review && after.review.verdict === 'warn')
      announce(t`Tick each warning.`)
  }

  return (
    <BottomBar className="-mx-5 mt-6 -mb-5 rounded-b-xl px-5 py-4">
      {closing && !blocked && (
        <p className="mb-3 text-sm text-warn-ink">
          <Trans>Too little time left to approve.</Trans>
        </p>
      )}
      <div className="flex gap-2">
        {blocked ? (
          <Button icon={<Icon name="refresh" />} onClick={() => void run.rebuild()} size="lg">
            <Trans>Prepare it again</Trans>
          </Button>
        ) : closing ? (
          <Button
            className="min-w-0 flex-1 max-sm:px-3"
            icon={<Icon name="refresh" />}
            onClick={() => void run.rebuild()}
            size="lg"
            variant="primary"
          >
            <Trans>Prepare it again</Trans>
          </Button>
        ) : !account && signs ? (
          <Button
            className="flex-1"
            icon={<Icon name="wallet" />}
            onClick={() => openConnectDialog(familyOf(network))}
            size="lg"
            variant="primary"
          >
            <Trans>Connect {walletName}</Trans>
          </Button>
        ) : (
          <Button
            busy={busy || running}
            className="min-w-0 flex-1 max-sm:px-3"
            disabled={unticked}
            icon={<Icon className="max-sm:hidden" name={signs ? 'wallet' : 'arrowOut'} />}
            onClick={() => void sign()}
            size="lg"
            variant="primary"
          >
            {running
              ? t`Simulating`
              : !signs
                ? t`Broadcast transaction`
                : summary
                  ? t`Sign with ${walletName}`
                  : state.order.refundOf === undefined
                    ? t`Pay ${amount}`
                    : t`Refund ${amount}`}
          </Button>
        )}
        <Button className="max-sm:px-4" onClick={onChange} size="lg">
          <Trans>Change</Trans>
        </Button>
      </div>
      {!summary && signs && account && !closing && !blocked && !unticked && (
        <p className="mt-2 text-center text-sm text-muted">
          <Trans>You approve in {walletName} next.</Trans>
        </p>
      )}
      {unticked && !closing && !blocked && (
        <p className="mt-2 text-sm text-muted">
          <Trans>Tick each warning.</Trans>
        </p>
      )}
    </BottomBar>
  )
}

type VerifiedProps = { simulation: Simulation; seconds: number; closing: boolean }

/**
 * What was checked, where, and until when it can be signed, in one line; the details tell the rest. The countdown is announced
 * elsewhere, at 30 and 10 seconds. Once it is too short for a wallet (`closing`), the buttons say so
 * and this line is gone.
 */
function Verified({ simulation, seconds, closing }: VerifiedProps) {
  const { t } = useLingui()
  const left = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  const passed = simulation.state === 'passed'
  const near = seconds <= 25
  if (closing) return null
  return (
    <div
      className={cx(
        'mt-4 flex items-start gap-2 rounded-lg px-4 py-3 text-sm forced-edge',
        toneClass[
          near || simulation.state === 'unavailable' ? 'warn' : passed ? 'good' : 'neutral'
        ],
      )}
    >
      <Icon className="mt-0.5 shrink-0" name={near ? 'warning' : passed ? 'check' : 'clock'} />
      <p>
        {passed ? (
          <Trans>
            <span className="font-semibold">Verified:</span> decoded in this browser, simulated on
            your RPC endpoint.
          </Trans>
        ) : simulation.state === 'running' ? (
          <Trans>Decoded in this browser, simulating.</Trans>
        ) : (
          <Trans>Decoded in this browser, not simulated.</Trans>
        )}{' '}
        <span className="figures whitespace-nowrap" role="timer">
          {t`Sign within ${left}.`}
        </span>
      </p>
    </div>
  )
}

/** Who decoded, simulated and broadcasts the transaction, and when it expires. Source: the caller's duties of the specification. */
function CallerDuties({
  order,
  built,
  review,
}: Pick<ReviewStepProps['state'], 'order' | 'built' | 'review'>) {
  const { t } = useLingui()
  const network = useNetwork(order.network)
  const rpcUrls = network ? rpcUrlsOf(network) : []
  const { walletName } = order
  const byWallet = familyOf(order.network) === 'evm' && needsWallet(order)
  const height = formatNumber(built.lastValidBlockHeight)
  return (
    <Facts className="mt-4">
      <Fact name={t`Decoded`}>{t`In this browser`}</Fact>
      <Fact name={t`Simulated`}>{describeSimulator(review.simulation, rpcUrls)}</Fact>
      <Fact name={t`Broadcast`}>
        {order.signedOnly
          ? t`By the recipient`
          : byWallet
            ? t`By ${walletName}`
            : describeEndpoint(rpcUrls)}
      </Fact>
      <Fact name={t`Sign before`}>
        <Time at={built.deadlineAt} look="full" />
        {', '}
        {t`block ${height}`}
      </Fact>
    </Facts>
  )
}

/** Twice and politely: a countdown that is read out every second could not be used. */
function useDeadlineAnnouncements(seconds: number): void {
  const { t } = useLingui()
  const mark = seconds <= 10 ? 10 : seconds <= 30 ? 30 : 0
  useEffect(() => {
    if (mark === 30) announce(t`30 seconds left.`)
    if (mark === 10) announce(t`Too little time left to approve.`)
  }, [mark, t])
}

type FindingsProps = {
  findings: readonly Finding[]
  /** Nothing to tick: it will not be signed. */ blocked: boolean
  ticked: readonly string[]
  onTick: (codes: readonly string[]) => void
}

/** What the checks say. A critical one blocks and has no tick; a warning needs one each. */
function Findings({ findings, blocked, ticked, onTick }: FindingsProps) {
  const { t } = useLingui()
  const order = { critical: 0, warn: 1, info: 2 }
  const sorted = [...findings].sort((a, b) => order[a.severity] - order[b.severity])
  return sorted.map(({ code, severity, text }) => (
    <Banner
      className="mt-4"
      key={code}
      role={severity === 'critical' ? 'alert' : 'note'}
      title={severity === 'critical' ? t`Blocked` : severity === 'warn' ? t`Warning` : undefined}
      tone={severity === 'critical' ? 'bad' : severity === 'warn' ? 'warn' : 'info'}
    >
      {text}
      {severity === 'critical' && <> {t`Nothing was sent.`}</>}
      {severity === 'warn' && !blocked && (
        <Checkbox
          checked={ticked.includes(code)}
          className="mt-2"
          label={t`I understand the risk`}
          onChange={(event) =>
            onTick(
              event.target.checked ? [...ticked, code] : ticked.filter((each) => each !== code),
            )
          }
        />
      )}
    </Banner>
  ))
}
