import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import * as v from 'valibot'
import { formatAmount, parseAmount } from '#contract/amount.ts'
import { decodeTransaction } from '#chains/solana/decode.ts'
import { endpoints } from '#contract/endpoints.ts'
import { LosslessNumber } from '#contract/json.ts'
import { familyOf, findAsset, type Asset, type Network } from '#contract/network.ts'
import { renderDecodeProblem } from '#contract/render-en.ts'
import { Eip3009Payload, Permit2Payload } from '#x402/authorization.ts'
import { decodeBase64 } from '#x402/header.ts'
import {
  EIP3009_METHOD,
  EXACT_SCHEME,
  methodsOf,
  PERMIT2_METHOD,
  TXID_METHOD,
  UPFRONT_FLOW,
} from '#x402/methods.ts'
import { decodePayload, methodOf, networkNameOf, type PaymentPayload } from '#x402/payload.ts'
import { readNetwork } from '#x402/networks.ts'
import { writeChallenge, type Requirements } from '#x402/requirements.ts'
import { sellerNetworks } from '../config/seller-networks.ts'
import type { ProxyContext } from '../context/context.ts'
import type { FileRow } from '../db/files.ts'

/** A payment must land within this time, in seconds. */
const LANDS_WITHIN_S = 300
/** What the service said of its networks and tokens is asked again after this long. */
const KNOWN_MS = 30_000
/** Where it could not be asked, this soon: nobody pays with an answer that is missing. */
const FAILED_MS = 5_000

/** One way to pay for a file over x402. */
export type FilePaymentOption = {
  network: Network
  asset: Asset
  /** `extra.assetTransferMethod`; undefined for the scheme's default. */
  method: string | undefined
  amountAtomic: bigint
  payTo: string
  extra: Record<string, unknown>
}

/** Where programs get a file. Its payments are for this resource. */
export function urlOf({ config }: Pick<ProxyContext, 'config'>, code: string): string {
  return `${config.files?.publicUrl ?? ''}/api/file/${code}`
}

/** A price in atomic units, on each network where the merchant is paid and that has the currency. */
export function priceWays(
  config: ProxyContext['config'],
  { currency, amount }: { currency: string; amount: string },
): Pick<FilePaymentOption, 'network' | 'asset' | 'amountAtomic' | 'payTo'>[] {
  return sellerNetworks(config).flatMap(({ network, recipient: payTo }) => {
    const asset = network.assets.find(({ symbol }) => symbol === currency)
    const units = asset && parseAmount(amount, asset.decimals)
    return asset && units?.ok ? [{ network, asset, amountAtomic: units.atomic, payTo }] : []
  })
}

/**
 * Every way to pay for a file that the service settles now. Tokens come first: every client of x402
 * pays them, and takes the first offer that it understands.
 */
export async function offersOf(
  context: ProxyContext,
  file: Pick<FileRow, 'prices'>,
  requestId: string,
): Promise<FilePaymentOption[]> {
  const ways = file.prices.flatMap((price) => priceWays(context.config, price))
  const offers = await Promise.all(ways.map((way) => offersOfWay(context, way, requestId)))
  return offers.flat().toSorted((a, b) => Number(a.asset.native) - Number(b.asset.native))
}

type Way = ReturnType<typeof priceWays>[number]

/**
 * A Solana transaction that was sent already, and a raw one of ETH, carry no word of their payer:
 * anybody who reads one on the chain or in the pool could present it.
 */
async function offersOfWay(
  context: ProxyContext,
  way: Way,
  requestId: string,
): Promise<FilePaymentOption[]> {
  const { network, asset } = way
  const settled = (await readSupported(context, requestId)).get(network.network)
  const usable = (method: string) => settled?.methods.includes(method) ?? false
  const methods = methodsOf(network.network, asset).filter(usable)
  if (asset.native)
    return methods
      .filter((method) => (method === TXID_METHOD) === (familyOf(network.network) === 'evm'))
      .map((method) => ({ ...way, method, extra: {} }))
  if (familyOf(network.network) === 'solana') {
    const { feePayer } = settled ?? {}
    return methods.length === 0 || feePayer === undefined
      ? []
      : [{ ...way, method: undefined, extra: { feePayer } }]
  }
  const domain = await readDomain(context, way, requestId)
  // A token that takes authorizations needs no approval of the payer: the other method is left out.
  return methods
    .filter((method) => (method === EIP3009_METHOD) === (domain !== null))
    .map((method) => ({ ...way, method, extra: { ...domain } }))
}

type Supported = Map<string, { methods: readonly string[]; feePayer: string | undefined }>
/** `good`: the last answer that was one. */
type Known = { until: number; value: Promise<unknown>; good: unknown }
const known = new WeakMap<ProxyContext['upstream'], Map<string, Known>>()

