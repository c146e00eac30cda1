import { Trans, useLingui } from '@lingui/react/macro'
import { useQueries } from '@tanstack/react-query'
import { useMemo, useState, type ReactNode } from 'react'
import type { OpenedShortLink } from '#contract/link-endpoints.ts'
import { familyOf } from '#contract/network.ts'
import { MOST_ABOVE_PERCENT } from '#contract/quote.ts'
import { serverNow } from '../../api/clock.ts'
import { useConfig } from '../../api/use-config.ts'
import { formatPrice } from '../../locales/formats.ts'
import { formatWithSymbol } from '../../payment-flow/form/fields.ts'
import {
  linkOfOption,
  type LinkProblem,
  type OpenLink,
  type ShortLink,
} from '../../payment-flow/form/open-link.ts'
import { prefillFromLink } from '../../payment-flow/form/start-values.ts'
import { balancesQuery } from '../../payment-flow/steps/use-funds.ts'
import type { SearchOf } from '../../router/paths.ts'
import { Amount } from '../../ui/Amount.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Field } from '../../ui/Field.tsx'
import { formatAmountText } from '../../ui/format-amount.ts'
import { Icon } from '../../ui/Icon.tsx'
import { Input } from '../../ui/Input.tsx'
import { Select } from '../../ui/Select.tsx'
import { Time } from '../../ui/Time.tsx'
import { useNow } from '../../ui/use-now.ts'
import { useAccounts } from '../../wallet/state/accounts.ts'
import { Checkout, type CheckoutProps } from './Checkout.tsx'

export type ShortLinkCheckoutProps = Pick<CheckoutProps, 'addressOf' | 'paymentId'> & {
  short: ShortLink
  /** What the address names: as it was on another device. */
  chosen: Omit<SearchOf<'payLink'>, 'payment'>
  problem: LinkProblem | undefined
  /** Opens the link again: its options get new quotes. */
  onRenew: () => void
  renewing: boolean
  renderRefused: (problem: LinkProblem) => ReactNode
  renderItem: (link: OpenLink) => ReactNode
  renderTerms: (link: OpenLink) => ReactNode
}

/** A link that the payer pays in a currency of their choice: what the connected wallet can pay comes first. */
export function ShortLinkCheckout({ short, problem, onRenew, ...rest }: ShortLinkCheckoutProps) {
  const { networks } = useConfig()
  const { price, maxPieces } = short.opened.terms
  const [chosen, setChosen] = useState(`${rest.chosen.network} ${rest.chosen.asset}`)
  const [quantity, setQuantity] = useState(rest.chosen.pieces ?? '1')
  const typed = maxPieces > 1 ? readPieces(quantity, maxPieces) : 1
  const [lastPieces, setLastPieces] = useState(1)
  if (typed !== undefined && typed !== lastPieces) setLastPieces(typed)
  const pieces = typed ?? lastPieces
  const [former, setFormer] = useState<OpenedShortLink>()
  const links = useMemo(
    () =>
      short.opened.options.flatMap(
        (option) => linkOfOption(short, option, { pieces, networks }) ?? [],
      ),
    [short, pieces, networks],
  )
  const ranked = useRanked(links)
  useNow()
  const current = ranked.find(({ link }) => keyOf(link) === chosen) ?? ranked[0]
  const prefill = useMemo(() => (current ? prefillFromLink(current.link) : {}), [current])
  if (!current) return null
  const { link } = current
  const { symbol } = link.asset
  const { expiresAt } = short.opened
  const expired = expiresAt !== null && expiresAt <= serverNow()
  const percent = MOST_ABOVE_PERCENT
  const renew = () => {
    setFormer(short.opened)
    onRenew()
  }
  return (
    <Checkout
      addressOf={rest.addressOf}
      prefill={prefill}
      closed={
        problem
          ? rest.renderRefused(problem)
          : expired && <Expired busy={rest.renewing} onRenew={renew} />
      }
      onRenew={renew}
      invalid={typed === undefined}
      item={rest.renderItem(link)}
      link={link}
      paymentId={rest.paymentId}
    >
      {former && former.quotedAt !== short.opened.quotedAt && !expired && (
        <Refreshed former={{ ...short, opened: former }} link={link} pieces={pieces} />
      )}
      {price?.kind === 'fiat' && (
        <p className="figures text-3xl font-semibold tracking-tight">
          {formatPrice(link.quote?.amount ?? price.amount, price.currency)}
        </p>
      )}
      {rest.renderTerms(link)}
      {!problem && !expired && (
        <div className="mb-3 flex gap-3 empty:hidden">
          {maxPieces > 1 && (
            <Pieces
              invalid={typed === undefined}
              most={maxPieces}
              onChange={setQuantity}
              value={quantity}
            />
          )}
          {ranked.length > 1 && <Options current={current} onChoose={setChosen} ranked={ranked} />}
        </div>
      )}
      {!problem && expiresAt !== null && !expired && (
        <p className="mb-4 text-sm text-muted">
          <Trans>
            Price valid until <Time at={expiresAt} />, unless {symbol} falls by more than {percent}{' '}
            %.
          </Trans>
        </p>
      )}
    </Checkout>
  )
}

