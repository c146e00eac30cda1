import { expect, test } from 'vitest'
import { NATIVE_ETH } from '#contract/network.ts'
import { emptyLinkForm, linkRequestOf } from './link-form.ts'

const RECIPIENT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const common = { reference: 'INV-1', lasts: 'always', amount: '0.0151' } as const

test('a link for one network is a short link that names the one way to pay it', () => {
  const fields = {
    ...emptyLinkForm('EUR'),
    ...common,
    network: 'eip155:1',
    recipient: RECIPIENT,
    asset: NATIVE_ETH.address,
  }
  expect(linkRequestOf(fields, NATIVE_ETH)).toEqual({
    price: { currency: 'ETH', amount: '0.0151' },
    only: { network: 'eip155:1', recipient: RECIPIENT, asset: NATIVE_ETH.address },
    reference: 'INV-1',
    maxPayments: 1,
  })
  expect(linkRequestOf({ ...fields, amount: '' }, NATIVE_ETH)).not.toHaveProperty('price')
})

test('a link for every network names none, and may sell several pieces', () => {
  const fields = { ...emptyLinkForm('EUR'), ...common, pieces: '5', uses: 'any' as const }
  expect(linkRequestOf(fields, undefined)).toEqual({
    price: { currency: 'EUR', amount: '0.0151' },
    maxPieces: 5,
    reference: 'INV-1',
  })
})
