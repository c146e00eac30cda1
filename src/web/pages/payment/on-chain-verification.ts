import { t } from '@lingui/core/macro'
import * as v from 'valibot'
import { useQuery } from '@tanstack/react-query'
import type { PaymentIntent } from '#chains/match.ts'
import { formatAmount, parseAmount } from '#contract/amount.ts'
import { moneyOf } from '#contract/facts.ts'
import { familyOf, findAsset, nativeAsset, type Network } from '#contract/network.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { isPaid } from '#contract/payment.ts'
import { MOST_PIECES, quoteOf, RATE_DECIMALS } from '#contract/quote.ts'
import type { Receipt } from '#contract/receipt.ts'
import { usePreferences } from '../../local-data/preferences.ts'
import { i18n } from '../../locales/i18n.ts'
import { formatDecodeProblem, formatMoney } from '../../payment-intent/fact-values.ts'
import { descriptionOf, referenceOf } from '../../payment-view/describe-row.ts'
import { FIELD_NAMES, formatMatchFact } from '../../payment-intent/match-facts.ts'
import { RpcError, rpcUrlOf } from '../../rpc/call.ts'
import { chooseNode, type CheckedNode } from '../../rpc/check-node.ts'
import type { Moved } from '../../rpc/read-landed.ts'

export type VerificationRow = { name: string; record: string; chain: string; ok: boolean }

/** The browser's own node compared with the service's record. Only `matches` is a match. */
export type OnChainVerification =
  | { kind: 'matches' | 'differs'; rows: VerificationRow[] }
  | { kind: 'contradicted'; body: string }
  /** `soon`: one of the two is behind the other, so another reading will decide. */
  | { kind: 'nothing'; body: string; soon: boolean }
  | { kind: 'unavailable'; body: string }

/**
 * The account that settles a submitted proof executes it, in any kind of call and with its own
 * memo: the service has checked how. The on-chain transaction is judged by what it moved.
 */
const EFFECT: ReadonlySet<string> = new Set(['network', 'sender', 'recipient', 'amount', 'asset'])
const NETWORK: ReadonlySet<string> = new Set(['network'])

/**
 * Reads the payment's transaction from the reader's own endpoint and compares it with the service's record. Never
 * throws for a node's fault.
 */
export async function verifyOnChain(
  payment: PaymentStatusBody,
  network: Network,
): Promise<
  OnChainVerification & { /** Of the endpoint that was asked; empty where none was. */ url: string }
> {
  const { signature } = payment
  if (!signature) return { url: '', kind: 'nothing', soon: false, body: t`No known transaction.` }
  const { url, node } = await chooseNode(network)
  return { url, ...(await compare({ ...payment, signature }, network, { url, node })) }
}

