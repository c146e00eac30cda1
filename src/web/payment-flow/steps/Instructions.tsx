import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { Step } from '#chains/match.ts'
import type { MatchFact } from '#contract/facts.ts'
import { formatMatchFact } from '../../payment-intent/match-facts.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Icon, type IconName } from '../../ui/Icon.tsx'
import { Disclosure } from '../../ui/Disclosure.tsx'

/** The two fee steps are shown as one figure: chains price work, but people pay a sum. */
type FeeStep = Step & { kind: 'fee_limit' | 'fee_price' }
type Operation = Step & { kind: Exclude<Step['kind'], FeeStep['kind']> }

const OPERATION_TITLES: Readonly<
  Record<Operation['kind'], { title: MessageDescriptor; icon: IconName }>
> = {
  transfer: { title: msg`Send`, icon: 'arrowOut' },
  token_transfer: { title: msg`Token transfer`, icon: 'arrowOut' },
  account_opened: {
    title: msg`Open recipient’s token account`,
    icon: 'wallet',
  },
  memo: { title: msg`Payment ID (memo)`, icon: 'copy' },
  approval: { title: msg`Allow token spending`, icon: 'shield' },
  guard: { title: msg`Wallet guard`, icon: 'shield' },
  unknown: { title: msg`Unknown instruction`, icon: 'warning' },
}

/** The chains' own names for a step's facts, in plain words. */
const NAMES: Readonly<Record<string, MessageDescriptor>> = {
  to: msg`to`,
  from: msg`from`,
  amount: msg`amount`,
  token: msg`token`,
  spender: msg`executed by`,
  text: msg`text`,
  price: msg`price`,
  account: msg`account`,
  owner: msg`owner`,
  payer: msg`paid by`,
  program: msg`program`,
  gas: msg`gas limit`,
  maxFeePerGas: msg`maximum per unit`,
  maxPriorityFeePerGas: msg`priority fee`,
  units: msg`compute unit limit`,
}

export type InstructionsProps = {
  steps: readonly Step[]
  bytes: Uint8Array
  /** The most the network may take in total, as the comparison found it. */
  fee: MatchFact | undefined
}

/**
 * The transaction in plain words, in execution order; the network's own figures and its bytes on
 * demand.
 */
export function Instructions({ steps, bytes, fee }: InstructionsProps) {
  const { t } = useLingui()
  const text = toBase64(bytes)
  const { length } = bytes
  const operations = steps.filter((step): step is Operation => !isFeeStep(step))
  const feeSteps = steps.filter(isFeeStep)
  const most = fee && formatMatchFact(fee)
  const free = fee?.code === 'nothing'
  return (
    <section aria-labelledby="instructions-heading" className="mt-6">
      <h3 className="text-sm font-semibold" id="instructions-heading">
        <Trans>Instructions</Trans>
      </h3>
      <ol className="mt-3 space-y-3">
        {operations.map(({ kind, facts }, index) => (
          <Item
            icon={OPERATION_TITLES[kind].icon}
            key={`${kind} ${index}`}
            title={t(OPERATION_TITLES[kind].title)}
          >
            <FactList facts={facts} />
          </Item>
        ))}
        {most !== undefined && (
          <Item icon="bars" title={free ? t`No network fee` : t`Network fee`}>
            <p className="text-muted">
              {free ? (
                <Trans>Paid by another account.</Trans>
              ) : (
                <span className="font-mono text-[13px] text-ink">{most}</span>
              )}
            </p>
            {feeSteps.length > 0 && (
              <Disclosure className="mt-1" label={<Trans>Fee details</Trans>}>
                <div className="mt-1 rounded-lg bg-sunken px-3 py-2">
                  {feeSteps.map(({ kind, facts }, index) => (
                    <FactList facts={facts} key={`${kind} ${index}`} />
                  ))}
                </div>
              </Disclosure>
            )}
          </Item>
        )}
      </ol>
      <Disclosure className="mt-4" label={<Trans>Raw bytes ({length})</Trans>}>
        <div className="mt-2 flex items-start gap-2 rounded-lg bg-sunken p-3">
          <code className="min-w-0 flex-1 font-mono text-xs break-all">{text}</code>
          <CopyButton label={t`Copy raw transaction`} value={text} />
        </div>
      </Disclosure>
    </section>
  )
}

function Item({ icon, title, children }: { icon: IconName; title: string; children: ReactNode }) {
  return (
    <li className="flex gap-3">
      <span className="mt-0.5 inline-flex size-6 shrink-0 items-center justify-center rounded-full bg-neutral-soft text-muted">
        <Icon name={icon} size={14} />
      </span>
      <div className="min-w-0 text-sm">
        <p className="font-medium">{title}</p>
        {children}
      </div>
    </li>
  )
}

function FactList({ facts }: Pick<Step, 'facts'>) {
  const { t } = useLingui()
  return (
    <dl className="text-muted">
      {Object.entries(facts).map(([name, value]) => (
        <div className="flex flex-wrap gap-x-2" key={name}>
          <dt>{NAMES[name] ? t(NAMES[name]) : name}</dt>
          <dd className="font-mono text-[13px] break-all text-ink">{formatMatchFact(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

function isFeeStep(step: Step): step is FeeStep {
  return step.kind === 'fee_limit' || step.kind === 'fee_price'
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}
