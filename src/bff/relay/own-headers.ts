/**
 * Headers a relayed request never carries: those of the connection, those browsers set themselves,
 * and those that identify a person.
 */
const REFUSED = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'origin',
  'proxy-authorization',
  'proxy-connection',
  'referer',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
])

/** Why a header is not relayed; undefined when it is. */
export function refuseHeader(name: string): string | undefined {
  const lower = name.toLowerCase()
  const refused =
    REFUSED.has(lower) ||
    lower.startsWith('sec-') ||
    lower.startsWith('proxy-') ||
    lower.startsWith('x-forwarded-')
  return refused
    ? `The relay does not carry ${name}. Ask the address directly to send it.`
    : undefined
}

/** Response headers that belong to the connection, or would set something in a browser. */
const WITHHELD = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'set-cookie',
  'set-cookie2',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'clear-site-data',
])

export function isWithheld(name: string): boolean {
  return WITHHELD.has(name)
}
