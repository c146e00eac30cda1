import * as v from 'valibot'
import {
  DecodeProblem,
  SIMULATION_REASONS,
  reason as entry,
  toWire,
  type Reason,
} from './reasons.ts'

/**
 * What a comparison or a check expected and found, as codes with parameters. Sentences are written where they are shown: `render-facts.ts` writes the
 * English of the API, the dashboard has a table per union. Codes are never renamed.
 *
 * Amounts are atomic units (digits) with their asset, times are Unix milliseconds, addresses and hashes are text.
 */

/** Contract calls that are told by their meaning. */
export const CALL_NAMES = [
  'transfer',
  'transfer_with_value',
  'irregular_transfer',
  'approve',
  'increase_allowance',
  'permit',
  'permit2_permit',
  'permit2_approve',
  'approve_all',
  'transfer_from',
  'transfer_with_authorization',
  'multicall',
] as const
export type CallName = (typeof CALL_NAMES)[number]

/** Instructions of Solana's token programs that are never part of a payment. */
export const TOKEN_INSTRUCTION_NAMES = [
  'transfer_without_mint',
  'approve',
  'revoke',
  'set_authority',
  'mint_to',
  'burn',
  'close_account',
  'freeze_account',
  'thaw_account',
  'irregular_transfer',
  'approve_checked',
  'mint_to_checked',
  'burn_checked',
  'transfer_with_fee',
  'associated_account',
] as const
export type TokenInstructionName = (typeof TOKEN_INSTRUCTION_NAMES)[number]

const text = v.string()
const integer = v.pipe(v.number(), v.integer())
/** The latest time that is told, in Unix milliseconds: a JSON number of more digits is no plain integer. Later ones are no limit. */
export const MAX_TIME_MS = 999_999_999_999_999
const time = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_TIME_MS))
const decimals = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(255))
/** Digits of an integer that may pass a double: atomic units, gas, micro-lamports. Negative where a balance fell. */
const digits = v.pipe(v.string(), v.regex(/^-?(0|[1-9][0-9]{0,77})$/))
const addresses = v.array(text)
/** `symbol` and `decimals` of the asset. */
const money = { amountAtomic: digits, symbol: text, decimals }
/** `call`: what the four bytes are known to mean. */
const called = { selector: text, call: v.nullable(v.picklist(CALL_NAMES)) }

/** Values and words that comparisons and checks share. */
const SHARED = [
  entry('address', { address: text }),
  entry('amount', money),
  entry('count', { count: integer }),
  entry('network', { network: text }),
  /** What somebody wrote: a memo, a URL, the reason a node or a contract gave. */
  entry('text', { text }),
  entry('data', { data: text }),
  /** Hash (EVM) or first signature (Solana). */
  entry('transaction', { transaction: text }),
  entry('time', { at: time }),
  entry('no_expiry', {}),
  entry('none', {}),
  entry('nothing', {}),
  entry('nobody', {}),
  entry('failed', {}),
  entry('plain_transfer', {}),
  entry('one_transfer', {}),
  entry('another_transaction', {}),
  /** Operations of a transaction. */
  entry('compute_limit', {}),
  entry('compute_price', {}),
  entry('transfer', {}),
  entry('token_transfer', {}),
  entry('memo', {}),
  entry('wallet_guard', {}),
  entry('account_opened', {}),
  entry('other_instruction', {}),
  /** Bytes that are no payment this program can read. */
  entry('unreadable', { problem: DecodeProblem }),
  entry('not_signed', {}),
] as const

