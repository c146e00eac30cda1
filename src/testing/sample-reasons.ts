import { fact, type SimulationReason } from '#contract/facts.ts'
import { NATIVE_ETH, NATIVE_SOL, type Asset } from '#contract/network.ts'
import type {
  AssetReason,
  BalanceReason,
  DecodeProblem,
  LimitReason,
  ReasonAmount,
  RecipientReason,
  SenderReason,
} from '#contract/reasons.ts'

/** One reason of each code, with parameters that are easy to find in a text. A new code without a sample does not compile. */

type Samples<Known extends { code: string }> = {
  [Code in Known['code']]: Extract<Known, { code: Code }>
}

const USDC: Asset = {
  address: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const ACCOUNT = '7vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi'
const TOKEN = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'

const of = ({ address, symbol, decimals }: Asset, amountAtomic: bigint): ReasonAmount => ({
  amountAtomic,
  asset: address,
  symbol,
  decimals,
})

export const recipientSamples: Samples<RecipientReason> = {
  bad_checksum: { code: 'bad_checksum', params: {} },
  not_an_address: { code: 'not_an_address', params: { expected: 'evm' } },
  other_network_family: { code: 'other_network_family', params: { expected: 'solana' } },
  zero_address: { code: 'zero_address', params: {} },
  same_as_sender: { code: 'same_as_sender', params: {} },
  precompiled_contract: { code: 'precompiled_contract', params: {} },
  token_contract: { code: 'token_contract', params: { token: TOKEN, symbol: 'USDC' } },
  token_mint: { code: 'token_mint', params: {} },
  token_account: { code: 'token_account', params: {} },
  program_account: { code: 'program_account', params: {} },
  system_account: { code: 'system_account', params: {} },
  incinerator: { code: 'incinerator', params: {} },
  below_rent_minimum: { code: 'below_rent_minimum', params: { minimum: of(NATIVE_SOL, 890_880n) } },
  token_account_reassigned: {
    code: 'token_account_reassigned',
    params: { account: ACCOUNT, symbol: 'USDC' },
  },
  token_account_frozen: {
    code: 'token_account_frozen',
    params: { account: ACCOUNT, symbol: 'USDC' },
  },
  contract_reverts: { code: 'contract_reverts', params: { answer: 'execution reverted: closed' } },
  contract_gas_too_high: { code: 'contract_gas_too_high', params: { maxGas: 100_000 } },
  token_reverts: {
    code: 'token_reverts',
    params: { token: TOKEN, symbol: 'USDC', answer: 'execution reverted: paused' },
  },
  token_returns_false: { code: 'token_returns_false', params: { token: TOKEN, symbol: 'USDC' } },
  simulation_failed: { code: 'simulation_failed', params: { answer: 'AccountNotFound' } },
}

const shortOfSol = {
  required: of(NATIVE_SOL, 1_000_005_000n),
  available: of(NATIVE_SOL, 1_000_000_000n),
  fee: of(NATIVE_SOL, 5_000n),
}

export const balanceSamples: Samples<BalanceReason> = {
  amount_and_fee: {
    code: 'amount_and_fee',
    params: {
      required: of(NATIVE_ETH, 1_500_000_000_000_000_001n),
      available: of(NATIVE_ETH, 10n ** 18n),
      fee: of(NATIVE_ETH, 21n * 10n ** 12n),
    },
  },
  amount_fee_and_rent: {
    code: 'amount_fee_and_rent',
    params: { ...shortOfSol, rent: of(NATIVE_SOL, 890_880n) },
  },
  network_fee: { code: 'network_fee', params: shortOfSol },
  network_fee_and_rent: {
    code: 'network_fee_and_rent',
    params: { ...shortOfSol, rent: of(NATIVE_SOL, 890_880n) },
  },
  token_amount: {
    code: 'token_amount',
    params: { required: of(USDC, 10_000_000n), available: of(USDC, 2_500_000n) },
  },
}

export const senderSamples: Samples<SenderReason> = {
  sender_is_contract: { code: 'sender_is_contract', params: {} },
  sender_is_program_account: { code: 'sender_is_program_account', params: {} },
  sender_token_account_frozen: {
    code: 'sender_token_account_frozen',
    params: { account: ACCOUNT, symbol: 'USDC' },
  },
}

const token = { token: TOKEN, symbol: 'USDC' }

export const assetSamples: Samples<AssetReason> = {
  asset_missing: { code: 'asset_missing', params: token },
  asset_decimals_differ: {
    code: 'asset_decimals_differ',
    params: { ...token, configured: 6, onChain: 18 },
  },
  asset_not_transferable: { code: 'asset_not_transferable', params: token },
  asset_calls_program: { code: 'asset_calls_program', params: { ...token, program: ACCOUNT } },
  asset_keeps_part: {
    code: 'asset_keeps_part',
    params: { ...token, sent: of(USDC, 1_500_000n), arrives: of(USDC, 1_485_000n) },
  },
  asset_gas_too_high: { code: 'asset_gas_too_high', params: { ...token, maxGas: 500_000 } },
}

const milliEther = of(NATIVE_ETH, 10n ** 15n)

export const limitSamples: Samples<LimitReason> = {
  amount_below_minimum: { code: 'amount_below_minimum', params: { minimum: milliEther } },
  amount_above_maximum: { code: 'amount_above_maximum', params: { maximum: milliEther } },
  priority_fee_below_minimum: {
    code: 'priority_fee_below_minimum',
    params: { minimum: milliEther },
  },
  priority_fee_above_maximum: {
    code: 'priority_fee_above_maximum',
    params: { maximum: milliEther },
  },
  hosted_over_payment: { code: 'hosted_over_payment', params: { maximum: milliEther } },
  hosted_over_day: { code: 'hosted_over_day', params: { maximum: milliEther } },
}

export const decodeSamples: Samples<DecodeProblem> = {
  field_missing: fact('field_missing'),
  field_type: { code: 'field_type', params: { expected: 'string', received: '5' } },
  field_one_of: { code: 'field_one_of', params: { values: ['1', '2'], received: '5' } },
  field_format: { code: 'field_format', params: { format: 'evm_address', received: '"x"' } },
  field_too_long: { code: 'field_too_long', params: { max: 128 } },
  field_too_short: { code: 'field_too_short', params: { min: 2 } },
  field_above: { code: 'field_above', params: { max: 128, received: '5' } },
  field_below: { code: 'field_below', params: { min: 2, received: '5' } },
  field_not_integer: { code: 'field_not_integer', params: { received: '5' } },
  field_not_expected: { code: 'field_not_expected', params: { received: '5' } },
  too_large: { code: 'too_large', params: { maxBytes: 1232 } },
  trailing_bytes: { code: 'trailing_bytes', params: { count: 3 } },
  cut_short: fact('cut_short'),
  not_canonical: fact('not_canonical'),
  length_not_shortest: fact('length_not_shortest'),
  unsigned: fact('unsigned'),
  not_eip1559: fact('not_eip1559'),
  nested_too_deep: fact('nested_too_deep'),
  value_not_shortest: fact('value_not_shortest'),
  wrong_field_count: fact('wrong_field_count'),
  access_list_malformed: fact('access_list_malformed'),
  access_list_present: fact('access_list_present'),
  priority_fee_above_fee: fact('priority_fee_above_fee'),
  fee_above_256_bits: fact('fee_above_256_bits'),
  field_is_list: { code: 'field_is_list', params: { field: 'nonce' } },
  leading_zeros: { code: 'leading_zeros', params: { field: 'nonce' } },
  number_too_large: { code: 'number_too_large', params: { field: 'nonce' } },
  no_chain: fact('no_chain'),
  no_fee: fact('no_fee'),
  creates_contract: fact('creates_contract'),
  recipient_length: fact('recipient_length'),
  invalid_parity: fact('invalid_parity'),
  high_s: fact('high_s'),
  unrecoverable: fact('unrecoverable'),
  transaction_type: { code: 'transaction_type', params: { type: 'eip4844' } },
  signature_count: { code: 'signature_count', params: { required: 2, present: 1 } },
  unknown_version: { code: 'unknown_version', params: { version: 7 } },
  lookup_table: fact('lookup_table'),
  no_writable_signer: fact('no_writable_signer'),
  too_few_accounts: fact('too_few_accounts'),
  account_twice: fact('account_twice'),
  fee_payer_called: fact('fee_payer_called'),
  account_not_listed: fact('account_not_listed'),
  length_too_large: fact('length_too_large'),
  foreign_receipt: fact('foreign_receipt'),
  endpoint_address: fact('endpoint_address'),
  endpoint_signature: fact('endpoint_signature'),
  endpoint_no_result: fact('endpoint_no_result'),
  header_too_long: { code: 'header_too_long', params: { maxCharacters: 8192 } },
  not_base64: fact('not_base64'),
  not_utf8: fact('not_utf8'),
  nul_character: fact('nul_character'),
  json_malformed: fact('json_malformed'),
  json_too_deep: { code: 'json_too_deep', params: { maxLevels: 16 } },
  json_forbidden_key: { code: 'json_forbidden_key', params: { key: 'amount' } },
  json_duplicate_key: { code: 'json_duplicate_key', params: { key: 'amount' } },
  payment_field: {
    code: 'payment_field',
    params: { field: 'amount', problem: fact('field_missing') },
  },
  unknown_payload: fact('unknown_payload'),
  offer_field: { code: 'offer_field', params: { field: 'amount', problem: fact('field_missing') } },
  offer_scheme: { code: 'offer_scheme', params: { scheme: 'upto' } },
  offer_network: { code: 'offer_network', params: { network: 'nowhere' } },
  offer_payee: { code: 'offer_payee', params: { payee: 'nobody' } },
  offer_resource: fact('offer_resource'),
  not_an_authorization: fact('not_an_authorization'),
  authorization_field: { code: 'authorization_field', params: { field: 'nonce' } },
  authorization_not_canonical: fact('authorization_not_canonical'),
}

const simulated = { amountAtomic: '1000000', symbol: 'USDC', decimals: 6 }

export const simulationSamples: Samples<SimulationReason> = {
  nonce_used: { code: 'nonce_used', params: { nonce: 7, next: 9 } },
  nonce_ahead: { code: 'nonce_ahead', params: { nonce: 9, next: 7 } },
  payer_balance_too_low: fact('payer_balance_too_low'),
  fee_payer_balance_too_low: fact('fee_payer_balance_too_low'),
  token_gas_too_high: { code: 'token_gas_too_high', params: { maxGas: 500_000 } },
  call_gas_too_high: { code: 'call_gas_too_high', params: { maxGas: 500_000 } },
  token_did_not_transfer: fact('token_did_not_transfer'),
  refused_with: { code: 'refused_with', params: { answer: 'execution reverted: paused' } },
  refused: fact('refused'),
  contract_reverts: { code: 'contract_reverts', params: { answer: 'execution reverted: closed' } },
  contract_gas_too_high: { code: 'contract_gas_too_high', params: { maxGas: 100_000 } },
  token_account_reassigned: {
    code: 'token_account_reassigned',
    params: { account: ACCOUNT, symbol: 'USDC' },
  },
  token_account_frozen: {
    code: 'token_account_frozen',
    params: { account: ACCOUNT, symbol: 'USDC' },
  },
  sender_token_account_frozen: {
    code: 'sender_token_account_frozen',
    params: { account: ACCOUNT, symbol: 'USDC' },
  },
  asset_missing: { code: 'asset_missing', params: { token: TOKEN, symbol: 'USDC' } },
  asset_decimals_differ: {
    code: 'asset_decimals_differ',
    params: { token: TOKEN, symbol: 'USDC', configured: 6, onChain: 18 },
  },
  asset_not_transferable: {
    code: 'asset_not_transferable',
    params: { token: TOKEN, symbol: 'USDC' },
  },
  asset_calls_program: {
    code: 'asset_calls_program',
    params: { token: TOKEN, symbol: 'USDC', program: ACCOUNT },
  },
  asset_keeps_part: {
    code: 'asset_keeps_part',
    params: {
      token: TOKEN,
      symbol: 'USDC',
      sent: simulated,
      arrives: { ...simulated, amountAtomic: '990000' },
    },
  },
  unreadable: { code: 'unreadable', params: { problem: fact('cut_short') } },
  not_signed: fact('not_signed'),
}
