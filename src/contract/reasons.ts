import * as v from 'valibot'
import { SYMBOL_LENGTH } from './network.ts'

/**
 * Why a payment was refused before it was built: closed unions of codes with typed parameters.
 * Chains, service and proxy produce them; `render-en.ts` renders them for callers of the API, and
 * the tables in `src/web/errors` render them for people. Codes are never renamed.
 *
 * Each schema reads the wire form (`details.reason`), where amounts are atomic units as text; the
 * type is the form inside the programs.
 */

const bigintText = v.pipe(
  v.string(),
  v.regex(/^(0|[1-9][0-9]{0,77})$/, 'Expected atomic units as a string of digits.'),
  v.transform((digits) => BigInt(digits)),
)
const address = v.pipe(v.string(), v.maxLength(64))
const symbol = v.pipe(v.string(), v.minLength(1), v.maxLength(SYMBOL_LENGTH))
const decimals = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(255))
const gas = v.pipe(v.number(), v.integer(), v.minValue(0))
const family = v.picklist(['evm', 'solana'])

/** What a contract or a cluster answered. A third party chose this text. */
export const MAX_RESPONSE_LENGTH = 200
const answer = v.pipe(v.string(), v.maxLength(MAX_RESPONSE_LENGTH))

/** An amount with everything needed to display it. `asset` is an address. */
export const ReasonAmount = v.object({
  amountAtomic: bigintText,
  asset: address,
  symbol,
  decimals,
})
export type ReasonAmount = v.InferOutput<typeof ReasonAmount>

function reason<const Code extends string, Params extends v.ObjectEntries>(
  code: Code,
  params: Params,
) {
  return v.object({ code: v.literal(code), params: v.object(params) })
}

/** Why the recipient cannot receive the payment. */
export const RecipientReason = v.variant('code', [
  reason('bad_checksum', {}),
  reason('not_an_address', { expected: family }),
  reason('other_network_family', { expected: family }),
  reason('zero_address', {}),
  reason('same_as_sender', {}),
  reason('precompiled_contract', {}),
  reason('token_contract', { token: address, symbol }),
  reason('token_mint', {}),
  reason('token_account', {}),
  reason('program_account', {}),
  reason('system_account', {}),
  reason('incinerator', {}),
  /**
   * Solana: the network keeps no account that holds less than its rent. `minimum`: the smallest
   * this payment can be.
   */
  reason('below_rent_minimum', { minimum: ReasonAmount }),
  /** Solana: the owner of the recipient's token account gave it to another account. */
  reason('token_account_reassigned', { account: address, symbol }),
  reason('token_account_frozen', { account: address, symbol }),
  reason('contract_reverts', { answer }),
  reason('contract_gas_too_high', { maxGas: gas }),
  reason('token_reverts', { token: address, symbol, answer }),
  reason('token_returns_false', { token: address, symbol }),
  reason('simulation_failed', { answer }),
])
export type RecipientReason = v.InferOutput<typeof RecipientReason>

const shortage = { required: ReasonAmount, available: ReasonAmount }

/**
 * Why the balance does not cover the payment. `fee` is the most the network may charge, including
 * the rent of an account that is opened.
 */
export const BalanceReason = v.variant('code', [
  reason('amount_and_fee', { ...shortage, fee: ReasonAmount }),
  /** Solana: `rent` must stay in the wallet, unless the payment empties it. */
  reason('amount_fee_and_rent', { ...shortage, fee: ReasonAmount, rent: ReasonAmount }),
  reason('network_fee', { ...shortage, fee: ReasonAmount }),
  reason('network_fee_and_rent', { ...shortage, fee: ReasonAmount, rent: ReasonAmount }),
  reason('token_amount', shortage),
])
export type BalanceReason = v.InferOutput<typeof BalanceReason>

/** Why the sender cannot pay at all, regardless of its balance. */
export const SenderReason = v.variant('code', [
  reason('sender_is_contract', {}),
  reason('sender_is_program_account', {}),
  reason('sender_token_account_frozen', { account: address, symbol }),
])
export type SenderReason = v.InferOutput<typeof SenderReason>

const token = { token: address, symbol }

/**
 * Why exact amounts of a token cannot be paid. Its configuration or its issuer decides, not the
 * payer.
 */
export const AssetReason = v.variant('code', [
  reason('asset_missing', token),
  reason('asset_decimals_differ', { ...token, configured: decimals, onChain: decimals }),
  reason('asset_not_transferable', token),
  /** Token-2022: every transfer runs this program. */
  reason('asset_calls_program', { ...token, program: address }),
  reason('asset_keeps_part', { ...token, sent: ReasonAmount, arrives: ReasonAmount }),
  reason('asset_gas_too_high', { ...token, maxGas: gas }),
])
export type AssetReason = v.InferOutput<typeof AssetReason>

export type Reason = AssetReason | RecipientReason | BalanceReason | SenderReason

export type WireReason = { code: string; params: Record<string, unknown> }

/** The wire form: amounts in atomic units become text. */
export function toWire({ code, params }: Reason): WireReason {
  return {
    code,
    params: Object.fromEntries(
      Object.entries(params).map(([name, value]) => [
        name,
        isAmount(value) ? amountToWire(value) : value,
      ]),
    ),
  }
}

function amountToWire(amount: ReasonAmount): Record<string, unknown> {
  return { ...amount, amountAtomic: amount.amountAtomic.toString() }
}

export function isAmount(value: unknown): value is ReasonAmount {
  return typeof value === 'object' && value !== null && 'amountAtomic' in value
}