/**
 * Before anything is built here: a payment that is being signed keeps the price that it was built at. Whether something was sent is not said: a payment of
 * this link may be open in another tab.
 */
function Expired({ busy, onRenew }: { busy: boolean; onRenew: () => void }) {
  const { t } = useLingui()
  return (
    <Banner
      action={
        <Button busy={busy} icon={<Icon name="refresh" />} onClick={onRenew} variant="primary">
          <Trans>Refresh price</Trans>
        </Button>
      }
      role="status"
      title={t`Price expired`}
      tone="warn"
    />
  )
}

/** Says what a refreshed price changed. */
function Refreshed({
  former,
  link,
  pieces,
}: {
  former: ShortLink
  link: OpenLink
  pieces: number
}) {
  const { t } = useLingui()
  const { networks } = useConfig()
  const before = former.opened.options
    .flatMap((option) => linkOfOption(former, option, { pieces, networks }) ?? [])
    .find((each) => keyOf(each) === keyOf(link))
  const [now, then] = [amountOf(link), before && amountOf(before)]
  return (
    <Banner className="mb-4" role="status" title={t`Price refreshed`} tone="info">
      {then === undefined || then === now ? (
        now
      ) : (
        <Trans>
          {now}, before {then}
        </Trans>
      )}
    </Banner>
  )
}

function amountOf({ terms, asset }: OpenLink): string {
  return formatWithSymbol(BigInt(terms.amountAtomic ?? 0), asset)
}

const keyOf = ({ network, asset }: OpenLink): string => `${network.network} ${asset.address}`

type Ranked = { link: OpenLink; balance: bigint | undefined; rank: number }

/** The options as their merchant ordered them, those first that a connected wallet can pay now. */
function useRanked(links: readonly OpenLink[]): Ranked[] {
  const accounts = useAccounts()
  const networks = [...new Map(links.map(({ network }) => [network.network, network])).values()]
  const balances = useQueries({
    queries: networks.map((network) =>
      balancesQuery(
        network,
        accounts.find(({ family }) => family === familyOf(network.network))?.address,
      ),
    ),
  })
  return links
    .map((link) => {
      const { data } = balances[networks.indexOf(link.network)] ?? {}
      const balance = data?.find(({ asset }) => asset.address === link.asset.address)?.atomic
      return { link, balance, rank: rankOf(link, balance) }
    })
    .sort((one, other) => one.rank - other.rank)
}

/** 0: can be paid now; 1: not known yet; 2: the wallet holds too little. */
function rankOf({ terms }: OpenLink, balance: bigint | undefined): number {
  if (balance === undefined) return 1
  const needed = terms.amountAtomic === null ? 1n : BigInt(terms.amountAtomic)
  return balance >= needed ? 0 : 2
}

function Options({
  current,
  ranked,
  onChoose,
}: {
  current: Ranked
  ranked: readonly Ranked[]
  onChoose: (key: string) => void
}) {
  const { t } = useLingui()
  const { balance, link } = current
  return (
    <Field
      className="flex-1"
      hint={
        balance !== undefined && (
          <>
            {t`Balance`}{' '}
            <Amount atomic={balance} decimals={link.asset.decimals} symbol={link.asset.symbol} />
          </>
        )
      }
      label={t`Currency`}
    >
      <Select onChange={({ target }) => onChoose(target.value)} value={keyOf(link)}>
        {ranked.map((each) => (
          <option key={keyOf(each.link)} value={keyOf(each.link)}>
            {optionText(each.link)}
          </option>
        ))}
      </Select>
    </Field>
  )
}

/** `0.00434233 ETH · Ethereum`, in every digit: it is the figure that the review shows. */
function optionText({ terms, asset, network }: OpenLink): string {
  const amount =
    terms.amountAtomic === null
      ? ''
      : `${formatAmountText(BigInt(terms.amountAtomic), asset.decimals, { exact: true }).text} `
  return `${amount}${asset.symbol} · ${network.name}`
}

/** Undefined for what is no number of pieces that the link sells. */
function readPieces(text: string, most: number): number | undefined {
  const pieces = Number(text)
  return Number.isSafeInteger(pieces) && pieces >= 1 && pieces <= most ? pieces : undefined
}

function Pieces({
  most,
  value,
  invalid,
  onChange,
}: {
  most: number
  value: string
  invalid: boolean
  onChange: (quantity: string) => void
}) {
  const { t } = useLingui()
  return (
    <Field
      className="w-24"
      error={invalid ? t`Enter 1 to ${{ most }}.` : undefined}
      label={t`Quantity`}
    >
      <Input
        max={most}
        min={1}
        onChange={({ target }) => onChange(target.value)}
        type="number"
        value={value}
      />
    </Field>
  )
}
