import { useLingui } from '@lingui/react/macro'
import type { PaymentNote } from '#contract/payment-endpoints.ts'
import { Icon } from '../ui/Icon.tsx'
import { UntrustedText } from '../ui/UntrustedText.tsx'

/** What the reader's side wrote beside a payment, on one line. */
export function Labels({ note, most = 2 }: { note: PaymentNote | undefined; most?: number }) {
  const { t } = useLingui()
  if (!note) return null
  const { labels, reconciledAt } = note
  const rest = labels.length - most
  return (
    <span className="inline-flex max-w-full items-center gap-1.5 text-xs">
      {reconciledAt !== null && (
        <span
          className="inline-flex size-5 shrink-0 items-center justify-center rounded-full bg-good-soft text-good-ink"
          title={t`Reconciled`}
        >
          <Icon name="check" size={12} />
          <span className="sr-only">{t`Reconciled`}</span>
        </span>
      )}
      {labels.slice(0, most).map((label) => (
        <span
          className="min-w-0 truncate rounded-sm border border-line bg-sunken px-1.5 py-0.5 text-muted"
          key={label}
          title={label}
        >
          <UntrustedText text={label} />
        </span>
      ))}
      {rest > 0 && (
        <span className="shrink-0 text-muted" title={labels.slice(most).join(', ')}>
          +{rest}
        </span>
      )}
      {note.note && (
        <span className="inline-flex shrink-0 text-muted" title={note.note}>
          <Icon name="info" size={14} />
          <span className="sr-only">{t`Note`}</span>
        </span>
      )}
    </span>
  )
}
