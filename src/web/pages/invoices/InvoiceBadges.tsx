import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import type { InvoiceState } from '#contract/invoice-state.ts'
import type { InvoiceBody } from '#contract/invoice-endpoints.ts'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { Badge, type Tone } from '../../ui/Badge.tsx'

export const STATE_WORDS: Readonly<Record<InvoiceState, { label: MessageDescriptor; tone: Tone }>> =
  {
    draft: { label: msg`Draft`, tone: 'neutral' },
    open: { label: msg({ message: 'Open', context: 'invoice' }), tone: 'info' },
    overdue: { label: msg`Overdue`, tone: 'warn' },
    confirming: { label: msg`Confirming`, tone: 'info' },
    paid: { label: msg({ message: 'Paid', context: 'invoice' }), tone: 'good' },
    void: { label: msg`Void`, tone: 'neutral' },
  }

/** The state, what was refunded, and payments that are owed back. */
export function InvoiceBadges({ invoice }: { invoice: InvoiceBody }) {
  const { t } = useLingui()
  const { state, payment, surplus } = invoice
  const { label, tone } = STATE_WORDS[state]
  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      <Badge tone={tone}>{t(label)}</Badge>
      {payment?.late && <Badge tone="warn">{t`Paid late`}</Badge>}
      {payment?.refund === 'partial' && <Badge tone="warn">{t`Partly refunded`}</Badge>}
      {payment?.refund === 'full' && (
        <Badge tone="warn">{t({ message: 'Refunded', context: 'invoice' })}</Badge>
      )}
      {surplus.map((paymentId) => (
        <Link
          className="text-sm text-warn underline"
          key={paymentId}
          to={pathTo('payment', { params: { paymentId } })}
        >
          {state === 'void' ? (
            <Trans>Paid after void. Refund it.</Trans>
          ) : (
            <Trans context="invoice">Paid twice. Refund the surplus payment.</Trans>
          )}
        </Link>
      ))}
    </span>
  )
}