/**
 * Asks the service once for all visitors, and again later.
 * @param lasting whether an answer stays good where a later one fails
 */
function remember<T>(
  { upstream }: Pick<ProxyContext, 'upstream'>,
  { key, lasting }: { key: string; lasting: boolean },
  read: () => Promise<T>,
): Promise<T> {
  const mine = known.get(upstream) ?? new Map<string, Known>()
  known.set(upstream, mine)
  const before = mine.get(key)
  // A key belongs to one kind of question.
  if (before && performance.now() < before.until) return before.value as Promise<T>
  const value = read().then(
    (good) => {
      entry.good = good
      return good
    },
    (error: unknown) => {
      entry.until = performance.now() + FAILED_MS
      if (lasting && entry.good !== undefined) return entry.good as T
      throw error
    },
  )
  const entry: Known = { until: performance.now() + KNOWN_MS, value, good: before?.good }
  mine.set(key, entry)
  return value
}

function readSupported(context: ProxyContext, requestId: string): Promise<Supported> {
  return remember(context, { key: 'supported', lasting: false }, async () => {
    const { kinds } = await context.upstream.requestOwn(endpoints.facilitatorSupported, {
      requestId,
    })
    return new Map(
      kinds
        .filter(({ x402Version }) => x402Version === 2)
        .map(({ network, extra }) => {
          const { assetTransferMethods: methods, feePayer } = extra
          return [
            network,
            {
              methods: Array.isArray(methods) ? methods.map(String) : [],
              feePayer: typeof feePayer === 'string' ? feePayer : undefined,
            },
          ]
        }),
    )
  })
}

function readDomain(
  context: ProxyContext,
  { network, asset }: Way,
  requestId: string,
): Promise<{ name: string; version: string } | null> {
  // The domain of a token does not change.
  const question = { key: `${network.network} ${asset.address}`, lasting: true }
  return remember(context, question, async () => {
    const request = {
      params: { mintAddress: asset.address },
      query: { network: network.network },
      requestId,
    }
    return (await context.upstream.requestOwn(endpoints.tokenInfo, request)).signingDomain
  })
}

/** What a 402 says: version 2 in its header, version 1 in its body. */
export function challengeOf(
  context: ProxyContext,
  file: FileRow,
  { offers, error }: { offers: readonly FilePaymentOption[]; error: string },
): { header: string; body: object } {
  const memo = createMemo(file)
  const accepts = offers.map((option) => requirementsOf(option, memo))
  const resource = {
    url: urlOf(context, file.code),
    description: file.name,
    mimeType: file.mimeType,
  }
  return {
    header: writeChallenge({ error, resource, accepts }).header,
    body: writeChallenge({ error, resource, accepts }).body,
  }
}

function requirementsOf(
  { network, asset, method, amountAtomic, payTo, extra }: FilePaymentOption,
  memo: string,
): Requirements {
  return {
    scheme: EXACT_SCHEME,
    network: network.network,
    amount: amountAtomic.toString(),
    asset: asset.address,
    payTo,
    maxTimeoutSeconds: LANDS_WITHIN_S,
    extra: {
      ...(method !== undefined && { assetTransferMethod: method }),
      ...(asset.native && { paymentFlow: UPFRONT_FLOW, confirmations: network.confirmations }),
      ...(familyOf(network.network) === 'solana' && { memo }),
      symbol: asset.symbol,
      decimals: asset.decimals,
      ...extra,
    },
  }
}

/** Ties a transaction on Solana to a file, without naming it on the chain. */
function createMemo(file: Pick<FileRow, 'memoKey'>): string {
  const nonce = randomBytes(12).toString('base64url')
  return `${nonce}.${codeOf(file, nonce)}`
}

/** Stands for an address without telling it. */
export function presenterOf(file: Pick<FileRow, 'memoKey'>, address: string): string {
  return codeOf(file, `presenter ${address}`)
}

function holdsMemo(file: Pick<FileRow, 'memoKey'>, memo: string): boolean {
  const [nonce = '', code = ''] = memo.split('.')
  const [given, made] = [Buffer.from(code), Buffer.from(codeOf(file, nonce))]
  return given.length === made.length && timingSafeEqual(given, made)
}

function codeOf({ memoKey }: Pick<FileRow, 'memoKey'>, nonce: string): string {
  const key = Buffer.from(memoKey, 'base64url')
  return createHmac('sha256', key).update(nonce).digest('base64url').slice(0, 22)
}

/**
 * `proof`: what identifies the payment; null for `txid`, and where the payment is not one of the
 * offer. `readable: false`: the header holds no x402 payment at all.
 */
