import { BlockList, isIPv4, isIPv6, isIP } from 'node:net'

/**
 * IANA's special-purpose ranges of IPv4: private, local, shared, documentation, benchmark,
 * multicast, reserved.
 */
const SPECIAL_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/**
 * Within global unicast: tunnels that carry an IPv4 address, documentation, protocol assignments.
 */
const SPECIAL_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
]

const special = new BlockList()
for (const [net, bits] of SPECIAL_V4) special.addSubnet(net, bits, 'ipv4')
for (const [net, bits] of SPECIAL_V6) special.addSubnet(net, bits, 'ipv6')

const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

/**
 * Whether an address belongs to the public internet. An address not known to be public is not:
 * mapped, scoped and unspecified ones too.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4')
  if (!isIPv6(address) || address.includes('%') || address.includes('.')) return false
  return globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** Why a URL is never asked; undefined when it may be. `loopback`: `http://127.0.0.1` is allowed beside, and nothing else. */
export function refuseUrl(url: URL, loopback: boolean): string | undefined {
  if (
    loopback &&
    url.protocol === 'http:' &&
    url.hostname === '127.0.0.1' &&
    !url.username &&
    !url.password
  )
    return undefined
  if (url.protocol !== 'https:') return 'Expected https.'
  if (url.port !== '') return 'Expected the port 443.'
  if (url.username || url.password) return 'Expected no user name.'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isPublicAddress(host)) return 'Expected a public address.'
  return undefined
}
