import { expect, test } from 'vitest'
import {
  differingTerm,
  linkPayload,
  readLink,
  returnAddress,
  type LinkTerms,
} from './payment-link.ts'

const terms: LinkTerms = {
  id: 'lnk_1111111111111111111111',
  network: 'eip155:8453',
  recipient: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  asset: '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
  amountAtomic: '10000000000000000',
  resource: 'https://shop.example/ä?b=1',
  description: 'Tee für zwei ☕',
  reference: 'INV-7',
  expiresAt: 1_800_000_000_000,
  maxPayments: 1,
  returnUrl: 'https://shop.example/thanks',
}
const mac = 'm'.repeat(43)
const unset = {
  amountAtomic: null,
  resource: null,
  description: null,
  reference: null,
  expiresAt: null,
  maxPayments: null,
  returnUrl: null,
}

test.each([terms, { ...terms, ...unset }])(
  'what a link says reads back as it was written',
  (written) => {
    const payload = linkPayload(written, 'k1')
    expect(payload).toMatch(/^[A-Za-z0-9_-]+$/)
    expect(readLink(mac + payload)).toEqual({ mac, payload, keyId: 'k1', terms: written })
  },
)

test.each([
  ['nothing', ''],
  ['a signature alone', mac],
  ['other characters', `${mac}~${linkPayload(terms, 'k')}`],
  ['a payload that is not JSON', `${mac}AAAA`],
  ['a payload of another version', mac + btoa('[2,"k"]')],
  [
    'a payload with something more',
    mac +
      btoa(
        JSON.stringify([
          ...(JSON.parse(atob(linkPayload({ ...terms, ...unset }, 'k'))) as unknown[]),
          1,
        ]),
      ).replace(/=+$/, ''),
  ],
  ['more than any link', mac + 'A'.repeat(6000)],
])('%s is no link', (_, text) => {
  expect(readLink(text)).toBeUndefined()
})

test('the first term in which two links differ is named', () => {
  expect(differingTerm(terms, { ...terms })).toBeUndefined()
  for (const name of Object.keys(terms) as (keyof LinkTerms)[])
    expect(differingTerm(terms, { ...terms, [name]: 'other' })).toBe(name)
})

test('a buyer is sent back only to a whole web address, with the payment filled in', () => {
  expect(returnAddress('https://shop.example/t?p={PAYMENT_ID}', 'pay_1')?.href).toBe(
    'https://shop.example/t?p=pay_1',
  )
  expect(returnAddress('http://localhost:3000/', 'pay_1')?.host).toBe('localhost:3000')
  for (const url of [
    'javascript:alert(1)',
    'data:text/html,x',
    'shop.example',
    '//shop.example',
    'https://a@b.example/',
    'https://{PAYMENT_ID}.example/',
    'https://',
    'https://a b',
  ])
    expect(returnAddress(url, 'pay_1'), url).toBeUndefined()
})
