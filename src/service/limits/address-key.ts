import { isIPv6 } from 'node:net'

/** The limit's key of an address nobody signed for. An IPv6 customer holds a whole /64, so that is what counts. */
export function addressKey(address: string): string {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1]
  if (mapped) return `ip:${mapped}`
  if (!isIPv6(address)) return `ip:${address}`
  const [head = '', tail = ''] = address.split('%', 1)[0]?.split('::') ?? []
  const start = head.split(':').filter(Boolean)
  const end = tail.split(':').filter(Boolean)
  const groups = address.includes('::') ? [...start, ...Array<string>(Math.max(0, 8 - start.length - end.length)).fill('0'), ...end] : start
  return `ip:${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
