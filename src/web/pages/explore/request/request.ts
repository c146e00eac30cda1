import { t } from '@lingui/core/macro'
import { MAX_RELAYED_HEADERS, type RELAY_METHODS } from '#contract/relay.ts'

export type HttpMethod = (typeof RELAY_METHODS)[number]

/** The request to a server, and its route: directly from this browser, or through the proxy. */
export type ResourceRequest = {
  method: HttpMethod
  url: string
  headers: readonly (readonly [name: string, value: string])[]
  body: string | null
  via: 'direct' | 'relay'
}

/** The form as typed; headers are lines of `Name: value`. */
export type RequestFields = {
  method: HttpMethod
  url: string
  headers: string
  body: string
  via: ResourceRequest['via']
}

export type ReadRequest =
  | { ok: true; request: ResourceRequest }
  | { ok: false; problems: Partial<Record<'url' | 'headers' | 'body', string>> }

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/
const VALUE = /^[\x20-\x7e\t]{0,8192}$/
/** Headers that carry a payment are added when it is paid, never typed. */
const OWN = new Set(['x-payment', 'payment-signature'])

export function readRequest({ method, url, headers, body, via }: RequestFields): ReadRequest {
  const problems: Partial<Record<'url' | 'headers' | 'body', string>> = {}
  const address = URL.parse(url.trim())
  if (!address || !/^https?:$/.test(address.protocol))
    problems.url = t`Enter an address with https://.`
  else if (address.username || address.password) problems.url = t`Remove user name and password.`
  const read = readHeaders(headers)
  if (typeof read === 'string') problems.headers = read
  const empty = method === 'GET' || method === 'HEAD'
  if (empty && body !== '') problems.body = t`${method} requests have no body.`
  if (typeof read === 'string' || !address || Object.keys(problems).length > 0)
    return { ok: false, problems }
  return {
    ok: true,
    request: {
      method,
      url: address.href,
      headers: read,
      body: empty || body === '' ? null : body,
      via,
    },
  }
}

/** The request with its payment as a command, for a response that this page cannot receive. */
export function toCurl(
  { method, url, headers, body, via }: ResourceRequest,
  payment: { name: string; value: string },
): string {
  const lines = [
    `curl --globoff --output answer ${method === 'HEAD' ? '--head' : `--request ${method}`}`,
    ...[...headers, [payment.name, payment.value] as const].map(
      ([name, value]) => `--header ${quote(value === '' ? `${name};` : `${name}: ${value}`)}`,
    ),
  ]
  if (body !== null) {
    const typed = headers.some(([name]) => name.toLowerCase() === 'content-type')
    // Pages name the type of a text; the relay names none.
    const type = via === 'direct' ? ' text/plain;charset=UTF-8' : ''
    if (!typed) lines.push(`--header ${quote(`Content-Type:${type}`)}`)
    lines.push(`--data-raw ${quote(body)}`)
  }
  return [...lines, quote(url)].join(' \\\n  ')
}

/** One word of a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** The headers from these lines, or what is wrong with one of them. */
function readHeaders(text: string): [string, string][] | string {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  if (lines.length > MAX_RELAYED_HEADERS) return t`Write at most ${MAX_RELAYED_HEADERS} headers.`
  const headers: [string, string][] = []
  for (const line of lines) {
    const colon = line.indexOf(':')
    const [name, value] = [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
    if (colon < 1 || !NAME.test(name)) return t`Example: Accept: application/json.`
    if (!VALUE.test(value)) return t`${name} contains an invalid character.`
    if (OWN.has(name.toLowerCase())) return t`Added when you pay: ${name}.`
    if (headers.some(([other]) => other.toLowerCase() === name.toLowerCase()))
      return t`${name} is duplicated.`
    headers.push([name, value])
  }
  return headers
}
