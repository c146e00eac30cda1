import { t as words } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import { shortAddress } from '#contract/known-address.ts'
import { familyOf } from '#contract/network.ts'
import { codes } from '../../errors/codes.ts'
import { refusals, type RefusalReason } from '../../errors/refusals.ts'
import { usePauseSeconds } from '../../api/rate-limit-pause.ts'
import { serverNow } from '../../api/clock.ts'
import { describeBeginFailure } from '../begin-failure.ts'
import { openTerms } from '../form/payment-service.ts'
import { formatWithSymbol } from '../form/fields.ts'
import type { PaymentState } from '../machine.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import type { PaymentRun } from '../run.ts'
import { Address } from '../../ui/Address.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { useAccounts } from '../../wallet/state/accounts.ts'
import { AnotherEndpoint } from './AnotherEndpoint.tsx'
import { StepHeading } from './Steps.tsx'
import { describeSlowBuild } from './words.ts'

const SLOW_AFTER_MS = 3_000
/** No configured RPC endpoint answered: the next is asked first. */
const SILENT = 'RPC_SILENT'
/** The service's word for it; more in the wallet, or another payment, changes its answer. */
const SHORT = 'INSUFFICIENT_BALANCE'

/** The proxy's reasons to refuse a quoted price. */
const QUOTE_OVER: ReadonlySet<string> = new Set(['quote_expired', 'quote_outrun', 'link_quote'])

/** Whether a payment that nothing was signed for needs a new price before it is paid. */
export function needsPrice(state: PaymentState): boolean {
  const { quote } = state.order
  if (!quote || ('built' in state && state.step !== 'code')) return false
  const refusal = state.step === 'draft' ? state.userError?.code : undefined
  return quote.expiresAt <= serverNow() || (refusal !== undefined && QUOTE_OVER.has(refusal))
}

export type BuildStepProps = {
  run: PaymentRun
  state: Extract<PaymentState, { step: 'draft' | 'building' | 'expired_unsigned' | 'cancelled' }>
  onChange: () => void
  onStart: (order: WalletPaymentIntent) => void
}

/** Before there is anything to review: it is being prepared, could not be, ran out of time, or was given up. */
export function BuildStep({ run, state, onChange, onStart }: BuildStepProps) {
  const { order } = state
  const amount = formatWithSymbol(order.amountAtomic, order.asset)
  const [failure, setFailure] = useState<string>()
  const attempt = (work: Promise<void>) => {
    setFailure(undefined)
    work.catch((error: unknown) => setFailure(describeBeginFailure(error)))
  }
  if (state.step === 'building') {
    return (
      <Card>
        <div aria-busy="true">
          <StepHeading>
            <Trans>Preparing {amount}</Trans>
          </StepHeading>
          <Skeleton className="mt-5 h-7 w-3/4" />
          <Skeleton className="mt-5 h-48" />
          <SlowNotice onChange={onChange} order={order} />
        </div>
      </Card>
    )
  }
  const userError = state.step === 'draft' ? state.userError : null
  const short = userError?.code === SHORT
  return (
    <Card>
      <StepHeading>{headingOf(state)}</StepHeading>
      {failure && (
        <Banner className="mt-4" role="alert" tone="bad">
          {failure}
        </Banner>
      )}
      {userError && (
        <Banner className="mt-4" role="alert" title={userError.title} tone="warn">
          {userError.body}
          {Object.values(userError.fields ?? {}).map((text) => (
            <p key={text}>{text}</p>
          ))}
          {userError.detail && <p className="mt-1 font-mono text-xs">{userError.detail}</p>}
        </Banner>
      )}
      {short && (
        <p className="mt-4 text-sm text-muted">
          {shortAdvice(order)}
          <span className="mt-1 block text-ink">
            <Address copy full value={order.sender} />
          </span>
        </p>
      )}
      {state.step === 'expired_unsigned' && (
        <p className="mt-2 text-sm text-muted">
          <Trans>Nothing was sent.</Trans>
        </p>
      )}
      {state.step === 'cancelled' && (
        <p className="mt-2 text-sm text-muted">
          <Trans>Nothing was sent.</Trans>
        </p>
      )}
      <Actions attempt={attempt} onChange={onChange} onStart={onStart} run={run} state={state} />
    </Card>
  )
}

