import { NATIVE_ETH, NATIVE_SOL, type Asset } from '#contract/network.ts'
import type {
  AssetReason,
  BalanceReason,
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
