import { formatAmount } from './amount.ts'
import type { Family } from './address.ts'
import type {
  AssetReason,
  BalanceReason,
  ReasonAmount,
  RecipientReason,
  SenderReason,
} from './reasons.ts'

/** The one English renderer of reasons: the sentences that callers of the API read beside the codes. */

const SPELLING: Readonly<Record<Family, string>> = {
  evm: '0x and 40 hex digits',
  solana: 'base58 of 32 bytes',
}
const LOST = 'money sent there is lost'

export function renderRecipientReason({ code, params }: RecipientReason): string {
  switch (code) {
    case 'bad_checksum':
      return 'The checksum of the recipient is wrong: one character may be mistyped.'
    case 'not_an_address':
      return `The recipient is not an address. Expected ${SPELLING[params.expected]}.`
    case 'other_network_family':
      return `The recipient is an address of another kind of network. Expected ${SPELLING[params.expected]}.`
    case 'zero_address':
      return `The recipient is the zero address: ${LOST}.`
    case 'same_as_sender':
      return 'The recipient is the sender itself.'
    case 'precompiled_contract':
      return `The recipient is a precompiled contract of the network: ${LOST}.`
    case 'token_contract':
      return `The recipient is the contract of the token ${params.symbol}: ${LOST}.`
    case 'token_mint':
      return `The recipient is the mint of a token: ${LOST}.`
    case 'token_account':
      return 'The recipient is a token account. Pay the wallet that owns it.'
    case 'program_account':
      return `The recipient is a program: ${LOST}.`
    case 'system_account':
      return `The recipient is a system account of the network: ${LOST}.`
    case 'incinerator':
      return 'The recipient is the incinerator: money sent there is destroyed.'
    case 'below_rent_minimum':
      return `This address has never been used: its first payment must be at least ${renderAmount(params.minimum)}.`
    case 'token_account_reassigned':
      return `The recipient's ${params.symbol} account belongs to another account.`
    case 'token_account_frozen':
      return `The issuer of ${params.symbol} has frozen the recipient's account.`
    case 'contract_reverts':
      return `The recipient is a contract that rejects the payment: ${params.answer}`
    case 'contract_gas_too_high':
      return `The recipient is a contract that needs more than ${params.maxGas} gas to take a payment.`
    case 'token_reverts':
      return `${params.symbol} rejects this payment: ${params.answer}`
    case 'token_returns_false':
      return `${params.symbol} rejects this payment: its contract reports that it did not transfer.`
    case 'simulation_failed':
      return `The network rejects this payment: ${params.answer}`
  }
}

export function renderBalanceReason({ code, params }: BalanceReason): string {
  const [available, required] = [renderAmount(params.available), renderAmount(params.required)]
  switch (code) {
    case 'amount_and_fee':
      return `The wallet holds ${available}; the amount and the network fee need ${required}.`
    case 'amount_fee_and_rent':
      return `The wallet holds ${available}; the amount, the network fee and the rent that must stay need ${required}.`
    case 'network_fee':
      return `The wallet holds ${available}; the network fee needs ${required}.`
    case 'network_fee_and_rent':
      return `The wallet holds ${available}; the network fee and the rent that must stay need ${required}.`
    case 'token_amount':
      return `The wallet holds ${available}; the payment needs ${required}.`
  }
}

export function renderSenderReason({ code, params }: SenderReason): string {
  switch (code) {
    case 'sender_is_contract':
      return 'walletAddress is a contract: no key can sign for it.'
    case 'sender_is_program_account':
      return 'walletAddress is not a wallet: the account belongs to a program.'
    case 'sender_token_account_frozen':
      return `The issuer of ${params.symbol} has frozen the sender's account.`
  }
}

export function renderAssetReason({ code, params }: AssetReason): string {
  const refused = `${params.symbol} cannot be paid here`
  switch (code) {
    case 'asset_missing':
      return `${refused}: there is no token at ${params.token} on this network.`
    case 'asset_decimals_differ':
      return `${refused}: it is configured with ${params.configured} decimals and has ${params.onChain}.`
    case 'asset_not_transferable':
      return `${refused}: it cannot be transferred.`
    case 'asset_calls_program':
      return `${refused}: every transfer runs the program ${params.program}, which this service does not know.`
    case 'asset_keeps_part':
      return `${refused}: it keeps a part of every transfer. Of ${renderAmount(params.sent)}, ${renderAmount(params.arrives)} would arrive.`
    case 'asset_gas_too_high':
      return `${refused}: a transfer needs more than ${params.maxGas} gas.`
  }
}

function renderAmount({ amountAtomic, symbol, decimals }: ReasonAmount): string {
  return `${formatAmount(amountAtomic, decimals)} ${symbol}`
}
