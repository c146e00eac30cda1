import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { request as requestPlain, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as requestSecure } from 'node:https'
import type { LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import { isPublicAddress, refuseUrl } from './public-address.ts'

/** The only code through which our programs call an address that a third party chose. */

const MAX_HEADER_BYTES = 16 * 1024
/** How long a name server may take for the first of its tries, in milliseconds; the next gets more. */
const NAME_SERVER_MS = 2_000
const NAME_SERVER_TRIES = 2

/**
 * The same for every cause: what is behind an address is nobody's business. The cause is only for
 * our log.
 */
export class EgressError extends Error {
  override name = 'EgressError'

  constructor(cause: unknown) {
    super('The address could not be asked.', { cause })
  }
}

/** Our own rule refuses the address: no request was sent. */
export class EgressRefusedError extends EgressError {
  override name = 'EgressRefusedError'
}

export type ExternalRequest = {
  method: string
  url: URL
  headers: Readonly<Record<string, string>>
  body?: Uint8Array
}

export type ExchangeLimits = {
  /** From the DNS lookup to the last byte. */
  timeoutMs: number
  maxBytes: number
  /** For tests and the embedded network: `http://127.0.0.1` is allowed, and nothing else. */
  loopback: boolean
}

export type ExternalResponse = {
  status: number
  headers: readonly (readonly [name: string, value: string])[]
  body: Uint8Array
}

/**
 * Calls a public address. Redirects are not followed, compressed answers are not read, and the
 * address is checked as written, as resolved, and as connected.
 * @throws EgressError
 */
export async function exchange(
  question: ExternalRequest,
  limits: ExchangeLimits,
): Promise<ExternalResponse> {
  const refused = refuseUrl(question.url, limits.loopback)
  if (refused) throw new EgressRefusedError(refused)
  try {
    return await request(question, limits)
  } catch (error) {
    throw new EgressError(error)
  }
}

async function request(
  question: ExternalRequest,
  { timeoutMs, maxBytes, loopback }: ExchangeLimits,
): Promise<ExternalResponse> {
  const signal = AbortSignal.timeout(Math.ceil(timeoutMs))
  const response = await send(question, { loopback, signal })
  try {
    return await readAnswer(response, maxBytes)
  } catch (error) {
    response.destroy()
    throw error
  }
}

/**
 * Sends over a new connection whose address is checked as resolved and as connected. The body of the
 * answer is not read yet: the caller reads or destroys it.
 */
export function send(
  { method, url, headers, body }: ExternalRequest,
  { loopback, signal }: { loopback: boolean; signal: AbortSignal },
): Promise<IncomingMessage> {
  const plain = url.protocol === 'http:'
  const allowed = (address: string) =>
    isPublicAddress(address) || (loopback && address === '127.0.0.1')
  const length = body ? { 'content-length': String(body.length) } : {}
  const options: RequestOptions = {
    method,
    headers: { 'user-agent': 'paydesk', ...headers, 'accept-encoding': 'identity', ...length },
    // A new connection: one that was checked for another host must not be reused.
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    lookup: guardedLookup(allowed, signal),
    signal,
  }
  return new Promise((resolve, reject) => {
    const request = (plain ? requestPlain : requestSecure)(url, options, (response) => {
      const encoding = response.headers['content-encoding'] ?? 'identity'
      if (encoding === 'identity') return resolve(response)
      request.destroy()
      reject(new Error('Expected an answer without compression.'))
    })
    request.on('error', reject)
    request.on('socket', (socket) => {
      socket.once('connect', () => {
        if (!allowed(socket.remoteAddress ?? ''))
          request.destroy(new Error('The connection leads to an address that is not public.'))
      })
    })
    request.end(body)
  })
}

/** Every address of the name must be public: one that is not means manipulated DNS. */
function guardedLookup(allowed: (address: string) => boolean, signal: AbortSignal): LookupFunction {
  return (hostname, options, callback) => {
    callbackify(readAddresses)(hostname, signal, (error, addresses) => {
      if (error) return callback(error, '', 0)
      if (!addresses.every(({ address }) => allowed(address)))
        return callback(new Error('The name leads to an address that is not public.'), '', 0)
      if (options.all) callback(null, addresses)
      else callback(null, addresses[0].address, addresses[0].family)
    })
  }
}

/**
 * Asks the name servers of the system; `/etc/hosts` and search domains do not count. `dns.lookup`
 * is not for foreign names: it holds one of the few threads of the process until the name server
 * answers, and two slow names would delay all others, also of the database and the RPC endpoints.
 * @returns IPv4 first; one family alone where the other cannot be read
 * @throws AggregateError when neither can be read, or the signal aborts
 */
async function readAddresses(
  name: string,
  signal: AbortSignal,
): Promise<[LookupAddress, ...LookupAddress[]]> {
  // A new one for each name: it is cancelled alone, and keeps no answers.
  const resolver = new Resolver({ timeout: NAME_SERVER_MS, tries: NAME_SERVER_TRIES })
  const failures: unknown[] = []
  const read = async (family: 4 | 6, answer: Promise<string[]>): Promise<LookupAddress[]> => {
    try {
      return (await answer).map((address) => ({ address, family }))
    } catch (error) {
      failures.push(error)
      return []
    }
  }
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel)
  try {
    const [ipv4, ipv6] = await Promise.all([
      read(4, resolver.resolve4(name)),
      read(6, resolver.resolve6(name)),
    ])
    const [first, ...others] = [...ipv4, ...ipv6]
    if (!first) throw new AggregateError(failures, 'No address of the name could be read.')
    return [first, ...others]
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

async function readAnswer(response: IncomingMessage, maxBytes: number): Promise<ExternalResponse> {
  const { statusCode = 0, rawHeaders } = response
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw new Error(`Expected at most ${maxBytes} bytes.`)
    chunks.push(chunk)
  }
  const pairs = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1] ?? ''] as const] : [],
  )
  return { status: statusCode, headers: pairs, body: Buffer.concat(chunks) }
}
