import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import type { Step } from '#chains/match.ts'
import { sayMatch } from '../../payment/match-words.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Icon, type IconName } from '../../ui/Icon.tsx'

const WORDS: Readonly<Record<Step['kind'], { title: MessageDescriptor; icon: IconName }>> = {
  transfer: { title: msg`Send`, icon: 'arrowOut' },
  token_transfer: { title: msg`Send a token`, icon: 'arrowOut' },
  account_opened: { title: msg`Open the recipient’s token account, if it is missing`, icon: 'wallet' },
  fee_limit: { title: msg`Limit the work the network may charge for`, icon: 'shield' },
  fee_price: { title: msg`Set the price of that work`, icon: 'bars' },
  memo: { title: msg`Write the payment’s id beside it`, icon: 'copy' },
  approval: { title: msg`Let a contract take so much of a token from you later`, icon: 'shield' },
  guard: { title: msg`A guard added by the wallet`, icon: 'shield' },
  unknown: { title: msg`Something this page does not understand`, icon: 'warning' },
}

/** The chains' own names of a step's facts, for people who do not know them. */
const NAMES: Readonly<Record<string, MessageDescriptor>> = {
  to: msg`to`,
  from: msg`from`,
  amount: msg`amount`,
  token: msg`token`,
  spender: msg`carried out by`,
  text: msg`text`,
  price: msg`price`,
  account: msg`account`,
  owner: msg`owner`,
  payer: msg`paid by`,
  program: msg`program`,
  gas: msg`gas units at most`,
  maxFeePerGas: msg`a unit at most`,
  maxPriorityFeePerGas: msg`of which the tip is`,
  units: msg`compute units at most`,
}

/** The transaction in plain words, in the order it is carried out; its bytes on demand. */
export function Instructions({ steps, bytes }: { steps: readonly Step[]; bytes: Uint8Array }) {
  const { t } = useLingui()
  const text = toBase64(bytes)
  const { length } = bytes
  return (
    <section aria-labelledby="instructions-heading" className="mt-6">
      <h3 className="text-sm font-semibold" id="instructions-heading">
        <Trans>What the transaction does</Trans>
      </h3>
      <ol className="mt-3 space-y-3">
        {steps.map((step, index) => (
          <li className="flex gap-3" key={`${step.kind} ${index}`}>
            <span className="mt-0.5 inline-flex size-6 shrink-0 items-center justify-center rounded-full bg-neutral-soft text-muted">
              <Icon name={WORDS[step.kind].icon} size={14} />
            </span>
            <div className="min-w-0 text-sm">
              <p className="font-medium">{t(WORDS[step.kind].title)}</p>
              <dl className="text-muted">
                {Object.entries(step.facts).map(([name, value]) => (
                  <div className="flex flex-wrap gap-x-2" key={name}>
                    <dt>{NAMES[name] ? t(NAMES[name]) : name}</dt>
                    <dd className="font-mono text-[13px] break-all text-ink">{sayMatch(value)}</dd>
                  </div>
                ))}
              </dl>
            </div>
          </li>
        ))}
      </ol>
      <details className="group mt-4">
        <summary className="touch-target inline-flex cursor-pointer items-center gap-1.5 rounded-md text-sm font-medium text-muted hover:text-ink">
          <Icon className="transition-transform group-open:rotate-90" name="chevronRight" size={14} />
          <Trans>Raw bytes ({length})</Trans>
        </summary>
        <div className="mt-2 flex items-start gap-2 rounded-lg bg-sunken p-3">
          <code className="min-w-0 flex-1 font-mono text-xs break-all">{text}</code>
          <CopyButton label={t`Copy raw transaction`} value={text} />
        </div>
      </details>
    </section>
  )
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}
