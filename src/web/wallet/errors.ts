import { t } from '@lingui/core/macro'
import type { Trouble } from '../payment/order.ts'
import { WalletTimeout } from './bounded.ts'

/** What wallets and RPCs say when they do not do what was asked. */
export type WalletSignal =
  | 'rejected'
  | 'request_pending'
  | 'unknown_chain'
  | 'wrong_chain'
  | 'add_chain_failed'
  | 'unauthorized'
  | 'disconnected'
  | 'unsupported'
  | 'insufficient_funds'
  | 'refused_transaction'
  | 'blockhash_expired'
  | 'blockhash_expired_sent'
  | 'rpc_down'
  | 'timeout'
  | 'unclear'

/** After these it is certain that the wallet passed nothing on. */
const NOTHING_SENT: ReadonlySet<WalletSignal> = new Set([
  'rejected',
  'request_pending',
  'unknown_chain',
  'wrong_chain',
  'add_chain_failed',
  'unauthorized',
  'disconnected',
  'unsupported',
  'insufficient_funds',
  'refused_transaction',
  'blockhash_expired',
])

type Words = { title: string; body: string }

const words: Readonly<Record<WalletSignal, (wallet: string) => Words>> = {
  rejected: (wallet) => ({ title: t`You cancelled in ${wallet}.`, body: t`Nothing was sent.` }),
  request_pending: (wallet) => ({
    title: t`Open ${wallet}: a request is already waiting.`,
    body: t`Answer or reject it there, then come back. Nothing was sent.`,
  }),
  unknown_chain: (wallet) => ({
    title: t`${wallet} does not have this network yet.`,
    body: t`Add the network in ${wallet}, then sign again. Nothing was sent.`,
  }),
  wrong_chain: (wallet) => ({
    title: t`${wallet} is on another network.`,
    body: t`Switch ${wallet} to the network of this payment, then sign again. Nothing was sent.`,
  }),
  add_chain_failed: (wallet) => ({
    title: t`The network could not be added to ${wallet}.`,
    body: t`Add it in ${wallet} by hand, then sign again. Nothing was sent.`,
  }),
  unauthorized: (wallet) => ({
    title: t`${wallet} has not let this page use the account.`,
    body: t`Unlock ${wallet} and connect the account again. Nothing was sent.`,
  }),
  disconnected: (wallet) => ({ title: t`${wallet} is disconnected.`, body: t`Open and unlock ${wallet}, then sign again. Nothing was sent.` }),
  unsupported: (wallet) => ({ title: t`${wallet} cannot do this.`, body: t`Pay with another wallet. Nothing was sent.` }),
  insufficient_funds: () => ({ title: t`The account does not hold enough.`, body: t`It must cover the amount and the network fee. Nothing was sent.` }),
  refused_transaction: (wallet) => ({ title: t`${wallet} refused the transaction.`, body: t`Nothing was sent. Prepare it again, or pay with another wallet.` }),
  blockhash_expired: () => ({ title: t`The transaction took too long.`, body: t`Nothing was sent. It can be prepared again in one tap.` }),
  blockhash_expired_sent: () => ({
    title: t`Checking whether it landed.`,
    body: t`The time to land is nearly over. Nothing is prepared anew until the chain shows that it cannot land.`,
  }),
  rpc_down: () => ({ title: t`The network does not answer.`, body: t`Your connection to the chain is down. It is tried again by itself.` }),
  timeout: (wallet) => ({
    title: t`${wallet} did not answer.`,
    body: t`It may still send the payment. Look into ${wallet}; this page keeps checking the chain.`,
  }),
  unclear: (wallet) => ({ title: t`${wallet} gave an unclear answer.`, body: t`The payment may have been sent. This page keeps checking the chain.` }),
}

/** A wallet did not do what was asked, in words for the person. */
export class WalletProblem extends Error {
  override name = 'WalletProblem'
  readonly signal: WalletSignal
  readonly walletName: string

  constructor(signal: WalletSignal, walletName: string, options?: ErrorOptions) {
    const { title, body } = words[signal](walletName)
    super(`${title} ${body}`, options)
    this.signal = signal
    this.walletName = walletName
  }
}

export function describeSignal(signal: WalletSignal, walletName: string): Trouble {
  return { code: signal.toUpperCase(), ...words[signal](walletName) }
}

export function isNothingSent(signal: WalletSignal): boolean {
  return NOTHING_SENT.has(signal)
}

/** What an error thrown by a wallet or an RPC means. Codes count before texts, the innermost code before the wrapper's. */
export function signalOf(error: unknown): WalletSignal {
  if (error instanceof WalletProblem) return error.signal
  if (error instanceof WalletTimeout) return 'timeout'
  for (const layer of layersOf(error)) {
    const signal = layer.code === undefined ? undefined : signalsByCode.get(layer.code)
    if (signal) return signal
  }
  const text = layersOf(error)
    .map((layer) => layer.message)
    .join(' ')
  return signalsByText.find(([pattern]) => pattern.test(text))?.[1] ?? 'unclear'
}

/** A problem for the person, made of anything thrown. */
export function walletProblem(error: unknown, walletName: string): WalletProblem {
  return error instanceof WalletProblem ? error : new WalletProblem(signalOf(error), walletName, { cause: error })
}

const signalsByCode: ReadonlyMap<number, WalletSignal> = new Map([
  [4001, 'rejected'],
  [5000, 'rejected'],
  [-32002, 'request_pending'],
  [4902, 'unknown_chain'],
  [4100, 'unauthorized'],
  [4200, 'unsupported'],
  [-32601, 'unsupported'],
  [-32602, 'refused_transaction'],
  [4900, 'disconnected'],
  [4901, 'wrong_chain'],
])

const signalsByText: readonly (readonly [RegExp, WalletSignal])[] = [
  [/insufficient (funds|lamports|balance)/i, 'insufficient_funds'],
  [/user (rejected|denied|cancell?ed)|rejected (by|the) (user|request)|approval denied|WalletWindowClosed|plugin closed/i, 'rejected'],
  [/already (pending|processing)|request of type .* already/i, 'request_pending'],
  [/blockhash ?not ?found|block height exceeded|TransactionExpired/i, 'blockhash_expired'],
  [/unrecognized chain|unknown chain/i, 'unknown_chain'],
  [/not been authorized|unauthorized|WalletNotConnected|wallet is locked/i, 'unauthorized'],
  [/failed to fetch|fetch failed|networkerror|load failed|ECONNREFUSED|timed? ?out/i, 'rpc_down'],
]

type Layer = { code: number | undefined; message: string }

/** An error and what it wraps, innermost first: wallets hide codes in `cause`, `data.originalError`, `error` and `data`. */
function layersOf(error: unknown): Layer[] {
  const layers: Layer[] = []
  const seen = new Set<unknown>()
  const visit = (value: unknown) => {
    if (typeof value !== 'object' || value === null || seen.has(value) || seen.size > 20) return
    seen.add(value)
    for (const key of ['cause', 'originalError', 'data', 'error']) visit(Reflect.get(value, key))
    const code: unknown = Reflect.get(value, 'code')
    const message: unknown = Reflect.get(value, 'message')
    const name: unknown = Reflect.get(value, 'name')
    layers.push({ code: typeof code === 'number' ? code : undefined, message: [name, message].filter((part) => typeof part === 'string').join(' ') })
  }
  visit(error)
  return typeof error === 'string' ? [{ code: undefined, message: error }] : layers
}
