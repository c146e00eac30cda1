import type { PaymentStatus } from '#contract/payment.ts'
import { formatNumber } from '../../locales/formats.ts'
import { toneClass } from '../Badge.tsx'
import { cx } from '../button-class.ts'
import { Icon } from '../Icon.tsx'
import { statusLabel, statusWords } from '../status-words.ts'

export type StatusMixProps = { statuses: readonly { status: PaymentStatus; count: number }[] }

const fills = {
  good: 'bg-chart-received',
  warn: 'bg-warn-edge',
  bad: 'bg-bad-edge',
  neutral: 'bg-edge',
  info: 'bg-info-ink',
}

/** How the payments ended, as one bar and a list that says the same. */
export function StatusMix({ statuses }: StatusMixProps) {
  const present = statuses.filter(({ count }) => count > 0)
  const total = present.reduce((sum, { count }) => sum + count, 0)
  return (
    <div>
      <div aria-hidden className="flex h-2 gap-0.5 overflow-hidden rounded-full">
        {present.map(({ status, count }) => (
          <span
            className={cx(
              'forced-fill',
              fills[statusWords[status].tone],
              status === 'confirmed' && 'opacity-60',
            )}
            key={status}
            style={{ flexGrow: count }}
          />
        ))}
      </div>
      <ul className="mt-4 space-y-2.5 text-sm">
        {present.map(({ status, count }) => {
          const { icon, tone } = statusWords[status]
          return (
            <li className="flex items-center gap-2.5" key={status}>
              <span
                className={cx(
                  'inline-flex size-6 items-center justify-center rounded-full',
                  toneClass[tone],
                )}
              >
                <Icon name={icon} size={14} />
              </span>
              <span className="flex-1">{statusLabel(status)}</span>
              <span className="figures">{formatNumber(count)}</span>
              <span className="figures w-14 text-end text-muted">{formatShare(count / total)}</span>
            </li>
          )
        })}
      </ul>
    </div>
  )
}

/** A share that is there is never told as nothing, nor as everything. */
function formatShare(share: number): string {
  const percent = (value: number) =>
    formatNumber(value, { style: 'percent', maximumFractionDigits: 1 })
  if (share < 0.001) return `<${percent(0.001)}`
  return percent(share < 1 ? Math.min(share, 0.999) : 1)
}
