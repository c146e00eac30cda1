import { joinMessage } from '../../errors/row.ts'
import { describeUserError, type WalletSignal } from '../../errors/error-messages.ts'
import { ReaderError } from '../../locales/reader-error.ts'
import { WalletTimeoutError } from './bounded.ts'

/** A wallet did not do what was asked, in words for the person. */
export class WalletError extends ReaderError {
  override name = 'WalletError'
  readonly signal: WalletSignal
  readonly walletName: string

  constructor(signal: WalletSignal, walletName: string, options?: ErrorOptions) {
    super(joinMessage(describeUserError(signal, walletName)), options)
    this.signal = signal
    this.walletName = walletName
  }
}

/** What an error thrown by a wallet or an RPC means. Codes count before texts, the innermost code before the wrapper's. */
export function signalOf(error: unknown): WalletSignal {
  if (error instanceof WalletError) return error.signal
  if (error instanceof WalletTimeoutError) return 'timeout'
  const layers = layersOf(error)
  for (const { code, message } of layers) {
    if (code === RESOURCE_UNAVAILABLE) return signalOfText(message)
    const signal = code === undefined ? undefined : signalsByCode.get(code)
    if (signal) return signal
  }
  return signalOfText(layers.map(({ message }) => message).join(' '))
}

function signalOfText(text: string): WalletSignal {
  return signalsByText.find(([pattern]) => pattern.test(text))?.[1] ?? 'unclear'
}

/** A problem for the person, made of anything thrown. */
export function walletProblem(error: unknown, walletName: string): WalletError {
  return error instanceof WalletError
    ? error
    : new WalletError(signalOf(error), walletName, { cause: error })
}

/** Wallets say by it that a request is open, nodes that their time ran out, perhaps after they took the transaction: its own text decides. */
const RESOURCE_UNAVAILABLE = -32002

const signalsByCode: ReadonlyMap<number, WalletSignal> = new Map([
  [4001, 'rejected'],
  [5000, 'rejected'],
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
  [
    /user (rejected|denied|cancell?ed)|rejected (by|the) (user|request)|approval denied|WalletWindowClosed|plugin closed/i,
    'rejected',
  ],
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
  const collect = (value: unknown) => {
    if (typeof value !== 'object' || value === null || seen.has(value) || seen.size > 20) return
    seen.add(value)
    for (const key of ['cause', 'originalError', 'data', 'error']) collect(Reflect.get(value, key))
    const code: unknown = Reflect.get(value, 'code')
    const message: unknown = Reflect.get(value, 'message')
    const name: unknown = Reflect.get(value, 'name')
    layers.push({
      code: typeof code === 'number' ? code : undefined,
      message: [name, message].filter((part) => typeof part === 'string').join(' '),
    })
  }
  collect(error)
  return typeof error === 'string' ? [{ code: undefined, message: error }] : layers
}