const MATCH_ITEMS = [
  ...SHARED,
  // Networks and accounts.
  entry('unknown_blockhash', {}),
  entry('blockhash_decides', {}),
  entry('called_contract_decides', {}),
  entry('other_instruction_decides', {}),
  entry('account_of_authority', { authority: text, account: text }),
  entry('token_account_owner', { account: text }),
  entry('invalid_signatures', { signers: addresses }),
  entry('missing_signatures', { signers: addresses, missing: addresses }),
  // Amounts and assets.
  entry('transfers_total', { ...money, count: integer }),
  entry('smallest_units', { amountAtomic: digits }),
  /** Of a token whose symbol is not known. */
  entry('token_amount', { amountAtomic: digits, decimals, token: v.nullable(text) }),
  entry('moved_by_token', money),
  entry('moved_by_balance', { ...money, owner: v.nullable(text) }),
  entry('at_most', money),
  entry('currency', { symbol: text }),
  entry('token', { address: text, symbol: v.nullable(text), token2022: v.boolean() }),
  entry('contract', { address: text }),
  entry('any_token', {}),
  entry('not_one_native_transfer', { symbol: text }),
  entry('not_one_token_transfer', {}),
  // Fees and rent.
  entry('fee_without_limits', money),
  entry('free_without_limits', {}),
  entry('paid_by_sender', {}),
  entry('gas_fee', { gas: digits, maxFeePerGas: digits, maxPriorityFeePerGas: digits }),
  entry('compute_fee', { units: integer, microLamports: digits }),
  entry('compute_fee_at_most', { units: integer, microLamports: digits }),
  entry('price_per_unit', { microLamports: digits }),
  entry('rent_at_most', money),
  entry('account_exists', {}),
  entry('token_accounts_of', { owners: addresses }),
  // How long it can be executed.
  entry('until_nonce_used', {}),
  entry('nonce', { nonce: integer }),
  entry('recent_blockhash', {}),
  entry('blockhash', { blockhash: text }),
  entry('durable_nonce', {}),
  entry('until', { at: time }),
  entry('landed_in_block', {}),
  entry('block', { height: integer }),
  entry('landed_in_slot', {}),
  entry('slot', { height: integer }),
  // What it does.
  entry('plain_transfer_within', { gas: digits }),
  entry('plain_transfer_with', { gas: digits }),
  entry('token_transfer_within', { gas: digits }),
  entry('token_transfer_with', { gas: digits }),
  entry('one_token_transfer', {}),
  entry('one_signed_transfer', {}),
  entry('one_memo', {}),
  entry('account_opened_if_missing', {}),
  entry('wallet_guards_at_most', { count: integer }),
  entry('note', {}),
  entry('memo_only', {}),
  entry('approval', {}),
  entry('authorization_executed', {}),
  entry('call', called),
  /** `bytes`: the length of the calldata. */
  entry('contract_call', { ...called, bytes: integer }),
  entry('another_call', called),
  entry('unnamed_call', {}),
  entry('token_instruction', {
    program: text,
    name: v.nullable(v.picklist(TOKEN_INSTRUCTION_NAMES)),
    number: v.nullable(integer),
  }),
  entry('unknown_instruction', { program: text }),
  entry('reverted', {}),
  entry('reverted_nothing_moved', {}),
  entry('reverted_nothing_allowed', {}),
  entry('failed_nothing_moved', {}),
  entry('reviewed_transaction', {}),
  entry('reviewed_unreadable', { problem: DecodeProblem }),
  entry('not_payers_transaction', {}),
  entry('readable_payment', {}),
] as const

export type MatchItem = v.InferOutput<(typeof MATCH_ITEMS)[number]>
/** What a row of a comparison between an intent and a transaction expected or found. */
export const MatchFact = v.variant('code', [
  ...MATCH_ITEMS,
  entry('list', { facts: v.array(v.variant('code', MATCH_ITEMS)) }),
])
export type MatchFact = v.InferOutput<typeof MatchFact>

