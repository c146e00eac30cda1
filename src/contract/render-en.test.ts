import { expect, test } from 'vitest'
import {
  assetSamples,
  balanceSamples,
  recipientSamples,
  senderSamples,
} from '#testing/sample-reasons.ts'
import {
  renderAssetReason,
  renderBalanceReason,
  renderRecipientReason,
  renderSenderReason,
} from './render-en.ts'

test('every reason of a recipient is a sentence with its figures', () => {
  expect(Object.values(recipientSamples).map(renderRecipientReason)).toEqual([
    'The checksum of the recipient is wrong: one character may be mistyped.',
    'The recipient is not an address. Expected 0x and 40 hex digits.',
    'The recipient is an address of another kind of network. Expected base58 of 32 bytes.',
    'The recipient is the zero address: money sent there is lost.',
    'The recipient is the sender itself.',
    'The recipient is a precompiled contract of the network: money sent there is lost.',
    'The recipient is the contract of the token USDC: money sent there is lost.',
    'The recipient is the mint of a token: money sent there is lost.',
    'The recipient is a token account. Pay the wallet that owns it.',
    'The recipient is a program: money sent there is lost.',
    'The recipient is a system account of the network: money sent there is lost.',
    'The recipient is the incinerator: money sent there is destroyed.',
    'This address has never been used: its first payment must be at least 0.00089088 SOL.',
    "The recipient's USDC account belongs to another account.",
    "The issuer of USDC has frozen the recipient's account.",
    'The recipient is a contract that rejects the payment: execution reverted: closed',
    'The recipient is a contract that needs more than 100000 gas to take a payment.',
    'USDC rejects this payment: execution reverted: paused',
    'USDC rejects this payment: its contract reports that it did not transfer.',
    'The network rejects this payment: AccountNotFound',
  ])
})

test('every reason of a balance is a sentence with what is there and what is needed', () => {
  expect(Object.values(balanceSamples).map(renderBalanceReason)).toEqual([
    'The wallet holds 1 ETH; the amount and the network fee need 1.500000000000000001 ETH.',
    'The wallet holds 1 SOL; the amount, the network fee and the rent that must stay need 1.000005 SOL.',
    'The wallet holds 1 SOL; the network fee needs 1.000005 SOL.',
    'The wallet holds 1 SOL; the network fee and the rent that must stay need 1.000005 SOL.',
    'The wallet holds 2.5 USDC; the payment needs 10 USDC.',
  ])
})

test('every reason of a sender is a sentence', () => {
  expect(Object.values(senderSamples).map(renderSenderReason)).toEqual([
    'walletAddress is a contract: no key can sign for it.',
    'walletAddress is not a wallet: the account belongs to a program.',
    "The issuer of USDC has frozen the sender's account.",
  ])
})

test('every reason of an asset is a sentence', () => {
  const token = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
  expect(Object.values(assetSamples).map(renderAssetReason)).toEqual([
    `USDC cannot be paid here: there is no token at ${token} on this network.`,
    'USDC cannot be paid here: it is configured with 6 decimals and has 18.',
    'USDC cannot be paid here: it cannot be transferred.',
    'USDC cannot be paid here: every transfer runs the program 7vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi, which this service does not know.',
    'USDC cannot be paid here: it keeps a part of every transfer. Of 1.5 USDC, 1.485 USDC would arrive.',
    'USDC cannot be paid here: a transfer needs more than 500000 gas.',
  ])
})
