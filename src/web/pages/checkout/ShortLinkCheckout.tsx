import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useId, useMemo, useRef, useState, type ReactNode } from 'react'
import type { Family } from '#contract/address.ts'
import type { OpenedShortLink } from '#contract/link-endpoints.ts'
import { familyOf } from '#contract/network.ts'
import { MOST_FALL_PERCENT } from '#contract/quote.ts'
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
import { navigate } from '../../router/location.ts'
import { choiceOf } from '../../router/path-to-run.ts'
import { pathTo, type SearchOf } from '../../router/paths.ts'
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
import { useAccounts, useConnectFirst } from '../../wallet/state/accounts.ts'
import { Checkout, type CheckoutProps } from './Checkout.tsx'
import {
  bestOption,
  isShort,
  optionBalancesQuery,
  rankOptions,
  type RankedOption,
} from './payable-options.ts'

/** Few need it, and it looks for wallets. */
const PayElsewhere = lazy(() =>
  import('./PayElsewhere.tsx').then((module) => ({ default: module.PayElsewhere })),
)

export type ShortLinkCheckoutProps = Pick<CheckoutProps, 'onNetwork' | 'paymentId'> & {
  short: ShortLink
  /** What the address names: what the payer chose, here or on another device. */
  chosen: Omit<SearchOf<'payLink'>, 'payment'>
  problem: LinkProblem | undefined
  /** Opens the link again: its options get new quotes. */
  onRenew: () => void
  renewing: boolean
  renderRefused: (problem: LinkProblem) => ReactNode
  renderItem: (link: OpenLink) => ReactNode
  /** `priced`: whether its amount is that of the quantity which is typed. */
  renderTerms: (link: OpenLink, priced: boolean) => ReactNode
}

/**
 * A link that the payer pays in a currency of their choice: what the connected wallet can pay comes first. The address names what was chosen, so a reload, a
 * wallet's app and a payment that is changed keep it.
 */
