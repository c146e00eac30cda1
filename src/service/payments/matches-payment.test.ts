import { Keypair, PublicKey } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { SOLANA_DEVNET, SOLANA_MAINNET } from '#contract/network.ts'
import { accountOf, TOKEN_2022 } from '#testing/token-instructions.ts'
import type { ObservedTransfer } from '../chains/chain.ts'
import type { PaymentRecord } from '../db/payments.ts'
import { matchesPayment } from './attribution.ts'

const [sender, recipient, stranger, mint] = Array.from({ length: 4 }, () =>
  Keypair.generate().publicKey.toBase58(),
) as [string, string, string, string]
const payment = {
  id: 'pay_1',
  mode: 'local',
  network: SOLANA_DEVNET,
  asset: mint,
  sender,
  recipient,
  amount: 5n,
  nonce: null,
  builtHeight: 1,
} as PaymentRecord
const transfer: ObservedTransfer = {
  sender,
  recipient,
  asset: mint,
  amountAtomic: 5n,
  memo: 'pay_1',
  nonce: null,
}
const account = (owner: string, program?: PublicKey) =>
  accountOf(new PublicKey(owner), new PublicKey(mint), program).toBase58()

test('a token’s transfer pays the wallet it names, or the wallet whose account it names where nobody tells the owner', () => {
  expect(matchesPayment(payment, transfer, 2)).toBe(true)
  expect(matchesPayment(payment, { ...transfer, recipient: account(recipient) }, 2)).toBe(true)
  expect(
    matchesPayment(payment, { ...transfer, recipient: account(recipient, TOKEN_2022) }, 2),
  ).toBe(true)
})

test.each<[string, Partial<ObservedTransfer>]>([
  ['another wallet', { recipient: stranger }],
  ['another wallet’s account', { recipient: account(stranger) }],
  ['another token', { asset: stranger }],
  ['another amount', { amountAtomic: 4n }],
  ['another payer', { sender: stranger }],
  ['another payment', { memo: 'pay_2' }],
  ['no payment', { memo: null }],
])('a transfer of %s pays nothing', (_, change) => {
  expect(matchesPayment(payment, { ...transfer, ...change }, 2)).toBe(false)
  expect(
    matchesPayment({ ...payment, network: SOLANA_MAINNET }, { ...transfer, ...change }, 2),
  ).toBe(false)
})
