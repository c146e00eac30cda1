import { Plural, Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { formatNumber } from '../../locales/formats.ts'
import { formatCheckFact, type AnyCheckFact } from '../../payment-intent/check-facts.ts'
import { proofReasons } from '../../errors/proof-reasons.ts'
import { Amount } from '../../ui/Amount.tsx'
import { cx } from '../../ui/button-class.ts'
import { Icon } from '../../ui/Icon.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import type { Check } from '../../payment-view/check.ts'
import { checkWords, sourceWords } from './words.ts'

/** Written so that they can be compared character by character. */
const LITERAL: ReadonlySet<AnyCheckFact['code']> = new Set([
  'address',
  'blockhash',
  'data',
  'message',
  'transaction',
])

const looks = {
  ok: { icon: 'check', tone: 'text-good-ink' },
  bad: { icon: 'cross', tone: 'text-bad-ink' },
  open: { icon: 'question', tone: 'text-warn-ink' },
} as const

/** So few are read at a glance. */
const FEW = 8

export type CheckListProps = { checks: readonly Check[] }

/** What does not hold or is not known, in view; what holds, folded where it is much. */
export function CheckList({ checks }: CheckListProps) {
  const [userError, passed] = [
    checks.filter(({ state }) => state !== 'ok'),
    checks.filter(({ state }) => state === 'ok'),
  ]
  return (
    <div className="space-y-3">
      {userError.length > 0 && <Rows caption={<Trans>Problems</Trans>} checks={userError} />}
      {passed.length > 0 && (
        <details className="group" open={passed.length <= FEW}>
          <summary className="flex cursor-pointer items-center gap-2 rounded-sm py-1.5 text-sm font-medium">
            <Icon
              className="shrink-0 text-muted transition-transform group-open:rotate-90"
              name="chevronRight"
              size={14}
            />
            <span className="flex flex-wrap gap-x-3">
              <Plural one="# check holds" other="# checks hold" value={passed.length} />
              <Sources checks={passed} />
            </span>
          </summary>
          <div className="mt-2">
            <Rows caption={<Trans>What holds</Trans>} checks={passed} />
          </div>
        </details>
      )}
    </div>
  )
}

/** Who made how many of them. */
function Sources({ checks }: { checks: readonly Check[] }) {
  const { t } = useLingui()
  const counts = new Map<Check['source'], number>()
  for (const { source } of checks) counts.set(source, (counts.get(source) ?? 0) + 1)
  return [...counts].map(([source, count]) => (
    <span className="figures font-normal text-muted" key={source}>
      {t(sourceWords[source])} {formatNumber(count)}
    </span>
  ))
}

/** Each check with who made it, and where it does not hold, what was expected beside what came. */
function Rows({ checks, caption }: CheckListProps & { caption: ReactNode }) {
  const { t } = useLingui()
  const said = { ok: t`Holds`, bad: t`Does not hold`, open: t`Not known` }
  return (
    <table className="w-full text-sm">
      <caption className="sr-only">{caption}</caption>
      <thead className="sr-only">
        <tr>
          <th scope="col">
            <Trans>Outcome</Trans>
          </th>
          <th scope="col">
            <Trans>Check</Trans>
          </th>
          <th scope="col">
            <Trans>Expected and found</Trans>
          </th>
        </tr>
      </thead>
      <tbody className="divide-y divide-line border-y border-line">
        {checks.map((check, index) => {
          const { icon, tone } = looks[check.state]
          const name = checkWords[check.name]
          return (
            <tr
              className={cx(check.state === 'bad' && 'bg-bad-soft')}
              key={`${check.name} ${index}`}
            >
              <td className="w-8 py-2.5 ps-2 align-top">
                <span className={cx('inline-flex', tone)}>
                  <Icon name={icon} />
                  <span className="sr-only">{said[check.state]}</span>
                </span>
              </td>
              <th className="w-32 py-2.5 pe-3 text-start align-top font-normal sm:w-48" scope="row">
                {name ? t(name) : check.name}
                <span className="block text-xs text-muted">{t(sourceWords[check.source])}</span>
              </th>
              <td className="py-2.5 pe-2 align-top [overflow-wrap:anywhere]">
                {check.state === 'ok' ? <Value fact={check.got} /> : <Difference check={check} />}
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

/** Amounts and times as everywhere; addresses and hashes are set so that they can be compared. */
function Value({ fact }: { fact: AnyCheckFact }) {
  if (fact.code === 'amount') {
    const { amountAtomic, symbol, decimals } = fact.params
    return <Amount atomic={amountAtomic} decimals={decimals} exact symbol={symbol} />
  }
  if (fact.code === 'time' || (fact.code === 'signed_time' && fact.params.at > 0))
    return <Time at={fact.params.at} look="full" />
  return (
    <UntrustedText
      className={LITERAL.has(fact.code) ? 'font-mono text-[13px] break-all' : undefined}
      text={formatCheckFact(fact)}
    />
  )
}

function Difference({ check }: { check: Check }) {
  const { t } = useLingui()
  const words = check.reason && proofReasons[check.reason]
  return (
    <>
      {words && <p className="mb-1 font-medium">{t(words.title)}</p>}
      <dl className="space-y-1">
        <div>
          <dt className="text-xs text-muted">
            <Trans>Expected</Trans>
          </dt>
          <dd>
            <Value fact={check.expected} />
          </dd>
        </div>
        <div>
          <dt className="text-xs text-muted">
            <Trans>Found</Trans>
          </dt>
          <dd className="font-medium">
            <Value fact={check.got} />
          </dd>
        </div>
      </dl>
    </>
  )
}
