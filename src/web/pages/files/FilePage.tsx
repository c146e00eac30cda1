import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { parseAmount } from '#contract/amount.ts'
import type { OpenedFile } from '#contract/file-endpoints.ts'
import { callProxy } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { paymentQuery } from '../../api/queries.ts'
import { useSession } from '../../api/session.ts'
import { useConfig } from '../../api/use-config.ts'
import { pricedNetworks } from '../../payment-flow/form/start-values.ts'
import { describeRefusal } from '../../errors/refusals.ts'
import { formatPrice } from '../../locales/formats.ts'
import { Worth } from '../../payment-flow/Worth.tsx'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { useParams, useSearch } from '../../router/use-route.tsx'
import { MerchantHeader, PayShell } from '../../shell/PayShell.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { SignIn } from '../../shell/SignIn.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Card } from '../../ui/Card.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Spinner } from '../../ui/Spinner.tsx'
import { statusLabel, statusMeaning } from '../../ui/status-words.ts'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { fileQuery, formatSize } from './files-query.ts'
import { waitOf, type Wait } from './wait.ts'

const POLL_MS = 3_000
const FILE_POLL_MS = 2_000

/** Where a person buys a file, and reads it again: the public address of the file leads here. */
export function FilePage() {
  const { code } = useParams('file')
  const { payment } = useSearch('file')
  const { title } = useConfig()
  const read = usePaymentRead(payment)
  const { data, error, refetch, isFetching, dataUpdatedAt } = useQuery({
    ...fileQuery(code),
    refetchInterval: ({ state }) =>
      read && state.data?.paid === false && waitOf(read, state).kind === 'waiting'
        ? FILE_POLL_MS
        : false,
  })
  const wait = read && waitOf(read, { data, dataUpdatedAt })
  const unknown =
    error instanceof ApiError && (error.code === 'NOT_FOUND' || error.code === 'INVALID_PARAMETERS')
  return (
    <PayShell>
      <MerchantHeader name={title} network={undefined} />
      {data ? (
        <File code={code} file={data} paymentId={payment} wait={wait} />
      ) : unknown ? (
        <Card>
          <ErrorState
            body={<Trans>Ask for a new link.</Trans>}
            title={<Trans>File not found</Trans>}
          />
        </Card>
      ) : error ? (
        <Card>
          <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
        </Card>
      ) : (
        <PageSkeleton />
      )}
    </PayShell>
  )
}

/** Undefined where the buyer does not come back from a payment. */
function usePaymentRead(paymentId: string | undefined) {
  const query = useQuery({
    ...paymentQuery(paymentId ?? ''),
    enabled: paymentId !== undefined,
    refetchInterval: ({ state }) => {
      const wait = waitOf(state)
      return wait.kind === 'waiting' && !wait.paid ? POLL_MS : false
    },
  })
  return paymentId === undefined ? undefined : query
}

type FileProps = {
  code: string
  file: OpenedFile
  paymentId: string | undefined
  wait: Wait | undefined
}

function File({ code, file, paymentId, wait }: FileProps) {
  return (
    <Card>
      <h2 className="text-lg font-semibold">
        <UntrustedText text={file.name} />
      </h2>
      <p className="mt-1 text-sm text-muted">
        <UntrustedText text={file.fileName} />
        {file.size !== null && <> · {formatSize(file.size)}</>}
      </p>
      <div className="mt-5">
        {file.paid ? (
          <Download code={code} />
        ) : (
          <div className="divide-y divide-line *:not-first:pt-5 *:not-last:pb-5">
            {paymentId !== undefined && wait && wait.kind !== 'unseen' && (
              <PaymentState paymentId={paymentId} wait={wait} />
            )}
            {/* A buyer who paid signs in, or asks the merchant, before they could pay again. */}
            {wait?.kind === 'unseen' && <EarlierPurchase />}
            {wait?.kind !== 'waiting' && wait?.kind !== 'unrelated' && (
              <PaymentOptions file={file} />
            )}
            {wait?.kind !== 'unseen' && <EarlierPurchase waits={wait?.kind === 'waiting'} />}
          </div>
        )}
      </div>
    </Card>
  )
}

type PaymentStateProps = { paymentId: string; wait: Exclude<Wait, { kind: 'unseen' }> }