const CHECK_ITEMS = [
  ...SHARED,
  ...SIMULATION_REASONS,
  // The form of a proof.
  entry('base64_payment', {}),
  entry('such_payment', {}),
  entry('x402_payment', {}),
  entry('version', { version: integer }),
  entry('one_of', { values: v.array(text) }),
  /** `method`: null where the payment names none. */
  entry('payload_of', { method: v.nullable(text) }),
  entry('such_payload', {}),
  entry('unreadable_field', { field: text, problem: DecodeProblem }),
  entry('evm_address', {}),
  entry('signed_terms', {}),
  entry('offer', {}),
  entry('base58_signature', {}),
  entry('plain_eip1559', {}),
  entry('such_transaction', {}),
  entry('solana_transaction_without_tables', {}),
  entry('solana_transaction', {}),
  entry('readable_transaction', {}),
  entry('signature_of_64_bytes', {}),
  entry('base64', {}),
  // Signatures and parties.
  entry('payer', {}),
  entry('payer_signature', {}),
  entry('payer_not_payee', {}),
  entry('another_account', {}),
  entry('own_token_account', {}),
  entry('token_account', {}),
  entry('unrecoverable_signature', {}),
  entry('undeployed_signature', {}),
  entry('contract_refused', {}),
  entry('token_with_authorizations', {}),
  entry('token_without_domain', {}),
  entry('token_name_missing', {}),
  entry('signed_by_payer', {}),
  entry('not_validly_signed', {}),
  entry('signed_transaction', {}),
  entry('not_in_receipt', {}),
  entry('not_named', {}),
  entry('chain_id', { chainId: integer }),
  // Amounts.
  entry('lamports', { amountAtomic: digits }),
  entry('at_least', money),
  entry('at_least_unpromised', money),
  entry('promised', { ...money, promisedAtomic: digits }),
  entry('reserved', {}),
  // Whether a payer made a settlement fail.
  entry('no_failed_settlement', {}),
  entry('refused_until', { at: time, transaction: text }),
  // Times. `signed_time` is a limit that the payer signed; the API spells it in Unix seconds.
  entry('signed_time', { at: time }),
  entry('valid_from', { at: time }),
  entry('valid_until', { at: time }),
  /** Null: no limit. */
  entry('window', { from: time, to: v.nullable(time) }),
  // Whether it was used.
  entry('never_used', {}),
  entry('used', {}),
  entry('same_question', {}),
  entry('unused_or_same_question', {}),
  entry('in_settlement', {}),
  entry('in_other_settlement', {}),
  entry('unused_or_in_settlement', {}),
  entry('confirmed_order', {}),
  entry('order_for', { resource: v.nullable(text) }),
  entry('order', { order: text, resource: v.nullable(text) }),
  entry('another_order', {}),
  entry('own_payment_id', {}),
  entry('signed_or_api_key', {}),
  entry('transaction_name', {}),
  // What the chain shows.
  entry('never_executed', {}),
  entry('not_executed', {}),
  entry('executed', {}),
  entry('executed_or_cancelled', {}),
  entry('never_broadcast', {}),
  entry('never_broadcast_without_memo', {}),
  entry('pending', {}),
  entry('landed', {}),
  entry('landed_and_succeeded', {}),
  entry('status', { status: text }),
  entry('confirmed', {}),
  entry('confirmed_by_policy', {}),
  entry('height', { height: integer }),
  entry('blocks', { count: integer }),
  entry('message', { message: text }),
  entry('unknown', {}),
  entry('accepted', {}),
  entry('valid', {}),
  entry('not_valid', {}),
  entry('settled', {}),
  // What a transaction does.
  entry('plain_payment', {}),
  entry('one_plain_transfer', { symbol: text }),
  entry('one', {}),
  entry('at_most_one', {}),
  entry('any_call', {}),
  entry('transfers', { count: integer }),
  entry('transfers_and_others', { transfers: integer, others: integer }),
  entry('signed_transfer', {}),
  entry('something_else', {}),
  entry('signers_at_most', { count: integer }),
  entry('all_signatures', {}),
  entry('all_signed', {}),
  entry('signatures_missing', { signers: addresses }),
  entry('only_transfer', { guards: integer }),
  entry('only_token_transfer', { guards: integer }),
  entry('wallet_guards', { count: integer }),
  entry('other_instructions', { count: integer }),
  entry('one_limit_at_most', { units: integer }),
  entry('price_at_most', { microLamports: digits }),
  entry('one_price_at_most', { microLamports: digits }),
  entry('price', { microLamports: digits }),
  entry('fee_payer_unnamed', {}),
  entry('in_no_instruction', {}),
  entry('in_an_instruction', {}),
] as const