/** What helps where the balance is too low. Of a link's price nobody can pay less. */
function shortAdvice({ link }: WalletPaymentIntent): string {
  const open = link && openTerms(link)
  if (!open || open.amount) return words`Pay less, switch accounts, or add funds:`
  return open.asset
    ? words`Change currency, network or account, or add funds:`
    : words`Switch accounts or add funds:`
}

/** What leads on: the same again only where that can help. */
function Actions({
  run,
  state,
  attempt,
  onChange,
  onStart,
}: BuildStepProps & {
  /** Shows why it fails. */
  attempt: (work: Promise<void>) => void
}) {
  const { order } = state
  const accounts = useAccounts()
  const other = accounts.find(
    ({ family, address }) => family === familyOf(order.network) && address !== order.sender,
  )
  const otherAddress = other ? shortAddress(other.address) : ''
  const userError = state.step === 'draft' ? state.userError : null
  const short = userError?.code === SHORT
  const change = short || (userError !== null && needsChange(userError.code))
  if (needsPrice(state))
    return (
      <Button
        className="mt-5"
        icon={<Icon name="refresh" />}
        onClick={onChange}
        size="lg"
        variant="primary"
        wide
      >
        <Trans>Refresh price</Trans>
      </Button>
    )
  return (
    <div className="mt-5 flex flex-wrap gap-2">
      {state.step === 'expired_unsigned' && other && (
        <Button
          icon={<Icon name="wallet" />}
          onClick={() =>
            onStart({
              ...order,
              id: crypto.randomUUID(),
              createdAt: serverNow(),
              sender: other.address,
              walletName: other.walletName,
            })
          }
          variant="primary"
        >
          <Trans>Pay from {otherAddress}</Trans>
        </Button>
      )}
      {state.step === 'expired_unsigned' && (
        <Button
          icon={<Icon name="refresh" />}
          onClick={() => attempt(run.rebuild())}
          variant={other ? 'secondary' : 'primary'}
        >
          <Trans>Prepare it again</Trans>
        </Button>
      )}
      {state.step === 'draft' && !change && (
        <Button
          icon={<Icon name="refresh" />}
          onClick={() => attempt(run.build())}
          variant="primary"
        >
          <Trans>Try again</Trans>
        </Button>
      )}
      <Button onClick={onChange} variant={change ? 'primary' : 'secondary'}>
        <Trans>Change the payment</Trans>
      </Button>
      {userError?.code === SILENT && <AnotherEndpoint network={order.network} />}
      {short && (
        <Button icon={<Icon name="refresh" />} onClick={() => attempt(run.build())}>
          <Trans>Check again</Trans>
        </Button>
      )}
    </div>
  )
}

/** A network or a wallet that does not answer is waited for; the reader learns which, and that nothing moved. */
function SlowNotice({
  order,
  onChange,
}: Pick<BuildStepProps, 'onChange'> & { order: WalletPaymentIntent }) {
  const [slow, setSlow] = useState(false)
  const paused = usePauseSeconds() > 0
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <>
      <p className="mt-4 text-sm text-muted" role="status">
        {paused ? <Trans>Paused, resuming automatically.</Trans> : slow && describeSlowBuild(order)}{' '}
        {(slow || paused) && <Trans>Nothing was sent.</Trans>}
      </p>
      {(slow || paused) && (
        <Button className="mt-3" onClick={onChange}>
          <Trans>Change the payment</Trans>
        </Button>
      )}
    </>
  )
}

/** A refusal that says no to what was asked for, however often, until something else is asked. */
function needsChange(code: string): boolean {
  const row = Object.hasOwn(refusals, code)
    ? refusals[code as RefusalReason]
    : Object.hasOwn(codes, code)
      ? codes[code as keyof typeof codes]
      : undefined
  return row?.retry === 'never' || (row?.retry === 'after_change' && row.action === 'none')
}

function headingOf(state: BuildStepProps['state']): string {
  if (state.step === 'cancelled') return words`Cancelled`
  if (state.step === 'expired_unsigned')
    return state.reason === 'deadline' ? words`Expired` : words`Account changed`
  const amount = formatWithSymbol(state.order.amountAtomic, state.order.asset)
  return words`${amount} not prepared`
}
