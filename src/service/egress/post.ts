import { lookup, type LookupAddress } from 'node:dns'
import { request as requestPlain, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as requestSecure } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { parseJson, stringifyJson } from '#contract/json.ts'
import { isPublicAddress } from './public-address.ts'

/** The only place from which the service asks an address that somebody else chose. */

const MAX_ANSWER_BYTES = 64 * 1024

/** The same for every cause: what is behind an address is nobody's business. The cause is for our log alone. */
export class EgressProblem extends Error {
  override name = 'EgressProblem'

  constructor(cause: unknown) {
    super('The address could not be asked.', { cause })
  }
}

export type EgressOptions = {
  timeoutMs: number
  /** For tests and the embedded network: `http://127.0.0.1` is allowed, and nothing else beside. */
  loopback: boolean
}

/** Why a URL is never asked; undefined when it may be. */
export function refuseUrl(url: URL, loopback: boolean): string | undefined {
  if (loopback && url.protocol === 'http:' && url.hostname === '127.0.0.1' && !url.username && !url.password) return undefined
  if (url.protocol !== 'https:') return 'Expected https.'
  if (url.port !== '') return 'Expected the port 443.'
  if (url.username || url.password) return 'Expected no user name.'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isPublicAddress(host)) return 'Expected a public address.'
  return undefined
}

/**
 * Sends JSON and reads JSON: no redirects, no compression, at most 64 KiB, one total deadline, and only to public addresses, at the look-up and at the connection.
 * @throws EgressProblem
 */
export async function postJson(url: URL, body: unknown, options: EgressOptions): Promise<unknown> {
  const refused = refuseUrl(url, options.loopback)
  if (refused) throw new EgressProblem(refused)
  try {
    const text = await exchange(url, stringifyJson(body), options)
    return parseJson(text)
  } catch (error) {
    throw new EgressProblem(error)
  }
}

function exchange(url: URL, body: string, { timeoutMs, loopback }: EgressOptions): Promise<string> {
  const plain = url.protocol === 'http:'
  const allowed = (address: string) => isPublicAddress(address) || (loopback && address === '127.0.0.1')
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'paydesk',
  }
  // A connection of its own: one that was checked for another host must not be used again.
  const asked: RequestOptions = { method: 'POST', headers, agent: false, lookup: guardedLookup(allowed), signal: AbortSignal.timeout(Math.ceil(timeoutMs)) }
  return new Promise((resolve, reject) => {
    const request = (plain ? requestPlain : requestSecure)(url, asked, (response) => {
      readAnswer(response).then(resolve, (error: unknown) => {
        request.destroy()
        reject(error)
      })
    })
    request.on('error', reject)
    request.on('socket', (socket) => {
      socket.once('connect', () => {
        if (!allowed(socket.remoteAddress ?? '')) request.destroy(new Error('The connection leads to an address that is not public.'))
      })
    })
    request.end(body)
  })
}

/** Every address of the name must be public: one that is not means somebody plays with names. */
function guardedLookup(allowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error || !first) return callback(error ?? new Error('The name has no address.'), '', 0)
      if (addresses.some(({ address }: LookupAddress) => !allowed(address)))
        return callback(new Error('The name leads to an address that is not public.'), '', 0)
      if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

async function readAnswer(response: IncomingMessage): Promise<string> {
  const { statusCode, headers } = response
  if (statusCode !== 200) throw new Error(`Expected the status 200, received ${statusCode}.`)
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') throw new Error('Expected an answer without compression.')
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MAX_ANSWER_BYTES) throw new Error('The answer is too large.')
    chunks.push(chunk)
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
}
