import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { LosslessNumber } from '#contract/json.ts'
import { quoteOf } from '#contract/quote.ts'
import { isPaymentId } from '#contract/payment.ts'
import { hasRole } from '#contract/role.ts'
import { linksQuery, termsOf, type AnyLink } from '../../api/links.ts'
import { notesQuery } from '../../api/notes.ts'
import { useRole } from '../../api/session.ts'
import { pathTo } from '../../router/paths.ts'
import { Link } from '../../router/Link.tsx'
import { Address } from '../../ui/Address.tsx'
import { Card } from '../../ui/Card.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { isPayerWritten } from './payer-written.ts'

const known: Readonly<Record<string, MessageDescriptor>> = {
  description: msg`Description`,
  referenceId: msg`Reference`,
  refundOf: msg`Refund of`,
  paymentLink: msg`Payment link`,
  pieces: msg`Quantity`,
}

/** What is written beside the payment: always shown as plain text, and apart what the payer wrote. */
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
  const email = useEmail(paymentId)
  const link = useLink(metadata['paymentLink'])
  // The price has its own line, and is none of the customer's words.
  const shown = Object.entries(metadata).filter(([key]) => key !== 'quote' || !quoteOf(metadata))
  const terms = link && termsOf(link)
  const payers = refund ? [] : shown.filter((entry) => isPayerWritten(entry, { metadata, terms }))
  const others = shown.filter((entry) => !payers.includes(entry))
  const source = <Trans>From the payer (unverified)</Trans>
  const nameOf = (key: string) =>
    key === 'description' && refund ? (
      <Trans>Reason</Trans>
    ) : known[key] ? (
      t(known[key])
    ) : (
      <UntrustedText className="font-mono text-[13px]" text={key} />
    )
  const entryOf = ([key, value]: [string, unknown]) => (
    <Fact long key={key} name={nameOf(key)}>
      {key === 'refundOf' && typeof value === 'string' && isPaymentId(value) ? (
        <PaymentLink paymentId={value} />
      ) : key === 'paymentLink' && terms ? (
        <Link
          className="underline decoration-edge underline-offset-4"
          to={pathTo('links', { search: { link: terms.id } })}
        >
          <span className="font-mono text-[13px]">{terms.id}</span>
        </Link>
      ) : (
        <MetadataValue value={value} />
      )}
    </Fact>
  )
  return (
    <Card subtitle={others.length === 0 && source} title={<Trans>Details</Trans>}>
      {others.length > 0 && <Facts>{others.map(entryOf)}</Facts>}
      {(payers.length > 0 || email) && (
        <>
          {others.length > 0 && (
            <p className="mt-4 mb-2 border-t border-line pt-4 text-sm text-muted">{source}</p>
          )}
          <Facts>
            {email && (
              <Fact long name={t`Email`}>
                <UntrustedText text={email} />
              </Fact>
            )}
            {payers.map(entryOf)}
          </Facts>
        </>
      )}
    </Card>
  )
}

/** Kept beside the payment by the proxy, for operators. */
function useEmail(paymentId: string): string | null | undefined {
  const operator = hasRole(useRole(), 'operator')
  const { data } = useQuery({ ...notesQuery([paymentId]), enabled: operator })
  return data?.get(paymentId)?.email
}

/** The link that a payment names, for people of the account; undefined where their list does not have it. */
function useLink(id: unknown): AnyLink | undefined {
  const role = useRole()
  const { data } = useQuery({
    ...linksQuery,
    enabled: role !== null && typeof id === 'string',
    // The terms of a link do not change.
    refetchInterval: false,
    staleTime: 60_000,
  })
  return data?.find((link) => termsOf(link).id === id)
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