/** What a check of a payment proof expected or found, whether the service or the dashboard made it. */
export const CheckFact = v.variant('code', [
  ...CHECK_ITEMS,
  entry('list', { facts: v.array(v.variant('code', CHECK_ITEMS)) }),
])
export type CheckFact = v.InferOutput<typeof CheckFact>

/** Why a simulation refused a transaction or a call. */
export const SimulationReason = v.variant('code', [
  ...SIMULATION_REASONS,
  entry('unreadable', { problem: DecodeProblem }),
  entry('not_signed', {}),
])
export type SimulationReason = v.InferOutput<typeof SimulationReason>

/** The reason for which a payment would not be built either. One that no simulation gives is told without figures. */
export function toSimulationReason(reason: Reason): SimulationReason {
  const read = v.safeParse(SimulationReason, toWire(reason))
  if (read.success) return read.output
  return fact('required' in reason.params ? 'payer_balance_too_low' : 'refused')
}

/** The facts of `SHARED`, which both unions contain. */
export type SharedFact = v.InferOutput<(typeof SHARED)[number]>

type AnyFact = { code: string; params: object }
type ParamsOf<F extends AnyFact> = { [Each in F as Each['code']]: Each['params'] }
/** One text for each code of a union: a code without a text does not compile. */
export type FactTexts<F extends AnyFact> = {
  readonly [Code in keyof ParamsOf<F>]: (params: ParamsOf<F>[Code]) => string
}
/** A fact of a union by its code, in the form in which the compiler relates it to `FactTexts`. */
export type FactOf<F extends AnyFact, Code extends keyof ParamsOf<F>> = {
  [C in Code]: { code: C; params: ParamsOf<F>[C] }
}[Code]
export type FactCode<F extends AnyFact> = keyof ParamsOf<F>

/** A fact without parameters. */
export function fact<const C extends string>(code: C) {
  return { code, params: {} }
}

export function addressFact(address: string) {
  return { code: 'address' as const, params: { address } }
}

export function networkFact(network: string) {
  return { code: 'network' as const, params: { network } }
}

export function textFact(value: string) {
  return { code: 'text' as const, params: { text: value } }
}

export function countFact(count: number) {
  return { code: 'count' as const, params: { count } }
}

export type MoneyAsset = { symbol: string; decimals: number }

/** The parameters of an amount. `atomic`: in the smallest units of the asset. */
export function moneyOf(atomic: bigint | string, { symbol, decimals }: MoneyAsset) {
  return { amountAtomic: atomic.toString(), symbol, decimals }
}

export function amountFact(atomic: bigint | string, asset: MoneyAsset) {
  return { code: 'amount' as const, params: moneyOf(atomic, asset) }
}

/** A time that was signed, in Unix milliseconds; null where it is so late that it is no limit. */
export function signedTime(seconds: bigint): number | null {
  const at = seconds * 1000n
  return at > BigInt(MAX_TIME_MS) ? null : Number(at)
}

/** `facts` as one; `otherwise` where there are none. */
export function listFact<F extends AnyFact, O extends AnyFact>(
  facts: readonly F[],
  otherwise: O,
): F | O | { code: 'list'; params: { facts: F[] } } {
  const [first, ...more] = facts
  if (first === undefined) return otherwise
  return more.length === 0 ? first : { code: 'list', params: { facts: [...facts] } }
}
