import { msg } from '@lingui/core/macro'
import type { RecipientReason } from '#contract/reasons.ts'
import type { ErrorRow } from './row.ts'

const change = { who: 'you', action: 'change', retry: 'after_change' } as const

/** The table's part for recipients that cannot be paid. A missing code does not compile. Names in braces are parameters of the reason. */
export const recipientReasons: Readonly<Record<RecipientReason['code'], ErrorRow>> = {
  bad_checksum: {
    ...change,
    title: msg`The recipient address is mistyped`,
    body: msg`Its checksum is wrong. Copy the address again. Nothing was sent.`,
  },
  not_an_address: {
    ...change,
    title: msg`The recipient is not an address`,
    body: msg`Paste the whole address. Nothing was sent.`,
  },
  other_network_family: {
    ...change,
    title: msg`The recipient is on another kind of network`,
    body: msg`Ask the recipient for an address on this network. Nothing was sent.`,
  },
  zero_address: {
    ...change,
    title: msg`The recipient is the zero address`,
    body: msg`Money sent to it is lost. Ask the recipient for their wallet address. Nothing was sent.`,
  },
  same_as_sender: {
    ...change,
    title: msg`The recipient is the wallet that pays`,
    body: msg`Enter another recipient. Nothing was sent.`,
  },
  precompiled_contract: {
    ...change,
    title: msg`The recipient is a contract of the network itself`,
    body: msg`Money sent to that contract is lost. Ask the recipient for their wallet address. Nothing was sent.`,
  },
  token_contract: {
    ...change,
    title: msg({ message: 'The recipient is the contract of the token {symbol}' }),
    body: msg`Money sent to a token contract is lost. Ask the recipient for their wallet address. Nothing was sent.`,
  },
  token_mint: {
    ...change,
    title: msg`The recipient is the mint of a token`,
    body: msg`Money sent to a mint is lost. Ask the recipient for their wallet address. Nothing was sent.`,
  },
  token_account: {
    ...change,
    title: msg`The recipient is a token account`,
    body: msg`Pay the wallet that owns it. Nothing was sent.`,
  },
  program_account: {
    ...change,
    title: msg`The recipient is a program`,
    body: msg`Money sent to a program is lost. Ask the recipient for their wallet address. Nothing was sent.`,
  },
  system_account: {
    ...change,
    title: msg`The recipient is a system account of the network`,
    body: msg`Money sent to a system account is lost. Ask the recipient for their wallet address. Nothing was sent.`,
  },
  incinerator: {
    ...change,
    title: msg`The recipient is the incinerator`,
    body: msg`Money sent to it is destroyed. Ask the recipient for their wallet address. Nothing was sent.`,
  },
  below_rent_minimum: {
    ...change,
    title: msg`The amount is too small for a new address`,
    body: msg({
      message:
        'This address has never been used: it needs at least {minimum}. Enter a larger amount. Nothing was sent.',
    }),
  },
  token_account_reassigned: {
    ...change,
    title: msg({ message: 'The recipient does not own its {symbol} account' }),
    body: msg`The token account belongs to another account. Ask the recipient for another address. Nothing was sent.`,
  },
  token_account_frozen: {
    ...change,
    title: msg({ message: 'The recipient’s {symbol} account is frozen' }),
    body: msg({
      message:
        'The issuer of {symbol} froze it. Ask the recipient for another address. Nothing was sent.',
    }),
  },
  contract_reverts: {
    ...change,
    title: msg`The recipient’s contract rejects this payment`,
    body: msg({
      message:
        'The contract answered “{answer}”. Ask the recipient for another address. Nothing was sent.',
    }),
  },
  contract_gas_too_high: {
    ...change,
    title: msg`The recipient’s contract needs too much gas`,
    body: msg({
      message:
        'It needs more than {maxGas} gas to take a payment. Ask the recipient for another address. Nothing was sent.',
    }),
  },
  token_reverts: {
    ...change,
    title: msg({ message: '{symbol} rejects this payment' }),
    body: msg({
      message:
        'The token contract answered “{answer}”. Ask the recipient for another address. Nothing was sent.',
    }),
  },
  token_returns_false: {
    ...change,
    title: msg({ message: '{symbol} rejects this payment' }),
    body: msg`The token contract reports that it would not transfer. Ask the recipient for another address. Nothing was sent.`,
  },
  simulation_failed: {
    ...change,
    title: msg`The network rejects this payment`,
    body: msg({
      message:
        'The simulation failed with “{answer}”. Check the recipient and the amount. Nothing was sent.',
    }),
  },
}