function PaymentState({ paymentId, wait }: PaymentStateProps) {
  const link = (
    <Link
      className={buttonClass({ size: 'sm', variant: 'quiet' })}
      to={pathTo('payment', { params: { paymentId } })}
    >
      <Trans>Show the payment</Trans>
    </Link>
  )
  if (wait.kind === 'unrelated')
    return (
      <div>
        <Banner
          action={link}
          role="status"
          title={<Trans>Not bought with this payment</Trans>}
          tone="warn"
        >
          <Trans>Ask the merchant before you pay again.</Trans>
        </Banner>
      </div>
    )
  return wait.kind === 'over' ? (
    <div>
      <Banner action={link} role="status" title={statusLabel(wait.status)} tone="warn">
        {statusMeaning(wait.status)}
      </Banner>
    </div>
  ) : (
    <div className="flex flex-wrap items-center justify-between gap-2">
      <p className="flex items-center gap-2 text-sm text-muted" role="status">
        <Spinner />
        <Trans>Waiting for the payment.</Trans>
      </p>
      {link}
    </div>
  )
}

/** Each address is good for one download within a minute, so it is asked for when it is needed. */
function Download({ code }: { code: string }) {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const refusal = problem === undefined ? undefined : describeRefusal(problem)

  async function download() {
    setBusy(true)
    setProblem(undefined)
    try {
      const { url } = await callProxy('fileDownload', { body: { code } })
      // The answer is an attachment: this page stays.
      window.location.assign(url)
    } catch (error) {
      setProblem(error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <div className="grid gap-3">
      <Button
        busy={busy}
        icon={<Icon name="download" />}
        onClick={() => void download()}
        size="lg"
        variant="primary"
        wide
      >
        <Trans>Download</Trans>
      </Button>
      <p className="text-sm text-muted">
        <Trans>Download it again with this wallet.</Trans>
      </p>
      {refusal && (
        <Banner role="alert" title={refusal.title} tone="bad">
          {refusal.body}
        </Banner>
      )}
    </div>
  )
}

function PaymentOptions({ file: { prices, withdrawn } }: { file: OpenedFile }) {
  const { t } = useLingui()
  if (withdrawn)
    return (
      <div>
        <Banner tone="warn">
          <Trans>No longer sold.</Trans>
        </Banner>
      </div>
    )
  return (
    <div>
      {prices[0] && <FilePrice price={prices[0]} />}
      <ul aria-label={t`Prices`} className="grid gap-2">
        {prices.map(({ currency, amount, link }, index) => {
          const price = formatPrice(amount, currency)
          return (
            <li key={link}>
              <Link
                className={buttonClass({
                  size: 'lg',
                  variant: index === 0 ? 'primary' : 'secondary',
                  wide: true,
                })}
                to={pathTo('payLink', { params: { link } })}
              >
                <Trans>Buy for {price}</Trans>
              </Link>
            </li>
          )
        })}
      </ul>
    </div>
  )
}

/** What the buyer decides about: the amount, what it is worth, and on which networks it can be paid. */
function FilePrice({ price: { currency, amount } }: { price: OpenedFile['prices'][number] }) {
  const payable = pricedNetworks(useConfig()).filter(({ assets }) =>
    assets.some(({ symbol }) => symbol === currency),
  )
  const asset = payable[0]?.assets.find(({ symbol }) => symbol === currency)
  const atomic = asset && parseAmount(amount, asset.decimals)
  return (
    <div className="mb-4" data-file-price>
      <p className="figures text-3xl font-semibold tracking-tight">
        {formatPrice(amount, currency)}
      </p>
      {asset && atomic?.ok && <Worth asset={asset} atomic={atomic.atomic} />}
      <p className="text-sm text-muted empty:hidden">
        {payable.map(({ name }) => name).join(' · ')}
      </p>
    </div>
  )
}

/** The wallet that paid has the file, in any browser. `waits`: whether it bought the file is open. */
function EarlierPurchase({ waits = false }: { waits?: boolean }) {
  const session = useSession()
  const signedIn = session.kind === 'known' && session.viewer !== null
  if (waits && signedIn) return null
  return (
    <div>
      <p className="text-sm text-muted">
        {signedIn ? (
          <Trans>Not bought with this wallet</Trans>
        ) : (
          <Trans>Bought before? Use the wallet that paid.</Trans>
        )}
      </p>
      {!signedIn && (
        <div className="mt-3">
          <SignIn look="secondary" />
        </div>
      )}
    </div>
  )
}