export type ProofReading =
  | {
      ok: true
      question: Record<string, unknown>
      paymentOption: FilePaymentOption
      proof: string | null
    }
  | { ok: false; readable: boolean; reason: string; message: string }

/**
 * Turns a payment into a question to the service, by the terms of this file: what a payer says of
 * amount and payee is never read.
 */
export function readProof(
  context: ProxyContext,
  file: FileRow,
  { header, offers }: { header: string; offers: readonly FilePaymentOption[] },
): ProofReading {
  const decoded = decodePayload(header)
  if (!decoded.ok)
    return {
      ok: false,
      readable: false,
      reason: 'malformed',
      message: renderDecodeProblem(decoded.problem),
    }
  const { payload: payment } = decoded
  const transaction = readTransaction(payment)
  const paymentOption = offers.find((each) => isPaidBy(each, payment, transaction))
  if (!paymentOption)
    return {
      ok: false,
      readable: true,
      reason: 'unsupported_method',
      message: 'This file is not sold for that. Pay one of the offers.',
    }
  const memo = memoOf(payment, transaction)
  const { network, asset, amountAtomic, payTo } = paymentOption
  return {
    ok: true,
    paymentOption,
    proof: identify(paymentOption, payment, transaction),
    question: {
      walletAddress: payTo,
      paymentProof: header,
      expectedAmount: new LosslessNumber(formatAmount(amountAtomic, asset.decimals)),
      network: network.network,
      asset: asset.address,
      resource: urlOf(context, file.code),
      // A payment from before the file was sold pays for something else.
      notBefore: file.createdAt.getTime(),
      ...(memo !== undefined && holdsMemo(file, memo) && { memo }),
    },
  }
}

type Decoded = ReturnType<typeof decodeTransaction> | undefined

function isPaidBy(
  paymentOption: FilePaymentOption,
  payment: PaymentPayload,
  transaction: Decoded,
): boolean {
  const network = readNetwork(networkNameOf(payment), payment.x402Version)
  if (paymentOption.network.network !== network) return false
  if (payment.x402Version === 2)
    return (
      findAsset(paymentOption.network, payment.accepted.asset) === paymentOption.asset &&
      paymentOption.method === methodOf(payment)
    )
  if (!transaction) return paymentOption.method === methodOf(payment)
  // A transaction of version 1 says by what it does which offer it pays.
  const native = transaction.ok && transaction.operations.some(({ kind }) => kind === 'transfer')
  return paymentOption.asset.native === native
}

function memoOf(payment: PaymentPayload, transaction: Decoded): string | undefined {
  if (payment.x402Version === 2) {
    const { memo } = payment.accepted.extra
    return typeof memo === 'string' ? memo : undefined
  }
  return transaction?.ok
    ? transaction.operations.find((operation) => operation.kind === 'memo')?.text
    : undefined
}

/** The Solana transaction in a payment, if there is one. */
function readTransaction(payment: PaymentPayload): Decoded {
  const { transaction } = payment.payload
  const bytes = typeof transaction === 'string' ? decodeBase64(transaction) : undefined
  return bytes && decodeTransaction(bytes)
}

/**
 * What identifies a payment of an offer on its network, in every spelling of its proof. Whether its
 * signatures are good is for the service to say.
 */
function identify(
  { network, asset, method, payTo, amountAtomic }: FilePaymentOption,
  { payload }: PaymentPayload,
  transaction: Decoded,
): string | null {
  const named = (pays: boolean, name: string) => (pays ? `${network.network} ${name}` : null)
  if (method === EIP3009_METHOD) {
    const { success, output } = v.safeParse(Eip3009Payload, payload)
    if (!success) return null
    const { from, to, value, nonce } = output.authorization
    const pays = to === payTo && value === amountAtomic
    return named(pays, `${asset.address} ${from} ${nonce}`)
  }
  if (method === PERMIT2_METHOD) {
    const { success, output } = v.safeParse(Permit2Payload, payload)
    if (!success) return null
    const { from, nonce, permitted, witness } = output.permit2Authorization
    const pays =
      witness.to === payTo && permitted.amount === amountAtomic && permitted.token === asset.address
    return named(pays, `permit2 ${from} ${nonce}`)
  }
  if (!transaction?.ok) return null
  const pays = transaction.operations.some((operation) =>
    operation.kind === 'transfer'
      ? asset.native && operation.to === payTo && operation.lamports === amountAtomic
      : operation.kind === 'token_transfer' &&
        operation.mint === asset.address &&
        operation.amountAtomic === amountAtomic,
  )
  return named(pays, createHash('sha256').update(transaction.message).digest('hex'))
}
