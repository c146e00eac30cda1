import { expect, test } from 'vitest'
import { NATIVE_ETH, NATIVE_SOL, SOLANA_DEVNET, type Asset } from '#contract/network.ts'
import { inWallet, paymentUri } from './uris.ts'

const usdc: Asset = {
  address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const mint: Asset = { ...usdc, address: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' }
const evm = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const solana = 'mvines9iiHiQTysrwkJjGf2gb9Ex9jXJX8ns3qwf2kN'

test('ether is asked for in wei on its chain', () => {
  expect(
    paymentUri({
      network: 'eip155:8453',
      asset: NATIVE_ETH,
      recipient: evm,
      amountAtomic: 10n ** 16n,
    }),
  ).toBe(`ethereum:${evm}@8453?value=10000000000000000`)
})

test('a token is asked for as a call of its transfer', () => {
  expect(
    paymentUri({ network: 'eip155:84532', asset: usdc, recipient: evm, amountAtomic: 1_500_000n }),
  ).toBe(`ethereum:${usdc.address}@84532/transfer?address=${evm}&uint256=1500000`)
})

test('SOL is asked for in decimals, with what the wallet shows and the memo the payment is found by', () => {
  const asked = {
    network: SOLANA_DEVNET,
    asset: NATIVE_SOL,
    recipient: solana,
    amountAtomic: 10_000_000n,
  }
  expect(
    paymentUri({
      ...asked,
      label: 'Acme & Söhne',
      message: 'Tea #1',
      memo: 'pay_1111111111111111111111',
    }),
  ).toBe(
    `solana:${solana}?amount=0.01&label=Acme%20%26%20S%C3%B6hne&message=Tea%20%231&memo=pay_1111111111111111111111`,
  )
})

test('an SPL token is named by its mint', () => {
  expect(
    paymentUri({ network: SOLANA_DEVNET, asset: mint, recipient: solana, amountAtomic: 1n }),
  ).toBe(`solana:${solana}?amount=0.000001&spl-token=${mint.address}`)
})

test('a page is opened inside a wallet’s app', () => {
  const url = new URL('https://pay.example/desk/pay/abc?x=1')
  expect(inWallet.MetaMask(url)).toBe('https://link.metamask.io/dapp/pay.example/desk/pay/abc?x=1')
  expect(inWallet.Phantom(url)).toBe(
    'https://phantom.app/ul/browse/https%3A%2F%2Fpay.example%2Fdesk%2Fpay%2Fabc%3Fx%3D1?ref=https%3A%2F%2Fpay.example',
  )
})
