import { useLingui, Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useCallback, useEffect, useMemo, useState, type ReactNode } from 'react'
import { serverNow } from '../../api/clock.ts'
import { useConfig } from '../../api/use-config.ts'
import { describeError } from '../../errors/codes.ts'
import {
  linkQuery,
  type LinkProblem,
  type LinkView,
  type OpenLink,
} from '../../payment-flow/form/open-link.ts'
import type { JournalEntry } from '../../payment-flow/journal.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import { Link } from '../../router/Link.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { formatQuantity } from '../../payment-flow/format-quantity.ts'
import { ItemSummary } from '../../payment-flow/ItemSummary.tsx'
import { Worth } from '../../payment-flow/Worth.tsx'
import { prefillFromLink } from '../../payment-flow/form/start-values.ts'
import { pathToRun } from '../../router/path-to-run.ts'
import { pathTo } from '../../router/paths.ts'
import { useParams, useSearch } from '../../router/use-route.tsx'
import { ItemLine, MerchantHeader, PayShell } from '../../shell/PayShell.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { AddressDisclosure } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toast.tsx'
import { UntrustedLink } from '../../ui/UntrustedText.tsx'
import { Checkout } from './Checkout.tsx'
import { ShortLinkCheckout } from './ShortLinkCheckout.tsx'

/** Few links are of an invoice. */
const InvoiceSummary = lazy(() =>
  import('../../payment-flow/InvoiceLines.tsx').then((module) => ({
    default: module.InvoiceSummary,
  })),
)

/** A payment that a seller asks for: what their link sets cannot be changed here, and is checked before anything else happens. */
export function PayLinkPage() {
  const { link: text } = useParams('payLink')
  const search = useSearch('payLink')
  const { payment, ...chosen } = search
  const config = useConfig()
  const { data, error, refetch, isFetching } = useQuery({
    ...linkQuery(text, config),
    // A quoted price holds until it expires, and a payment under way keeps its own.
    refetchOnWindowFocus: ({ state }) => payment === undefined && !isQuoted(state.data),
    refetchOnReconnect: ({ state }) => payment === undefined && !isQuoted(state.data),
  })
  const onRenew = useCallback(async () => {
    const { error: failure } = await refetch()
    if (!failure) return
    const { title, body } = describeError(failure)
    toast(title, { tone: 'warn', body })
  }, [refetch])
  const addressOf = useCallback(
    (at: { payment?: string }) =>
      pathTo('payLink', { params: { link: text }, search: { ...search, payment: at.payment } }),
    [text, search],
  )
  const link = data && 'link' in data ? data.link : undefined
  const prefill = useMemo(() => (link ? prefillFromLink(link) : {}), [link])
  const [network, setNetwork] = useState<string>()
  const short = data?.kind === 'short' ? data : undefined
  const unpayable =
    data?.kind === 'refused' ? (
      <Refused busy={isFetching} onRetry={() => void onRenew()} problem={data.problem} />
    ) : (
      !data &&
      error && (
        <Card>
          <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
        </Card>
      )
    )

  return (
    <PayShell>
      <MerchantHeader name={config.title} network={network ?? link?.network.network} />
      {!data && !error && <PageSkeleton />}
      {payment === undefined && unpayable}
      {/* A payment that was begun is shown, even where its link cannot be read now. */}
      {unpayable && payment !== undefined && (
        <Checkout
          addressOf={addressOf}
          closed={unpayable}
          onNetwork={setNetwork}
          paymentId={payment}
          prefill={prefill}
        />
      )}
      {short && (
        <ShortLinkCheckout
          key={text}
          onNetwork={setNetwork}
          chosen={chosen}
          renderItem={(each) => <LinkItem link={each} />}
          onRenew={() => void onRenew()}
          problem={short.problem}
          renewing={isFetching}
          renderRefused={(problem) => <Refused problem={problem} />}
          short={short.short}
          renderTerms={(each, priced) => <LinkTermsCard link={each} priced={priced} />}
          paymentId={payment}
        />
      )}
      {link && (
        <Checkout
          addressOf={addressOf}
          onNetwork={setNetwork}
          prefill={prefill}
          closed={data?.kind === 'closed' && <Refused problem={data.problem} />}
          item={<LinkItem link={link} />}
          link={link}
          paymentId={payment}
        >
          <LinkTermsCard link={link} priced />
        </Checkout>
      )}
    </PayShell>
  )
}

function isQuoted(view: LinkView | undefined): boolean {
  return view?.kind === 'short' && view.short.opened.expiresAt !== null
}

function Refused({
  problem,
  busy,
  onRetry,
}: {
  problem: LinkProblem
  busy?: boolean
  onRetry?: () => void
}) {
  const own = useOwnPayment(problem)
  if (own === 'reading') return null
  if (own) return <PaidHere order={own.state.order} />
  return (
    <Banner
      action={
        problem.retry &&
        onRetry && (
          <Button busy={busy} icon={<Icon name="refresh" />} onClick={onRetry}>
            <Trans>Try again</Trans>
          </Button>
        )
      }
      role="alert"
      title={problem.title}
      tone="warn"
    >
      {problem.body}
    </Banner>
  )
}

