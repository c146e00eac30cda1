import * as v from 'valibot'
import { SYMBOL_LENGTH } from './network.ts'
import { PROOF_REASONS } from './proof.ts'

/**
 * Why a payment was refused before it was built, why bytes cannot be read, and why a simulation
 * failed: closed unions of codes with typed parameters. Chains, service and proxy produce them;
 * `render-en.ts` renders them for callers of the API, and tables of the dashboard render them for
 * people. Codes are never renamed.
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

// Unused unions leave no code in the browser's first load.
/*#__NO_SIDE_EFFECTS__*/
export function reason<const Code extends string, Params extends v.ObjectEntries>(
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

/** Why an amount or a fee that can be read is not accepted, with the limit. */
export const LimitReason = v.variant('code', [
  reason('amount_below_minimum', { minimum: ReasonAmount }),
  reason('amount_above_maximum', { maximum: ReasonAmount }),
  reason('priority_fee_below_minimum', { minimum: ReasonAmount }),
  reason('priority_fee_above_maximum', { maximum: ReasonAmount }),
  /** The operator's limits for payments that a managed wallet makes from the dashboard. */
  reason('hosted_over_payment', { maximum: ReasonAmount }),
  reason('hosted_over_day', { maximum: ReasonAmount }),
])
export type LimitReason = v.InferOutput<typeof LimitReason>

export type Reason = AssetReason | RecipientReason | BalanceReason | SenderReason | LimitReason

/** Refusals without parameters for which the dashboard has its own text. */
export const REFUSAL_CODES = [
  'link_changed',
  'link_other_terms',
  'link_expired',
  'link_used',
  'link_busy',
  'link_withdrawn',
  'link_wallet',
  'link_network',
  'link_unknown',
  'link_option',
  'link_quote',
  'quote_expired',
  'quote_outrun',
  'rate_unknown',
  'rate_stale',
  'rate_disputed',
  'hosted_off',
  'hosted_wallet',
  'hosted_signer',
  'hosted_intent',
  'hosted_expired',
  'hosted_used',
  'hosted_signature',
  'hosted_not_sent',
  'approval_required',
  'approval_signer',
  'approval_over',
  'approval_signature',
  'own_key',
  'scope_missing',
  'owner_required',
  'operator_required',
  'viewer_required',
  'payee_required',
  'role_held',
  'role_configured',
  'invitation_over',
  'file_not_paid',
  'file_sold_lately',
  'file_bought',
  'files_off',
  'invoice_state',
  'invoice_draft',
  'invoice_paid',
  'source_unavailable',
  'transfer_refunded',
] as const
export type RefusalCode = (typeof REFUSAL_CODES)[number]

/** Refusals without parameters of which the code of the error tells a person enough. */
const OTHER_REFUSAL_CODES = [
  'sign_in_required',
  'sign_in_refused',
  'foreign_request',
  'relay_off',
  'database',
  'key_refused',
  'unreachable',
  'timeout',
  'nonsense',
  'wallet_owned',
  'wallet_managed',
  'payee_not_owned',
  'payment-identifier',
  'settlement_fee_budget',
  // Of `SIGNING_REFUSED`: the limit and what was asked are beside it in `details`.
  'frozen',
  'not_understood',
  'no_rule',
  'no_settlements',
  'recipient',
  'over_fee',
  'over_payment',
  'over_day',
  // Why the source of a file on sale gives none, to its merchant.
  'source_address',
  'source_unreachable',
  'source_refused',
  'source_missing',
  'source_redirect',
  'source_too_large',
  'source_empty',
  'source_answer',
  'source_sealed',
] as const

/** A reason without parameters; those of payment proofs are part of it. */
export const PlainReason = v.object({
  code: v.picklist([...REFUSAL_CODES, ...OTHER_REFUSAL_CODES, ...PROOF_REASONS]),
  params: v.object({}),
})
export type PlainReasonCode = v.InferOutput<typeof PlainReason>['code']

export type WireReason = { code: string; params: Record<string, unknown> }

/** The code of `details.reason` of an error; undefined where it has none. */
export function reasonCodeOf(details: Record<string, unknown> | undefined): string | undefined {
  const read = v.safeParse(v.object({ reason: v.object({ code: v.string() }) }), details)
  return read.success ? read.output.reason.code : undefined
}

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

/** How a field of a payment is spelled. `bytes_…`: 0x and hex digits. */
export const FIELD_FORMATS = [
  'atomic_units',
  'whole_number',
  'uint256',
  'evm_address',
  'hex',
  'lower_case_hex',
  'bytes_32',
  'bytes_2048_at_most',
  'transaction_hash',
  'signature_65_bytes',
  'base58_signature',
  'base64',
] as const
export type FieldFormat = (typeof FIELD_FORMATS)[number]

export const FIELD_TYPES = ['string', 'number', 'boolean', 'object', 'array'] as const
export type FieldType = (typeof FIELD_TYPES)[number]

const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const name = v.pipe(v.string(), v.maxLength(100))
/** A value of the sender as short JSON: `"eth"`, `5`, `{…}`. */
const received = v.pipe(v.string(), v.maxLength(100))

const FIELD_PROBLEMS = [
  reason('field_missing', {}),
  reason('field_type', { expected: v.picklist(FIELD_TYPES), received }),
  reason('field_one_of', { values: v.array(v.string()), received }),
  reason('field_format', { format: v.picklist(FIELD_FORMATS), received }),
  /** Of a text: characters. Of a number: its value. */
  reason('field_too_long', { max: count }),
  reason('field_too_short', { min: count }),
  reason('field_above', { max: count, received }),
  reason('field_below', { min: count, received }),
  reason('field_not_integer', { received }),
  reason('field_not_expected', { received }),
] as const

/** What is wrong with one field of JSON that somebody sent. */
export const FieldProblem = v.variant('code', FIELD_PROBLEMS)
export type FieldProblem = v.InferOutput<typeof FieldProblem>

/** Why bytes, or a text, are no transaction or payment that this program reads to its end. */
export const DecodeProblem = v.variant('code', [
  ...FIELD_PROBLEMS,
  // Transactions of both kinds of network.
  reason('too_large', { maxBytes: count }),
  reason('trailing_bytes', { count }),
  reason('cut_short', {}),
  reason('not_canonical', {}),
  reason('length_not_shortest', {}),
  reason('unsigned', {}),
  // EVM.
  reason('not_eip1559', {}),
  reason('nested_too_deep', {}),
  reason('value_not_shortest', {}),
  reason('wrong_field_count', {}),
  reason('access_list_malformed', {}),
  reason('access_list_present', {}),
  reason('priority_fee_above_fee', {}),
  reason('fee_above_256_bits', {}),
  reason('field_is_list', { field: name }),
  reason('leading_zeros', { field: name }),
  reason('number_too_large', { field: name }),
  reason('no_chain', {}),
  reason('no_fee', {}),
  reason('creates_contract', {}),
  reason('recipient_length', {}),
  reason('invalid_parity', {}),
  reason('high_s', {}),
  reason('unrecoverable', {}),
  reason('transaction_type', { type: name }),
  // Solana.
  reason('signature_count', { required: count, present: count }),
  reason('unknown_version', { version: count }),
  reason('lookup_table', {}),
  reason('no_writable_signer', {}),
  reason('too_few_accounts', {}),
  reason('account_twice', {}),
  reason('fee_payer_called', {}),
  reason('account_not_listed', {}),
  reason('length_too_large', {}),
  // What an RPC endpoint returned for a transaction.
  reason('foreign_receipt', {}),
  reason('endpoint_address', {}),
  reason('endpoint_signature', {}),
  reason('endpoint_no_result', {}),
  // Headers of x402, and JSON in them.
  reason('header_too_long', { maxCharacters: count }),
  reason('not_base64', {}),
  reason('not_utf8', {}),
  reason('nul_character', {}),
  reason('json_malformed', {}),
  reason('json_too_deep', { maxLevels: count }),
  reason('json_forbidden_key', { key: name }),
  reason('json_duplicate_key', { key: name }),
  /** `field`: null for the payment as a whole. */
  reason('payment_field', { field: v.nullable(v.string()), problem: FieldProblem }),
  reason('unknown_payload', {}),
  // An entry of `accepts` of a seller. `field`: null for the entry as a whole.
  reason('offer_field', { field: v.nullable(v.string()), problem: FieldProblem }),
  reason('offer_scheme', { scheme: v.string() }),
  reason('offer_network', { network: v.string() }),
  reason('offer_payee', { payee: v.string() }),
  reason('offer_resource', {}),
  // What a wallet signed as a message, kept as text.
  reason('not_an_authorization', {}),
  reason('authorization_field', { field: v.nullable(v.string()) }),
  reason('authorization_not_canonical', {}),
])
export type DecodeProblem = v.InferOutput<typeof DecodeProblem>

const simulatedMoney = { amountAtomic: v.string(), symbol, decimals }

/** Why a simulation refused a transaction or a call, beside what a comparison may find. */
export const SIMULATION_REASONS = [
  reason('nonce_used', { nonce: count, next: count }),
  reason('nonce_ahead', { nonce: count, next: count }),
  reason('payer_balance_too_low', {}),
  reason('fee_payer_balance_too_low', {}),
  reason('token_gas_too_high', { maxGas: gas }),
  reason('call_gas_too_high', { maxGas: gas }),
  reason('token_did_not_transfer', {}),
  reason('refused_with', { answer }),
  reason('refused', {}),
  // Of a recipient, a sender or an asset, as before a payment is built.
  reason('contract_reverts', { answer }),
  reason('contract_gas_too_high', { maxGas: gas }),
  reason('token_account_reassigned', { account: address, symbol }),
  reason('token_account_frozen', { account: address, symbol }),
  reason('sender_token_account_frozen', { account: address, symbol }),
  reason('asset_missing', token),
  reason('asset_decimals_differ', { ...token, configured: decimals, onChain: decimals }),
  reason('asset_not_transferable', token),
  reason('asset_calls_program', { ...token, program: address }),
  reason('asset_keeps_part', {
    ...token,
    sent: v.object(simulatedMoney),
    arrives: v.object(simulatedMoney),
  }),
] as const
