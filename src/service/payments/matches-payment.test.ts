import { Keypair, PublicKey } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { EVM_NATIVE, SOLANA_NATIVE } from '#contract/address.ts'
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
const block = { height: 2, blockTime: null }
const account = (owner: string, program?: PublicKey) =>
  accountOf(new PublicKey(owner), new PublicKey(mint), program).toBase58()

test('a token’s transfer pays the wallet it names, or the wallet whose account it names where nobody tells the owner', () => {
  expect(matchesPayment(payment, transfer, block)).toBe(true)
  expect(matchesPayment(payment, { ...transfer, recipient: account(recipient) }, block)).toBe(true)
  expect(
    matchesPayment(payment, { ...transfer, recipient: account(recipient, TOKEN_2022) }, block),
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
  expect(matchesPayment(payment, { ...transfer, ...change }, block)).toBe(false)
  expect(
    matchesPayment({ ...payment, network: SOLANA_MAINNET }, { ...transfer, ...change }, block),
  ).toBe(false)
})

test('nothing pays a payment, and no account of a token’s name a payment in SOL', () => {
  expect(matchesPayment(payment, null, block)).toBe(false)
  expect(matchesPayment(payment, undefined, block)).toBe(false)
  const inSol = { ...payment, asset: SOLANA_NATIVE }
  const seen = { ...transfer, asset: SOLANA_NATIVE }
  expect(matchesPayment(inSol, seen, block)).toBe(true)
  const named = accountOf(new PublicKey(recipient), new PublicKey(SOLANA_NATIVE)).toBase58()
  expect(matchesPayment(inSol, { ...seen, recipient: named }, block)).toBe(false)
})

test('a payment that was presented as a proof is paid by its terms, whatever the memo and the block', () => {
  const received = { ...payment, mode: 'received' } as PaymentRecord
  expect(
    matchesPayment(received, { ...transfer, memo: null }, { height: 0, blockTime: null }),
  ).toBe(true)
  expect(matchesPayment(received, { ...transfer, amountAtomic: 4n }, block)).toBe(false)
})

const [createdAt, before, after] = [1_000, 999, 1_001].map((ms) => new Date(ms)) as [
  Date,
  Date,
  Date,
]
const onEvm = { network: 'eip155:31337', asset: EVM_NATIVE, builtHeight: 5, createdAt }
const order = {
  ...payment,
  ...onEvm,
  fingerprint: '7:1',
  payerNonce: null,
  payerSignature: null,
} as PaymentRecord
const ether: ObservedTransfer = { ...transfer, asset: EVM_NATIVE, memo: null, nonce: 3 }

test.each<[string, boolean, Partial<PaymentRecord>, Partial<ObservedTransfer>, number, Date]>([
  ['above the block that the order was built on', true, {}, {}, 6, before],
  ['in that block', false, {}, {}, 5, before],
  ['in a younger block that replaced it', true, {}, {}, 5, after],
  ['in a block as old as the order that replaced it', false, {}, {}, 5, createdAt],
  ['above a block that is not known', false, { builtHeight: null }, {}, 6, before],
  ['to another wallet', false, {}, { recipient: stranger }, 6, after],
  ['without a nonce, in that block', false, {}, { nonce: null }, 5, before],
  ['with the order’s fees in that block', true, {}, { fingerprint: '7:1' }, 5, before],
  ['with other fees in that block', false, {}, { fingerprint: '7:2' }, 5, before],
  ['in place of one with the order’s fees, in that block', true, { payerNonce: 3 }, {}, 5, before],
  [
    'that its payer signed for, in that block',
    false,
    { payerNonce: 3, payerSignature: '0x1' },
    {},
    5,
    before,
  ],
  ['that the service signed, in that block', true, { mode: 'hosted', nonce: 3 }, {}, 5, before],
  ['with another nonce than the service signed', false, { mode: 'hosted', nonce: 2 }, {}, 6, after],
])('of an EVM order, a transfer %s: pays it is %s', (_, pays, terms, change, height, blockTime) => {
  const seen = { ...ether, ...change }
  expect(matchesPayment({ ...order, ...terms }, seen, { height, blockTime })).toBe(pays)
})

test('of an EVM order, a transfer in the pool pays it, and one in a block of unknown time as its height says', () => {
  expect(matchesPayment(order, ether, null)).toBe(true)
  expect(matchesPayment(order, ether, { height: 5, blockTime: null })).toBe(false)
  expect(matchesPayment(order, ether, { height: 6, blockTime: null })).toBe(true)
})
