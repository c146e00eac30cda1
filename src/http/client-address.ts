import type { IncomingMessage } from 'node:http'
import { isIP, isIPv6 } from 'node:net'

/**
 * The address that a caller without a valid key is counted by, as `addressKey` spells it.
 * With `hops` proxies of the operator in front, it is the address that the outermost of them saw: the entry of `X-Forwarded-For` at that place from the right.
 * Anyone can write what is further left. Where that entry is missing or is not an IP address, the address of the connection counts.
 */
export function clientAddress(
  request: Pick<IncomingMessage, 'headers' | 'socket'> | undefined,
  hops: number,
): string {
  const remote = request?.socket.remoteAddress ?? 'unknown'
  if (hops === 0) return addressKey(remote)
  const entry = String(request?.headers['x-forwarded-for'] ?? '')
    .split(',')
    .at(-hops)
  const forwarded = withoutPort(entry?.trim() ?? '')
  return addressKey(isIP(forwarded) ? forwarded : remote)
}

/** `ip:` and an IPv4 address, or the /64 of an IPv6 address: one IPv6 subscriber has a whole /64. */
export function addressKey(address: string): string {
  if (!isIPv6(address)) return `ip:${address}`
  const groups = ipv6Groups(address)
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (isMapped) return `ip:${[high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')}`
  return `ip:${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/** Some balancers write `192.0.2.1:5678` and `[2001:db8::1]:5678`. */
function withoutPort(entry: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry
}

/** The eight groups of a valid IPv6 address, the last two from dotted decimals where it is spelled so. */
function ipv6Groups(address: string): number[] {
  const [plain = ''] = address.split('%', 1)
  const [head = '', tail] = plain.split('::')
  const [left, right] = [groupsOf(head), groupsOf(tail ?? '')]
  const zeros = tail === undefined ? [] : Array<number>(8 - left.length - right.length).fill(0)
  return [...left, ...zeros, ...right]
}

function groupsOf(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((part) => {
    if (!part.includes('.')) return [Number.parseInt(part, 16)]
    const [first = 0, second = 0, third = 0, fourth = 0] = part.split('.').map(Number)
    return [first * 256 + second, third * 256 + fourth]
  })
}
