import { expect, test } from 'vitest'
import { NATIVE_ETH, NATIVE_SOL, type Network } from '#contract/network.ts'
import { linkPayload } from '#contract/payment-link.ts'
import { openTerms } from './payment-service.ts'
import { formValues, reusableValues, recipientOn } from './start-values.ts'

const base = { rpcUrls: ['http://127.0.0.1:1'], testnet: true, blockTimeMs: 400, confirmations: 1 }
const ethereum: Network = {
  ...base,
  network: 'eip155:31337',
  name: 'Ethereum',
  assets: [NATIVE_ETH],
}
const solana: Network = {
  ...base,
  network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  name: 'Solana',
  assets: [NATIVE_SOL],
}
const networks = [ethereum, solana]
const [onEthereum, onSolana] = [
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  'AqynRZwvVqUPRwRJXvm6odUb3t93fDjnWe3p6BeuUFxD',
]
const sellerWallets = [onEthereum, onSolana]
const stranger = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'

const proposed = (recipient: string, own?: string, network: Network = ethereum) =>
  recipientOn(networks, { network: network.network, recipient }, { sellerWallets, own })

test('the seller’s one wallet is proposed, on each network its own', () => {
  expect(proposed('')).toBe(onEthereum)
  expect(proposed(onEthereum, undefined, solana)).toBe(onSolana)
  expect(proposed(stranger, undefined)).toBe(stranger)
})

test('the seller’s wallet is not proposed as recipient while it is the payer, and is proposed again with another payer', () => {
  expect(proposed('', onEthereum)).toBe('')
  expect(proposed(onEthereum, onEthereum)).toBe('')
  expect(proposed(stranger, onEthereum)).toBe(stranger)
  expect(proposed('', stranger)).toBe(onEthereum)
})

test('of several wallets of the seller the one that is left is proposed', () => {
  const two = { sellerWallets: [onEthereum, stranger], own: onEthereum }
  expect(recipientOn(networks, { network: ethereum.network, recipient: onEthereum }, two)).toBe(
    stranger,
  )
})

test('a refreshed price keeps what was typed, and another currency keeps what fits it', () => {
  const typed = {
    network: ethereum.network,
    asset: NATIVE_ETH.address,
    recipient: onEthereum,
    amount: '0.0043',
    resource: '',
    description: 'For Ana',
    reference: 'PO-7',
    email: 'ana@post.example',
    fee: 'custom' as const,
    priorityFee: '0.0001',
  }
  const terms = {
    id: 'lnk_1',
    recipient: onEthereum,
    network: ethereum.network,
    asset: NATIVE_ETH.address,
    resource: null,
    description: null,
    reference: null,
    expiresAt: null,
    maxPayments: null,
    returnUrl: null,
    amountAtomic: '4400000000000000',
  }
  const texts = { description: 'For Ana', reference: 'PO-7', email: 'ana@post.example' }
  const fees = { fee: 'custom', priorityFee: '0.0001' }
  const onEther = { network: ethereum, asset: NATIVE_ETH }
  expect(reusableValues(typed, { terms, ...onEther })).toEqual({ ...texts, ...fees })
  const open = { ...terms, amountAtomic: null }
  expect(reusableValues(typed, { terms: open, ...onEther })).toEqual({
    ...texts,
    ...fees,
    amount: '0.0043',
  })
  expect(reusableValues(typed, { terms: open, network: solana, asset: NATIVE_SOL })).toEqual(texts)
})

test('a payment of a link that is changed keeps what its payer entered, also after a reload', () => {
  const terms = {
    id: 'lnk_1',
    recipient: onEthereum,
    network: ethereum.network,
    asset: NATIVE_ETH.address,
    resource: null,
    description: 'Print',
    reference: null,
    expiresAt: null,
    maxPayments: null,
    returnUrl: null,
    amountAtomic: null,
  }
  const link = { text: '2NEpo7TZRhna', setBy: 'Shop', terms, network: ethereum, asset: NATIVE_ETH }
  const previous = {
    id: 'order-1',
    createdAt: 0,
    network: ethereum.network,
    asset: NATIVE_ETH,
    sender: stranger,
    recipient: onEthereum,
    amountAtomic: 4_300_000_000_000_000n,
    reference: 'PO-7',
    walletName: 'MetaMask',
    link: { text: link.text, setBy: link.setBy, returnUrl: null, email: 'ana@post.example' },
  }
  const prefill = { network: ethereum.network, to: onEthereum, description: 'Print' }
  const shown = formValues(
    { previous, typed: undefined, link, prefill },
    { networks, sellerWallets },
  )
  expect(shown).toMatchObject({
    amount: '0.0043',
    reference: 'PO-7',
    email: 'ana@post.example',
    recipient: onEthereum,
  })
})

test('the description, the reference and the amount are the payer’s where a link sets none', () => {
  const open = { amount: false, description: true, reference: false, asset: true }
  const choice = { token: null, pieces: 1, open }
  expect(openTerms({ text: 'abcdefghijkm', choice })).toEqual(open)
  const terms = {
    id: 'lnk_1',
    network: ethereum.network,
    recipient: stranger,
    asset: NATIVE_ETH.address,
    resource: null,
    expiresAt: null,
    maxPayments: 1,
    returnUrl: null,
  }
  const left = (set: { amountAtomic: string | null; description: string; reference: null }) =>
    openTerms({ text: 'm'.repeat(43) + linkPayload({ ...terms, ...set }, 'k1') })
  expect(left({ amountAtomic: '1', description: 'Cake', reference: null })).toEqual({
    amount: false,
    description: false,
    reference: true,
    asset: false,
  })
  expect(left({ amountAtomic: null, description: '', reference: null })).toEqual({
    amount: true,
    description: true,
    reference: true,
    asset: false,
  })
})
