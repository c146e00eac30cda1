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

type Words = {
  title: string
  body: string
  /** Whether it is certain that the wallet passed nothing on. */
  nothingSent: boolean
}

/** `{wallet}` is filled in with the wallet's name. */
const words: Readonly<Record<WalletSignal, Words>> = {
  rejected: { title: 'You cancelled in {wallet}.', body: 'Nothing was sent.', nothingSent: true },
  request_pending: {
    title: 'Open {wallet}: a request is already waiting.',
    body: 'Answer or reject it there, then come back. Nothing was sent.',
    nothingSent: true,
  },
  unknown_chain: {
    title: '{wallet} does not have this network yet.',
    body: 'Add the network in {wallet}, then sign again. Nothing was sent.',
    nothingSent: true,
  },
  wrong_chain: {
    title: '{wallet} is on another network.',
    body: 'Switch {wallet} to the network of this payment, then sign again. Nothing was sent.',
    nothingSent: true,
  },
  add_chain_failed: {
    title: 'The network could not be added to {wallet}.',
    body: 'Add it in {wallet} by hand, then sign again. Nothing was sent.',
    nothingSent: true,
  },
  unauthorized: {
    title: '{wallet} has not let this page use the account.',
    body: 'Unlock {wallet} and connect the account again. Nothing was sent.',
    nothingSent: true,
  },
  disconnected: { title: '{wallet} is disconnected.', body: 'Open and unlock {wallet}, then sign again. Nothing was sent.', nothingSent: true },
  unsupported: { title: '{wallet} cannot do this.', body: 'Pay with another wallet. Nothing was sent.', nothingSent: true },
  insufficient_funds: {
    title: 'The account does not hold enough.',
    body: 'It must cover the amount and the network fee. Nothing was sent.',
    nothingSent: true,
  },
  refused_transaction: {
    title: '{wallet} refused the transaction.',
    body: 'Nothing was sent. Prepare it again, or pay with another wallet.',
    nothingSent: true,
  },
  blockhash_expired: { title: 'The transaction took too long.', body: 'Nothing was sent. It can be prepared again in one tap.', nothingSent: true },
  blockhash_expired_sent: {
    title: 'Checking whether it landed.',
    body: 'The time to land is nearly over. Nothing is prepared anew until the chain shows that it cannot land.',
    nothingSent: false,
  },
  rpc_down: { title: 'The network does not answer.', body: 'Your connection to the chain is down. It is tried again by itself.', nothingSent: false },
  timeout: {
    title: '{wallet} did not answer.',
    body: 'It may still send the payment. Look into {wallet}; this page keeps checking the chain.',
    nothingSent: false,
  },
  unclear: { title: '{wallet} gave an unclear answer.', body: 'The payment may have been sent. This page keeps checking the chain.', nothingSent: false },
}

/** A wallet did not do what was asked, in words for the person. */
export class WalletProblem extends Error {
  override name = 'WalletProblem'
  readonly signal: WalletSignal
  readonly walletName: string

  constructor(signal: WalletSignal, walletName: string, options?: ErrorOptions) {
    super(`${describeSignal(signal, walletName).title} ${describeSignal(signal, walletName).body}`, options)
    this.signal = signal
    this.walletName = walletName
  }
}

export function describeSignal(signal: WalletSignal, walletName: string): Trouble {
  const { title, body } = words[signal]
  return { code: signal.toUpperCase(), title: title.replaceAll('{wallet}', walletName), body: body.replaceAll('{wallet}', walletName) }
}

export function isNothingSent(signal: WalletSignal): boolean {
  return words[signal].nothingSent
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