/** Who paid the link in this browser needs their receipt, and no new link. */
function useOwnPayment({ reason }: LinkProblem): JournalEntry | 'reading' | undefined {
  const { link } = useParams('payLink')
  const [own, setOwn] = useState<JournalEntry | 'reading' | undefined>(
    reason === 'link_used' ? 'reading' : undefined,
  )
  useEffect(() => {
    if (reason !== 'link_used') return
    import('../../payment-flow/form/runs.ts')
      .then(({ paidPaymentOf }) => paidPaymentOf(link))
      .then(setOwn, () => setOwn(undefined))
  }, [reason, link])
  return own
}

function PaidHere({ order }: { order: WalletPaymentIntent }) {
  const { t } = useLingui()
  return (
    <Banner
      action={
        <Link className={buttonClass({ size: 'sm' })} to={pathToRun(order)}>
          <Trans>Show receipt</Trans>
        </Link>
      }
      role="status"
      title={t`You paid this link`}
      tone="good"
    >
      <Amount
        atomic={order.amountAtomic}
        decimals={order.asset.decimals}
        exact
        symbol={order.asset.symbol}
      />
    </Banner>
  )
}

/** What is paid for. It stays on every step. */
function LinkItem({ link: { terms, item, invoice } }: { link: OpenLink }) {
  const { description, reference } = terms
  if (invoice)
    return (
      // What is below keeps its place.
      <Suspense fallback={<div className="mb-4 h-48 rounded-xl border border-line bg-surface" />}>
        <InvoiceSummary invoice={invoice} />
      </Suspense>
    )
  if (item)
    return (
      <>
        <ItemSummary item={item} />
        <ItemLine description={null} reference={reference} />
      </>
    )
  return <ItemLine description={description} reference={reference} />
}

/** What a link sets. Nothing here can be changed; the review compares the transaction with exactly this. */
function LinkTermsCard({ link, priced }: { link: OpenLink; priced: boolean }) {
  const { t } = useLingui()
  const { title } = useConfig()
  const { terms, asset, network, setBy, quote } = link
  const { amountAtomic, resource, expiresAt } = terms
  return (
    <>
      {amountAtomic === null ? (
        <p className="text-lg font-semibold">
          <Trans>You choose the amount</Trans>
        </p>
      ) : !priced ? (
        // With a quote, the price above says so.
        <p className={quote ? 'invisible' : 'text-3xl'}>–</p>
      ) : quote ? (
        <p className="figures text-muted">
          <Amount
            atomic={amountAtomic}
            decimals={asset.decimals}
            exact
            size="md"
            symbol={asset.symbol}
          />
        </p>
      ) : (
        <div>
          <Amount
            atomic={amountAtomic}
            decimals={asset.decimals}
            exact
            size="xl"
            symbol={asset.symbol}
          />
          <Worth asset={asset} atomic={BigInt(amountAtomic)} />
        </div>
      )}
      <p className="figures mt-1 text-sm text-muted empty:hidden">
        {priced && formatQuantity(link.quantity)}
      </p>
      <div className="mt-4 mb-4 rounded-xl border border-line bg-surface px-5 py-4">
        <Facts>
          <Locked name={t`To`}>
            <span className="block font-medium">{title}</span>
            <AddressDisclosure value={terms.recipient} />
            <span className="block text-muted">{network.name}</span>
          </Locked>
          {!link.choice && asset.name !== asset.symbol && (
            <Locked name={t`Currency`}>{`${asset.name} (${asset.symbol})`}</Locked>
          )}
          {resource && (
            <Locked name={t`Resource`} long>
              <UntrustedLink href={resource} />
            </Locked>
          )}
          {expiresAt !== null && (
            <Locked name={expiresAt > serverNow() ? t`Expires` : t`Expired`}>
              <Time at={expiresAt} look="full" />
            </Locked>
          )}
        </Facts>
        <p className="mt-3 flex items-center gap-1.5 text-xs text-muted">
          <Icon className="shrink-0" name="shield" size={14} />
          <span>
            <Trans>
              Request from <span className="font-medium">{setBy}</span>, verified
            </Trans>
          </span>
        </p>
      </div>
    </>
  )
}

function Locked({ name, long, children }: { name: string; long?: boolean; children: ReactNode }) {
  return (
    <Fact
      name={
        <span className="inline-flex items-center gap-1.5">
          <Icon name="lock" size={14} />
          {name}
          <span className="sr-only">
            , <Trans>set by the merchant</Trans>
          </span>
        </span>
      }
      {...(long !== undefined && { long })}
    >
      {children}
    </Fact>
  )
}
