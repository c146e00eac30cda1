import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { LosslessNumber } from '#contract/json.ts'
import { quoteOf } from '#contract/quote.ts'
import { isPaymentId } from '#contract/payment.ts'
import { hasRole } from '#contract/role.ts'
import { notesQuery } from '../../api/notes.ts'
import { useRole } from '../../api/session.ts'
import { pathTo } from '../../router/paths.ts'
import { Link } from '../../router/Link.tsx'
import { Address } from '../../ui/Address.tsx'
import { Card } from '../../ui/Card.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'

const known: Readonly<Record<string, MessageDescriptor>> = {
  description: msg`Description`,
  referenceId: msg`Reference`,
  refundOf: msg`Refund of`,
  paymentLink: msg`Payment link`,
  pieces: msg`Quantity`,
}

/** What the payer's side wrote into the payment, or the merchant into a refund: always shown as plain text. */
export function MetadataCard({
  paymentId,
  metadata,
  refund,
}: {
  paymentId: string
  metadata: Record<string, unknown>
  refund: boolean
}) {
  const { t } = useLingui()
  // The price has its own line, and is none of the customer's words.
  const shown = Object.entries(metadata).filter(([key]) => key !== 'quote' || !quoteOf(metadata))
  return (
    <Card
      subtitle={!refund && <Trans>From the payer (unverified)</Trans>}
      title={<Trans>Details</Trans>}
    >
      <Facts>
        <Email paymentId={paymentId} />
        {shown.map(([key, value]) => (
          <Fact
            long
            key={key}
            name={
              key === 'description' && refund ? (
                <Trans>Reason</Trans>
              ) : known[key] ? (
                t(known[key])
              ) : (
                <UntrustedText className="font-mono text-[13px]" text={key} />
              )
            }
          >
            {key === 'refundOf' && typeof value === 'string' && isPaymentId(value) ? (
              <PaymentLink paymentId={value} />
            ) : key === 'paymentLink' && typeof value === 'string' ? (
              <Link
                className="underline decoration-edge underline-offset-4"
                to={pathTo('links', {})}
              >
                <UntrustedText className="font-mono text-[13px]" text={value} />
              </Link>
            ) : (
              <MetadataValue value={value} />
            )}
          </Fact>
        ))}
      </Facts>
    </Card>
  )
}

/** Kept beside the payment by the proxy, for operators. */
function Email({ paymentId }: { paymentId: string }) {
  const { t } = useLingui()
  const operator = hasRole(useRole(), 'operator')
  const { data } = useQuery({ ...notesQuery([paymentId]), enabled: operator })
  const email = data?.get(paymentId)?.email
  if (!email) return null
  return (
    <Fact long name={t`Email`}>
      <UntrustedText text={email} />
    </Fact>
  )
}

function PaymentLink({ paymentId }: { paymentId: string }) {
  return (
    <Link
      className="underline decoration-edge underline-offset-4"
      to={pathTo('payment', { params: { paymentId } })}
    >
      <Address value={paymentId} />
    </Link>
  )
}

function MetadataValue({ value }: { value: unknown }) {
  if (value instanceof LosslessNumber) return <span className="figures">{value.value}</span>
  if (typeof value === 'string') return <UntrustedText text={value} />
  if (typeof value !== 'object' || value === null)
    return <span className="figures">{String(value)}</span>
  return (
    <ul className="space-y-1 border-s border-line ps-3">
      {Object.entries(value).map(([key, inner]) => (
        <li key={key}>
          <UntrustedText className="font-mono text-[13px] text-muted" text={key} />{' '}
          <MetadataValue value={inner} />
        </li>
      ))}
    </ul>
  )
}