export function ShortLinkCheckout({
  short,
  chosen,
  problem,
  onRenew,
  ...rest
}: ShortLinkCheckoutProps) {
  const { networks } = useConfig()
  const { price, maxPieces } = short.opened.terms
  const [quantity, setQuantity] = useState(chosen.pieces ?? '1')
  // A payment that somebody goes on with has its own quantity, which its address names.
  const [shownPayment, setShownPayment] = useState(rest.paymentId)
  if (rest.paymentId !== shownPayment) {
    setShownPayment(rest.paymentId)
    if (rest.paymentId !== undefined) setQuantity(chosen.pieces ?? '1')
  }
  const typed = maxPieces > 1 ? readPieces(quantity, maxPieces) : 1
  const [lastPieces, setLastPieces] = useState(1)
  if (typed !== undefined && typed !== lastPieces) setLastPieces(typed)
  const pieces = typed ?? lastPieces
  const priced = typed !== undefined
  const [former, setFormer] = useState<OpenedShortLink>()
  // While the form is used, no balance that is read replaces the option, and the form with it.
  const [inUse, setInUse] = useState<string>()
  const [begin, setBegin] = useState(false)
  const links = useMemo(
    () =>
      short.opened.options.flatMap(
        (option) => linkOfOption(short, option, { pieces, networks }) ?? [],
      ),
    [short, pieces, networks],
  )
  const accounts = useAccounts()
  const { data: balances } = useQuery(optionBalancesQuery(links, accounts))
  const ranked = rankOptions(links, balances)
  useNow()
  const wrongId = useId()
  const named = ranked.find(({ link }) => keyOf(link) === `${chosen.network} ${chosen.asset}`)
  const current = named ?? ranked.find(({ link }) => keyOf(link) === inUse) ?? ranked[0]
  const prefill = useMemo(() => (current ? prefillFromLink(current.link) : {}), [current])
  // What is known to be impossible is not begun: the form shows the balance.
  const payFromAny = usePayFromAny(links, (option) => {
    setInUse(keyOf(option.link))
    setBegin(option.link.terms.amountAtomic !== null && !isShort(option))
  })
  const pathOf = (search: SearchOf<'payLink'>) =>
    pathTo('payLink', { params: { link: short.text }, search })
  if (!current) return null
  const { link } = current
  const { expiresAt } = short.opened
  const expired = expiresAt !== null && expiresAt <= serverNow()
  const renew = () => {
    setBegin(false)
    setFormer(short.opened)
    onRenew()
  }
  const choose = (search: SearchOf<'payLink'>) => {
    payFromAny.cancel()
    setBegin(false)
    navigate(pathOf({ ...chosen, ...search }), { replace: true })
  }
  const payElsewhere = (other: RankedOption) => {
    const family = familyOfOption(other)
    const connected = accounts.some((account) => account.family === family)
    choose(
      connected ? choiceOf(other.link.terms, pieces) : { network: undefined, asset: undefined },
    )
    if (connected) setBegin(other.link.terms.amountAtomic !== null)
    else payFromAny.connect(family)
  }
  return (
    <Checkout
      addressOf={({ payment }) => pathOf({ payment, ...choiceOf(link.terms, pieces) })}
      begin={begin}
      connecting={payFromAny.busy}
      onConnect={named || links.length === 1 ? undefined : () => payFromAny.connect()}
      onNetwork={rest.onNetwork}
      onUse={() => setInUse(keyOf(link))}
      prefill={prefill}
      closed={
        problem
          ? rest.renderRefused(problem)
          : expired && <Expired busy={rest.renewing} onRenew={renew} />
      }
      onRenew={renew}
      invalid={!priced}
      item={rest.renderItem(priced ? link : ofOnePiece(link))}
      link={link}
      paymentId={rest.paymentId}
    >
      {former && former.quotedAt !== short.opened.quotedAt && !expired && (
        <Refreshed former={{ ...short, opened: former }} link={link} pieces={pieces} />
      )}
      {price?.kind === 'fiat' && (
        <p className="figures text-3xl font-semibold tracking-tight">
          {priced ? formatPrice(link.quote?.amount ?? price.amount, price.currency) : '–'}
        </p>
      )}
      {rest.renderTerms(link, priced)}
      {!problem && !expired && (
        <div className="mb-3 flex gap-3 empty:hidden">
          {maxPieces > 1 && (
            <Pieces
              describedBy={priced ? undefined : wrongId}
              most={maxPieces}
              onChange={(text) => {
                setQuantity(text)
                const read = readPieces(text, maxPieces)
                if (read !== undefined) choose({ pieces: read > 1 ? text : undefined })
              }}
              value={quantity}
            />
          )}
          {ranked.length > 1 && (
            <Options
              current={current}
              onChoose={(option) => choose(choiceOf(option.terms, pieces))}
              priced={priced}
              ranked={ranked}
            />
          )}
        </div>
      )}
      {!problem && !expired && !priced && <WrongPieces id={wrongId} most={maxPieces} />}
      {!problem && !expired && (
        <OtherFamily current={current} onPay={payElsewhere} ranked={ranked} />
      )}
      {!problem && expiresAt !== null && !expired && (
        <ValidUntil expiresAt={expiresAt} symbol={link.asset.symbol} />
      )}
    </Checkout>
  )
}

