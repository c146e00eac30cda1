import { expect, test } from 'vitest'
import { invoiceTotals } from '#contract/invoice.ts'
import type { Network } from '#contract/network.ts'
import { currencyOf, linesSoFar } from './invoice-form.ts'

const line = (quantity: string, unitPrice: string, taxPercent = '') => ({
  name: '',
  quantity,
  unitPrice,
  taxPercent,
})
const EUR = { decimals: 2 }

test('the sums of an invoice that is being typed are those that the server counts, to the last digit', () => {
  const lines = linesSoFar([line('3', '0.1'), line('1', '1.005', '21'), line('1', '')]) ?? []
  expect(invoiceTotals(lines, EUR)).toMatchObject({ net: '1.31', tax: '0.21', total: '1.52' })
  // No tax is named by an empty field, 0 % by a 0.
  expect(linesSoFar([line('1', '1'), line('1', '1', '0')])?.map((each) => each.taxPercent)).toEqual(
    [null, '0'],
  )
})

test.each([
  ['no price is typed', [line('1', '')]],
  ['a price is no number', [line('1', '2'), line('1', 'two')]],
  ['a quantity is missing', [line('', '2')]],
  ['a tax rate has too many decimals', [line('1', '2', '1.234')]],
])('there is no sum while %s', (_, typed) => {
  expect(linesSoFar(typed)).toBeUndefined()
})

test('amounts are rounded to what the server rounds: the fewest decimals of an asset on the networks of the seller, or those of the fiat currency', () => {
  const asset = (decimals: number) => ({ symbol: 'USDC', decimals })
  const network = (id: string, decimals: number, testnet = false) =>
    ({ network: id, testnet, assets: [asset(decimals)] }) as unknown as Network
  const config = {
    networks: [
      network('eip155:1', 18),
      network('eip155:2', 6),
      network('solana:1', 2),
      network('eip155:3', 3, true),
    ],
    sellerWallets: ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'],
  }
  expect(currencyOf(config, 'USDC')).toEqual({ kind: 'asset', code: 'USDC', decimals: 6 })
  expect(currencyOf(config, 'JPY')).toEqual({ kind: 'fiat', code: 'JPY', decimals: 0 })
})
