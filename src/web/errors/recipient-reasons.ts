import { msg } from '@lingui/core/macro'
import type { RecipientReason } from '#contract/reasons.ts'
import type { ErrorRow } from './row.ts'

const change = { who: 'you', action: 'change', retry: 'after_change' } as const

/** Nobody can sign for such an address. */
const noWallet = {
  ...change,
  title: msg`Recipient is not a wallet`,
  unsent: true,
  body: msg`Money sent there is lost. Ask for another address.`,
} as const

/** The table's part for recipients that cannot be paid. A missing code does not compile. Names in braces are parameters of the reason. */
export const recipientReasons: Readonly<Record<RecipientReason['code'], ErrorRow>> = {
  bad_checksum: {
    ...change,
    title: msg`Recipient address is mistyped`,
    unsent: true,
    body: msg`Wrong checksum. Copy it again.`,
  },
  not_an_address: {
    ...change,
    title: msg`Recipient is not an address`,
    unsent: true,
    body: msg`Paste the whole address.`,
  },
  other_network_family: {
    ...change,
    title: msg`Wrong recipient address type`,
    unsent: true,
    body: msg`Use an address on this network.`,
  },
  zero_address: noWallet,
  same_as_sender: {
    ...change,
    title: msg`Recipient is the paying wallet`,
    unsent: true,
    body: msg`Enter another recipient.`,
  },
  precompiled_contract: noWallet,
  token_contract: {
    ...change,
    title: msg({ message: 'Recipient is the {symbol} contract' }),
    unsent: true,
    body: msg`Money sent there is lost. Ask for another address.`,
  },
  token_mint: noWallet,
  token_account: {
    ...change,
    title: msg`Recipient is a token account`,
    unsent: true,
    body: msg`Pay its owner’s wallet.`,
  },
  program_account: noWallet,
  system_account: noWallet,
  incinerator: noWallet,
  below_rent_minimum: {
    ...change,
    title: msg`Amount too small`,
    unsent: true,
    body: msg({
      message: 'Send at least {minimum}.',
    }),
  },
  token_account_reassigned: {
    ...change,
    title: msg({ message: '{symbol} account has another owner' }),
    unsent: true,
    body: msg`Ask for another address.`,
  },
  token_account_frozen: {
    ...change,
    title: msg({ message: 'Recipient’s {symbol} account is frozen' }),
    unsent: true,
    body: msg({
      message: 'Ask for another address.',
    }),
  },
  contract_reverts: {
    ...change,
    title: msg`Recipient’s contract rejects this payment`,
    unsent: true,
    body: msg({
      message: 'It answered “{answer}”. Ask for another address.',
    }),
  },
  contract_gas_too_high: {
    ...change,
    title: msg({ message: 'Recipient’s contract needs over {maxGas} gas' }),
    unsent: true,
    body: msg`Ask for another address.`,
  },
  token_reverts: {
    ...change,
    title: msg({ message: '{symbol} rejects this payment' }),
    unsent: true,
    body: msg({
      message: 'It answered “{answer}”. Ask for another address.',
    }),
  },
  token_returns_false: {
    ...change,
    title: msg({ message: '{symbol} rejects this payment' }),
    unsent: true,
    body: msg`Ask for another address.`,
  },
  simulation_failed: {
    ...change,
    title: msg`Network rejects this payment`,
    unsent: true,
    body: msg({
      message: 'It answered “{answer}”. Check recipient and amount.',
    }),
  },
}