async function compare(
  payment: PaymentStatusBody & { signature: string },
  network: Network,
  { url, node }: CheckedNode,
): Promise<OnChainVerification> {
  const { signature, status } = payment
  const native = nativeAsset(network)
  const asset = findAsset(network, payment.asset)
  if (!asset)
    return {
      kind: 'unavailable',
      body: t`Currency not configured.`,
    }
  const intent = {
    paymentId: payment.paymentId,
    network: payment.network,
    asset,
    currency: native,
    sender: payment.sender,
    recipient: payment.recipient,
    amountAtomic: BigInt(payment.amountAtomic),
    maxFeeAtomic: BigInt(payment.fee?.amountAtomic ?? 0),
  }
  try {
    if (!node.ok) return { kind: 'unavailable', body: node.problem }
    const chain = await import('../../rpc/read-landed.ts')
    const landed =
      familyOf(network.network) === 'evm'
        ? await chain.readEvmLanded({ network, url }, signature, intent)
        : await chain.readSolanaLanded({ network, url }, signature, intent)
    if (landed.kind === 'unreadable')
      return { kind: 'contradicted', body: formatDecodeProblem(landed.problem) }
    if (landed.kind === 'absent') return absent(payment, node.position)
    if (!landed.succeeded && isOpen(status))
      return {
        kind: 'nothing',
        soon: true,
        body: t`Failed on your RPC endpoint. Nothing was paid.`,
      }
    const formatAtomic = (atomic: bigint | string) => formatMoney(moneyOf(atomic, native))
    const handedIn = payment.mode === 'received'
    const comparedFields = handedIn ? (landed.moved === undefined ? EFFECT : NETWORK) : undefined
    const rows = landed.match.rows
      .filter(({ field }) =>
        comparedFields
          ? comparedFields.has(field)
          : field !== 'fee' && field !== 'expiry' && field !== 'instructions',
      )
      .map(({ field, expected, got, ok }) => ({
        name: i18n._(FIELD_NAMES[field]),
        record: formatMatchFact(expected),
        chain: field === 'network' ? node.identity : formatMatchFact(got),
        ok,
      }))
    if (handedIn && landed.moved) rows.push(...movedRows(intent, landed.moved))
    const effect = handedIn
      ? undefined
      : landed.match.rows.find(({ field }) => field === 'instructions')
    // If the chain moved nothing, it confirms a payment that the service calls failed.
    if (status === 'failed' || !landed.succeeded)
      rows.push(row(t`Outcome`, outcome(status !== 'failed'), outcome(landed.succeeded)))
    else if (effect)
      rows.push({
        name: t`Action`,
        record: formatMatchFact(effect.expected),
        chain: formatMatchFact(effect.got),
        ok: effect.ok,
      })
    if (payment.fee?.ofTransaction)
      rows.push(
        row(t`Network fee`, formatAtomic(payment.fee.amountAtomic), formatAtomic(landed.feeAtomic)),
      )
    // An unconfirmed transaction may still move to another block.
    if (payment.blockHeight !== null && !isOpen(status))
      rows.push(
        row(
          familyOf(network.network) === 'evm' ? t`Block` : t`Slot`,
          String(payment.blockHeight),
          String(landed.blockHeight),
        ),
      )
    const same = rows.every(({ ok }) => ok)
    if (same && (status === 'rolled_back' || status === 'expired'))
      return {
        kind: 'nothing',
        soon: true,
        body: t`On the chain, not counted by the service yet.`,
      }
    return { kind: same ? 'matches' : 'differs', rows }
  } catch (error) {
    if (error instanceof RpcError) return { kind: 'unavailable', body: error.message }
    if (error instanceof v.ValiError) return { kind: 'unavailable', body: t`Unexpected answer.` }
    throw error
  }
}

/** The transfers that a token logged, compared with the service's record. */
function movedRows(
  { sender, recipient, amountAtomic, asset }: PaymentIntent,
  { moves, exactly: ok }: Moved,
): VerificationRow[] {
  const found = moves.filter(({ from, to }) => from === sender || to === recipient)
  const list = (values: readonly string[]) => [...new Set(values)].join(', ') || t`nobody`
  const formatAtomic = (atomic: bigint) => formatMoney(moneyOf(atomic, asset))
  const total = found.reduce((sum, move) => sum + move.amountAtomic, 0n)
  return [
    { name: t`From`, record: sender, chain: list(found.map(({ from }) => from)), ok },
    { name: t`To`, record: recipient, chain: list(found.map(({ to }) => to)), ok },
    { name: t`Amount`, record: formatAtomic(amountAtomic), chain: formatAtomic(total), ok },
  ]
}

function isOpen(status: PaymentStatusBody['status']): boolean {
  return status === 'created' || status === 'pending'
}

