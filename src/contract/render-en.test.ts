import { expect, test } from 'vitest'
import {
  assetSamples,
  balanceSamples,
  decodeSamples,
  recipientSamples,
  senderSamples,
} from '#testing/sample-reasons.ts'
import {
  renderAssetReason,
  renderBalanceReason,
  renderDecodeProblem,
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
    'The payment must be at least 0.00089088 SOL. With less, the account of the recipient would hold less than Solana requires.',
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

test('every problem of a decoder is a sentence with its parameters', () => {
  expect(Object.values(decodeSamples).map(renderDecodeProblem)).toEqual([
    'Expected a value, received nothing.',
    'Expected a string, received 5.',
    'Expected one of 1, 2, received 5.',
    'Expected an EVM address, received "x".',
    'Expected at most 128 characters.',
    'Expected at least 2 characters.',
    'Expected at most 128, received 5.',
    'Expected at least 2, received 5.',
    'Expected a whole number, received 5.',
    'Expected another value, received 5.',
    'The transaction is larger than 1232 bytes.',
    '3 bytes follow the transaction.',
    'The transaction ends in the middle of a field.',
    'The transaction is not spelled in its canonical form.',
    'A length is not spelled in its shortest form.',
    'The transaction carries no signature.',
    'This is not an EIP-1559 transaction.',
    'The lists are nested too deep.',
    'A field is not spelled in its shortest form.',
    'The transaction has not the fields of EIP-1559.',
    'The access list is not a list.',
    'The transaction carries an access list.',
    'The priority fee is above the fee.',
    'The largest fee of the transaction is above 2^256 - 1 wei.',
    'The field nonce is not a value.',
    'The field nonce has leading zeros.',
    'The field nonce is too large.',
    'The transaction names no chain.',
    'The transaction names no fee.',
    'The transaction creates a contract.',
    'The recipient is not an address.',
    'The parity of the signature is neither 0 nor 1.',
    'The signature has a high s: it is a twin of the real one.',
    'No account can have made the signature.',
    'The transaction is of the type eip4844.',
    'The message asks for 2 signatures and 1 are there.',
    'The message has the version 7, which this program does not know.',
    'The transaction takes accounts from a lookup table.',
    'Nobody can pay the fee: the first signer is not writable.',
    'The header counts more accounts than there are.',
    'An account is listed twice.',
    'The fee payer is called as a program.',
    'An instruction names an account that is not listed.',
    'A length is larger than the transaction.',
    'The receipt belongs to another transaction.',
    'The node named something that is not an address.',
    'The node named something that is not a signature.',
    'The node does not say how the transaction ended.',
    'The proof is larger than 8192 characters.',
    'The proof is not canonical base64.',
    'The proof is not valid UTF-8.',
    'The proof holds a NUL character.',
    'Expected well-formed JSON.',
    'Expected at most 16 levels of nesting.',
    'The key "amount" is not allowed.',
    'The key "amount" stands twice in one object.',
    'The proof is not an x402 payment: at amount: Expected a value, received nothing.',
    'The payload is of no known kind.',
    "The seller's terms are not readable: at amount: Expected a value, received nothing.",
    'The seller asks for the scheme upto.',
    'The seller asks on an unknown network: nowhere.',
    'The seller names a payee that is not an address: nobody.',
    'The seller does not say what is paid for.',
    'This is not the text of an authorization.',
    'The authorization cannot be read at nonce.',
    'The authorization is not spelled in its canonical form.',
  ])
})
