import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import type { WalletPaymentIntent, Simulation } from '../../payment-intent/intent.ts'
import { Amount } from '../../ui/Amount.tsx'
import { Badge, type Tone } from '../../ui/Badge.tsx'
import { cx } from '../../ui/button-class.ts'
import { Icon, type IconName } from '../../ui/Icon.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'

const STATES: Readonly<
  Record<Simulation['state'], { label: MessageDescriptor; tone: Tone; icon: IconName }>
> = {
  running: { label: msg`Running`, tone: 'neutral', icon: 'hourglass' },
  passed: { label: msg`Passed`, tone: 'good', icon: 'check' },
  failed: { label: msg`Would fail`, tone: 'bad', icon: 'cross' },
  unavailable: { label: msg`Not available`, tone: 'warn', icon: 'question' },
}

/** The trial run on the user's own RPC, with what it does to the balances. Not available is not passed. */
export function SimulationResult({
  simulation,
  order,
}: {
  simulation: Simulation
  order: WalletPaymentIntent
}) {
  const { t } = useLingui()
  const reason = simulation.state === 'unavailable' ? simulation.reason : ''
  const { label, tone, icon } = STATES[simulation.state]
  return (
    <section aria-labelledby="simulation-heading" className="mt-6">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="text-sm font-semibold" id="simulation-heading">
          <Trans>Simulation</Trans>
        </h3>
        <Badge icon={<Icon name={icon} size={14} />} tone={tone}>
          {t(label)}
        </Badge>
      </div>
      {simulation.state === 'unavailable' && (
        <p className="mt-0.5 text-sm text-muted">
          <Trans>Not simulated: {reason}</Trans>
        </p>
      )}
      {simulation.state === 'running' && <Skeleton className="mt-3 h-16" />}
      {simulation.state === 'passed' && simulation.changes.length > 0 && (
        <dl
          className={cx(
            'mt-3 grid gap-px overflow-hidden rounded-lg border border-line bg-line',
            simulation.changes.length > 1 && 'sm:grid-cols-2',
          )}
        >
          {simulation.changes.map(
            ({ who, asset: { address, decimals, symbol, native }, beforeAtomic, afterAtomic }) => (
              <div className="bg-surface px-4 py-3" key={`${who} ${address}`}>
                <dt className="text-sm text-muted">
                  {who === 'you' ? t`Your balance` : t`Recipient’s balance`}
                </dt>
                <dd className="mt-0.5">
                  <span className="figures text-sm font-medium">
                    {afterAtomic >= beforeAtomic ? '+' : '−'}
                    <Amount
                      atomic={
                        afterAtomic >= beforeAtomic
                          ? afterAtomic - beforeAtomic
                          : beforeAtomic - afterAtomic
                      }
                      decimals={decimals}
                      exact
                      symbol={symbol}
                    />
                  </span>
                  <span className="mt-0.5 block text-xs text-muted">
                    <Amount
                      atomic={beforeAtomic}
                      className="!text-xs"
                      decimals={decimals}
                      symbol={symbol}
                    />{' '}
                    →{' '}
                    <Amount
                      atomic={afterAtomic}
                      className="!text-xs"
                      decimals={decimals}
                      symbol={symbol}
                    />
                    {who === 'you' && native && order.network.startsWith('eip155:') && (
                      <> {t`at the highest fee`}</>
                    )}
                  </span>
                </dd>
              </div>
            ),
          )}
        </dl>
      )}
    </section>
  )
}