/** `position`: the node's height, in the unit of the payment's height. */
function absent({ status, blockHeight }: PaymentStatusBody, position: number): OnChainVerification {
  if (isPaid(status)) {
    const behind = blockHeight !== null && position < blockHeight
    if (behind)
      return {
        kind: 'nothing',
        soon: true,
        body: t`Your RPC endpoint lags behind the service.`,
      }
    return {
      kind: 'contradicted',
      body: t`Not found on your RPC endpoint.`,
    }
  }
  if (isOpen(status))
    return {
      kind: 'nothing',
      soon: true,
      body: t`Not found on your RPC endpoint.`,
    }
  return {
    kind: 'nothing',
    soon: false,
    body: t`Not on the chain.`,
  }
}

function outcome(succeeded: boolean): string {
  return succeeded ? t`succeeded` : t`failed`
}

function row(name: string, record: string, chain: string): VerificationRow {
  return { name, record, chain, ok: record === chain }
}

const SOON_MS = 4_000
/** A node behind many may answer from one that is late. */
const LATER_MS = 20_000

/** What the reader's own node says of a payment; asked once, for the card and for the receipt. */
export function useOnChainVerification(payment: PaymentStatusBody, network: Network) {
  usePreferences()
  const query = useQuery({
    queryKey: [
      'on_chain_verification',
      payment.paymentId,
      payment.signature,
      payment.status,
      payment.blockHeight,
      rpcUrlOf(network),
    ],
    queryFn: () => verifyOnChain(payment, network),
    staleTime: 60_000,
    refetchInterval: ({ state: { data } }) =>
      data?.kind === 'nothing' ? data.soon && SOON_MS : data?.kind === 'contradicted' && LATER_MS,
  })
  return { ...query, url: query.data?.url || rpcUrlOf(network) }
}

/** The receipt of a payment as the service records it; nothing while it is not paid. Whether the chain bears it out is for the caller to see first. */
export function recordedReceiptOf(payment: PaymentStatusBody): Omit<Receipt, 'signed'> | undefined {
  const { status, signature, blockHeight } = payment
  const quote = quoteOf(payment.metadata)
  if (
    (status !== 'confirmed' && status !== 'finalized') ||
    signature === null ||
    blockHeight === null
  )
    return undefined
  return {
    receipt: 'paydesk/2',
    paymentId: payment.paymentId,
    network: payment.network,
    transaction: signature,
    height: blockHeight,
    blockHash: null,
    status,
    payer: payment.sender,
    recipient: payment.recipient,
    amount: formatAmount(BigInt(payment.amountAtomic), payment.decimals),
    amountAtomic: payment.amountAtomic,
    asset: payment.asset,
    symbol: payment.symbol,
    decimals: payment.decimals,
    feeAtomic: payment.fee?.ofTransaction ? payment.fee.amountAtomic : null,
    resource: payment.resource,
    description: descriptionOf(payment),
    reference: referenceOf(payment),
    ...quantityOf(payment),
    ...(quote && { quote }),
    orderedAt: payment.timestamp,
  }
}

/** Only the proxy writes either of them: `pieces` where there are several. */
const LinkPieces = v.object({
  paymentLink: v.string(),
  pieces: v.pipe(v.number(), v.integer(), v.minValue(2), v.maxValue(MOST_PIECES)),
})

/** Of a link that sells pieces, as the proxy recorded it: the price of one is its share of what was asked for. */
function quantityOf({
  metadata,
  amountAtomic,
  decimals,
  symbol,
}: PaymentStatusBody): Pick<Receipt, 'quantity'> {
  const read = v.safeParse(LinkPieces, metadata)
  if (!read.success) return {}
  const { pieces } = read.output
  const quote = quoteOf(metadata)
  const total = quote
    ? parseAmount(quote.amount, RATE_DECIMALS)
    : { ok: true as const, atomic: BigInt(amountAtomic) }
  if (!total.ok || total.atomic % BigInt(pieces) !== 0n) return {}
  const amount = formatAmount(total.atomic / BigInt(pieces), quote ? RATE_DECIMALS : decimals)
  const kind = quote ? 'fiat' : 'asset'
  return { quantity: { pieces, price: { kind, currency: quote?.currency ?? symbol, amount } } }
}