function ValidUntil({ expiresAt, symbol }: { expiresAt: number; symbol: string }) {
  const percent = MOST_FALL_PERCENT
  return (
    <p className="mb-4 text-sm text-muted">
      <Trans>
        Price valid until <Time at={expiresAt} />, unless {symbol} drops {percent}%.
      </Trans>
    </p>
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
    >
      <Trans>The rate may have changed.</Trans>
    </Banner>
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

/** Its item says what one costs. */
function ofOnePiece(link: OpenLink): OpenLink {
  return link.item ? { ...link, item: { ...link.item, pieces: 1 } } : link
}

function amountOf({ terms, asset }: OpenLink): string {
  return formatWithSymbol(BigInt(terms.amountAtomic ?? 0), asset)
}

const keyOf = ({ network, asset }: OpenLink): string => `${network.network} ${asset.address}`

const familyOfOption = ({ link }: RankedOption): Family => familyOf(link.network.network)

/** Where the connected wallet cannot pay the option in view: the best one on networks of another family. */
function OtherFamily({
  current,
  ranked,
  onPay,
}: {
  current: RankedOption
  ranked: readonly RankedOption[]
  onPay: (option: RankedOption) => void
}) {
  const family = familyOfOption(current)
  const other = ranked.find((each) => !isShort(each) && familyOfOption(each) !== family)
  if (!other || !isShort(current)) return null
  return (
    <Suspense>
      <PayElsewhere onPay={() => onPay(other)} other={other.link} short={current} />
    </Suspense>
  )
}

/** Connects any wallet that can pay, and then goes on with the best option of the connected ones, unless the payer chooses one meanwhile. */
function usePayFromAny(links: readonly OpenLink[], onPick: (option: RankedOption) => void) {
  const accounts = useAccounts()
  const [busy, setBusy] = useState(false)
  const picks = useRef(0)
  const families = new Set(links.map(({ network }) => familyOf(network.network)))
  for (const { family } of accounts) families.delete(family)

  async function pick() {
    const own = ++picks.current
    setBusy(true)
    const option = await bestOption(links, accounts).finally(() => setBusy(false))
    if (option && own === picks.current) onPick(option)
  }

  const connect = useConnectFirst(() => void pick())
  return {
    busy,
    cancel: () => void picks.current++,
    connect: (family?: Family) =>
      connect(family ?? (families.size === 1 ? [...families][0] : undefined)),
  }
}

function Options({
  current,
  ranked,
  priced,
  onChoose,
}: {
  current: RankedOption
  ranked: readonly RankedOption[]
  priced: boolean
  onChoose: (option: OpenLink) => void
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
      <Select
        onChange={({ target }) => {
          const option = ranked.find((each) => keyOf(each.link) === target.value)
          if (option) onChoose(option.link)
        }}
        value={keyOf(link)}
      >
        {ranked.map((each) => (
          <option key={keyOf(each.link)} value={keyOf(each.link)}>
            {optionText(each.link, priced)}
          </option>
        ))}
      </Select>
    </Field>
  )
}

/** `0.00434233 ETH · Ethereum`, in every digit: it is the figure that the review shows. */
function optionText({ terms, asset, network }: OpenLink, priced: boolean): string {
  const amount =
    terms.amountAtomic === null || !priced
      ? ''
      : `${formatAmountText(BigInt(terms.amountAtomic), asset.decimals, { exact: true }).text} `
  return `${amount}${asset.symbol} · ${network.name}`
}

/** Undefined for what is no number of pieces that the link sells. */
function readPieces(text: string, most: number): number | undefined {
  const pieces = Number(text)
  return Number.isSafeInteger(pieces) && pieces >= 1 && pieces <= most ? pieces : undefined
}

/** Below the row of the number, which is wide enough for it. */
function WrongPieces({ id, most }: { id: string; most: number }) {
  return (
    <p className="mb-3 flex items-start gap-1.5 text-sm text-bad-ink" id={id}>
      <Icon className="mt-0.5 shrink-0" name="warning" />
      <Trans>Enter 1 to {most}.</Trans>
    </p>
  )
}

function Pieces({
  most,
  value,
  describedBy,
  onChange,
}: {
  most: number
  value: string
  describedBy: string | undefined
  onChange: (quantity: string) => void
}) {
  const { t } = useLingui()
  return (
    <Field className="w-24" label={t`Quantity`}>
      <Input
        aria-describedby={describedBy}
        aria-invalid={describedBy !== undefined || undefined}
        max={most}
        min={1}
        onChange={({ target }) => onChange(target.value)}
        type="number"
        value={value}
      />
    </Field>
  )
}
