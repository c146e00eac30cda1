import { t } from '@lingui/core/macro'
import { parseJson, stringifyJson } from '#contract/json.ts'
import { chainIdOf, familyOf, type Network } from '#contract/network.ts'
import { getPreferences } from '../local-data/preferences.ts'
import { ReaderError } from '../locales/reader-error.ts'

const TIMEOUT_MS = 10_000
/** An endpoint that failed is asked last for this long, so that a silent one delays one call and not each. */
const DEPRIORITIZED_MS = 30_000
/** Codes by which an endpoint says that it could not do what another one may: internal error, limit exceeded. */
const TRANSIENT_CODES: ReadonlySet<unknown> = new Set([-32_603, -32_005, 429])

/** A node that could not be asked, or answered with an error. Its message is a sentence for the reader. */
export class RpcError extends ReaderError {
  override name = 'RpcError'
  /** The node answered, and said no: to a call, as the contract would. `cause` is its error. */
  readonly refused: boolean

  constructor(
    message: string,
    { refused = false, ...options }: ErrorOptions & { refused?: boolean } = {},
  ) {
    super(message, options)
    this.refused = refused
  }
}

/** The node this browser asks: the reader's own choice before the configured one. */
export function rpcUrlOf(network: Network): string {
  return getPreferences().rpcUrls[network.network] ?? network.rpcUrls[0] ?? ''
}

const failedAt = new Map<string, number>()

/**
 * The endpoints of a network in the order in which they are asked. A reader who chose an endpoint
 * trusts that one: no other is asked.
 */
export function rpcUrlsOf(network: Network): string[] {
  const own = getPreferences().rpcUrls[network.network]
  if (own) return [own]
  const since = Date.now() - DEPRIORITIZED_MS
  const hasFailed = (url: string) => (failedAt.get(url) ?? 0) > since
  return network.rpcUrls.toSorted((one, other) => Number(hasFailed(one)) - Number(hasFailed(other)))
}

/** Has an endpoint asked last for a while. */
export function noteFailure(url: string): void {
  failedAt.set(url, Date.now())
}

/**
 * Asks the endpoints of a network one after the other until one answers for that network. What a
 * node refuses, no other is asked for.
 * @throws RpcError, or what the last endpoint's `request` threw
 */
export async function requestEndpoints<T>(
  network: Network,
  request: (url: string) => Promise<T>,
): Promise<T> {
  let failure: unknown = new RpcError(t`No RPC endpoint configured.`)
  for (const url of rpcUrlsOf(network)) {
    try {
      const [answer] = await Promise.all([request(url), requireNetwork(network, url)])
      return answer
    } catch (error) {
      if (error instanceof RpcError && error.refused) throw error
      noteFailure(url)
      failure = error
    }
  }
  throw failure
}

/** One JSON-RPC call to the first endpoint of a network that answers it. @throws RpcError */
export function callNetwork(
  network: Network,
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  return requestEndpoints(network, (url) => callRpc(url, method, params))
}

const identities = new Map<string, Promise<unknown>>()

/** An endpoint of another chain is as bad as one that is silent. It is asked once in the life of a page. */
async function requireNetwork(network: Network, url: string): Promise<void> {
  const { name, genesisHash } = network
  const evm = familyOf(network.network) === 'evm'
  if (!evm && genesisHash === undefined) return
  const known = identities.get(url) ?? callRpc(url, evm ? 'eth_chainId' : 'getGenesisHash', [])
  identities.set(url, known)
  const identity = await known.catch((error: unknown) => {
    identities.delete(url)
    throw error
  })
  const same = evm ? Number(identity) === chainIdOf(network.network) : identity === genesisHash
  if (!same) throw new RpcError(t`This endpoint is not for ${name}.`)
}

/**
 * One JSON-RPC call, straight from the browser.
 * @throws RpcError
 */
export async function callRpc(
  url: string,
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  const host = URL.canParse(url) ? new URL(url).host : url
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), TIMEOUT_MS)
  let text: string
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: stringifyJson({ jsonrpc: '2.0', id: 1, method, params }),
      signal: timeout.signal,
    })
    const { status } = response
    if (!response.ok) throw new RpcError(t`${host} answered ${status}.`)
    text = await response.text()
  } catch (error) {
    if (error instanceof RpcError) throw error
    throw new RpcError(
      timeout.signal.aborted ? t`${host} timed out.` : t`${host} is unreachable or blocked.`,
      { cause: error },
    )
  } finally {
    clearTimeout(timer)
  }
  return readResult(text, host)
}

function readResult(text: string, host: string): unknown {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    throw new RpcError(t`${host} sent an invalid answer.`, { cause: error })
  }
  if (typeof value !== 'object' || value === null)
    throw new RpcError(t`${host} sent an invalid answer.`)
  if ('error' in value && value.error)
    throw new RpcError(t`${host} rejected the request.`, {
      cause: value.error,
      refused: !isTransient(value.error),
    })
  if (!('result' in value)) throw new RpcError(t`${host} sent an invalid answer.`)
  return value.result
}

/** Some nodes report a contract's refusal as an internal error, with its data. */
function isTransient(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    TRANSIENT_CODES.has(Reflect.get(error, 'code')) &&
    Reflect.get(error, 'data') === undefined
  )
}
