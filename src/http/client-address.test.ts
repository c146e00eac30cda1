import { expect, test } from 'vitest'
import { addressKey, clientAddress } from './connections.ts'

test.each([
  ['127.0.0.1', 'ip:127.0.0.1'],
  ['::ffff:10.0.0.7', 'ip:10.0.0.7'],
  ['::FFFF:0a00:0007', 'ip:10.0.0.7'],
  ['0:0:0:0:0:ffff:255.0.128.1', 'ip:255.0.128.1'],
  ['2001:db8:1:2:aaaa:bbbb:cccc:dddd', 'ip:2001:db8:1:2::/64'],
  ['2001:DB8:1:2::1', 'ip:2001:db8:1:2::/64'],
  ['2001:0db8::1', 'ip:2001:db8:0:0::/64'],
  ['64:ff9b::192.0.2.1', 'ip:64:ff9b:0:0::/64'],
  ['fe80::1%eth0', 'ip:fe80:0:0:0::/64'],
  ['::1', 'ip:0:0:0:0::/64'],
  ['::', 'ip:0:0:0:0::/64'],
])('the address %s counts as %s', (address, key) => {
  expect(addressKey(address)).toBe(key)
})

function addressOf(hops: number, forwarded: string | undefined, remote = '10.0.0.1'): string {
  return clientAddress(
    {
      headers: { 'x-forwarded-for': forwarded },
      socket: { remoteAddress: remote },
    } as unknown as Parameters<typeof clientAddress>[0],
    hops,
  )
}

test('without a proxy in front, what the caller writes has no effect', () => {
  for (const forwarded of [
    undefined,
    '203.0.113.5',
    '203.0.113.5, 203.0.113.6',
    '::1',
    'x'.repeat(10_000),
  ])
    expect(addressOf(0, forwarded)).toBe('ip:10.0.0.1')
})

test.each([
  [1, '203.0.113.5', 'ip:203.0.113.5'],
  [1, '198.51.100.9, 203.0.113.5', 'ip:203.0.113.5'],
  [1, '203.0.113.5:4711', 'ip:203.0.113.5'],
  [1, '[2001:db8::1]:443', 'ip:2001:db8:0:0::/64'],
  [1, '2001:db8:0:1::1', 'ip:2001:db8:0:1::/64'],
  [2, '198.51.100.9, 203.0.113.5, 10.0.0.2', 'ip:203.0.113.5'],
])('behind %i, %s is %s: what stands further left anyone can write', (hops, forwarded, key) => {
  expect(addressOf(hops, forwarded)).toBe(key)
})

test.each([
  [1, undefined],
  [1, ''],
  [1, 'unknown'],
  [1, '203.0.113.5, '],
  [1, '203.0.113.5, 999.1.1.1'],
  [1, '_hidden'],
  [2, '203.0.113.5'],
])('behind %i, %j names no address, so the address of the connection counts', (hops, forwarded) => {
  expect(addressOf(hops, forwarded)).toBe('ip:10.0.0.1')
})
