import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { SurplusPayment } from '#contract/link-endpoints.ts'
import { surplusQuery } from '../../api/inbox.ts'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { QueryError } from '../../shell/QueryError.tsx'
import { Address } from '../../ui/Address.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'

/** All payments of links and invoices that the merchant owes back, also of links too old for the list. Nothing without one. */
export function SurplusPayments() {
  const query = useInfiniteQuery(surplusQuery)
  const { data, error, refetch, isFetching } = query
  if (data === undefined)
    return error ? (
      <Card className="mb-6">
        <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
      </Card>
    ) : null
  const payments = new Map(
    data.pages.flatMap((page) => page.payments.map((each) => [each.paymentId, each])),
  )
  const total = data.pages[0]?.total ?? 0
  if (payments.size === 0) return null
  return (
    <Card
      className="mb-6"
      flush
      title={<Plural one="# payment to refund" other="# payments to refund" value={total} />}
    >
      <ul className="divide-y divide-line border-t border-line">
        {[...payments.values()].map((payment) => (
          <SurplusItem key={payment.paymentId} payment={payment} />
        ))}
      </ul>
      {query.hasNextPage && (
        <div className="border-t border-line px-5 py-3">
          <Button
            busy={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
            size="sm"
          >
            <Trans>Show more</Trans>
          </Button>
        </div>
      )}
    </Card>
  )
}

function SurplusItem({
  payment: { paymentId, sender, createdAt, description, reference, invoice },
}: {
  payment: SurplusPayment
}) {
  const { t } = useLingui()
  const name = invoice ? invoice.number : (description ?? reference)
  return (
    <li className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1 px-5 py-3 text-sm">
      <div className="min-w-0">
        <p className="font-medium">
          {name === null ? t`Payment link` : <UntrustedText text={name} />}
        </p>
        <p className="text-muted">
          <Time at={createdAt} />
          {sender !== null && (
            <>
              {' · '}
              <Address value={sender} />
            </>
          )}
        </p>
      </div>
      <Link className="text-warn underline" to={pathTo('payment', { params: { paymentId } })}>
        {invoice?.isVoid ? (
          <Trans>Paid after void. Refund it.</Trans>
        ) : (
          <Trans>Already paid. Refund it.</Trans>
        )}
      </Link>
    </li>
  )
}
