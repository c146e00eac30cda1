import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { NATIVE_ETH, type Network } from '#contract/network.ts'
import { proveTxid } from '#testing/proofs.ts'
import { checkRow } from './batch.ts'

// The page learns of requests blocked by its CSP through the document.
beforeEach(() => vi.stubGlobal('document', new EventTarget()))
afterEach(() => vi.unstubAllGlobals())

const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const network: Network = {
  network: 'eip155:31337',
  name: 'Local',
  rpcUrls: ['http://127.0.0.1:1'],
  testnet: true,
  blockTimeMs: 1000,
  confirmations: 2,
  assets: [NATIVE_ETH],
}
const expected = {
  network,
  asset: NATIVE_ETH,
  wallet,
  amountAtomic: 10n,
  resource: null,
  memo: null,
}

test('of two equal proofs in one list the second is named: together they pay once', async () => {
  const payer = privateKeyToAccount(generatePrivateKey())
  const of = (txRef: string) =>
    proveTxid({ payer, network: network.network, payTo: wallet, amount: 10n, txRef })
  const [one, other] = [await of(`0x${'ab'.repeat(32)}`), await of(`0x${'cd'.repeat(32)}`)]
  const seen = new Map<string, string>()
  const check = (name: string, proof: string) =>
    checkRow({ name, proof }, expected, { mine: false, seen })
  // This node does not respond, so each proof alone stays open.
  expect(await check('first', one)).toMatchObject({ verdict: 'unknown' })
  expect(await check('again', one)).toMatchObject({
    verdict: 'invalid',
    reason: expect.stringContaining('“first”'),
  })
  expect(await check('other', other)).toMatchObject({ verdict: 'unknown' })
})

test('an amount is told in the expected currency alone, and not for a proof in another one', async () => {
  const payer = privateKeyToAccount(generatePrivateKey())
  const token = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
  const USDC = { address: token, symbol: 'USDC', name: 'USD Coin', decimals: 6, native: false }
  const known = { ...network, assets: [NATIVE_ETH, USDC] }
  const amountOf = async (asset: typeof USDC, terms: { asset?: string; network?: string }) => {
    const proof = await proveTxid({
      payer,
      network: network.network,
      payTo: wallet,
      amount: 10n ** 16n,
      txRef: `0x${'ab'.repeat(32)}`,
      ...terms,
    })
    const context = { mine: false, seen: new Map<string, string>() }
    const row = { name: '', proof }
    return (await checkRow(row, { ...expected, network: known, asset }, context)).amount
  }
  expect(await amountOf(NATIVE_ETH, {})).toBe('0.01')
  expect(await amountOf(USDC, { asset: token })).toBe('10000000000')
  // 0.01 ETH would be read as 10,000,000,000 USDC.
  expect(await amountOf(USDC, {})).toBe('')
  expect(await amountOf(NATIVE_ETH, { asset: token })).toBe('')
  expect(await amountOf(NATIVE_ETH, { network: 'eip155:1' })).toBe('')
})
