import { plural, t } from '@lingui/core/macro'
import type { CheckFact, FactCode, FactOf, FactTexts, MatchFact } from '#contract/facts.ts'
import { formatNumber } from '../locales/formats.ts'
import {
  formatDecodeProblem,
  formatDigits,
  formatMoment,
  formatMoney,
  sharedTexts,
} from './fact-values.ts'
import { formatGuards, matchTexts } from './match-facts.ts'

/** What a check of a proof says; those of the reader's own node compare a transaction. */
export type AnyCheckFact = CheckFact | MatchFact

/** What a check expected or found, in the reader's language and way of writing figures. */
export function formatCheckFact(fact: AnyCheckFact): string {
  return format(fact)
}

function format<Code extends FactCode<AnyCheckFact>>({
  code,
  params,
}: FactOf<AnyCheckFact, Code>): string {
  return texts[code](params)
}

function formatOrder(resource: string | null): string {
  return resource ?? t`no resource`
}

const checkTexts: Omit<FactTexts<CheckFact>, 'list'> = {
  ...sharedTexts,
  nonce_used: ({ nonce, next }) => t`nonce ${nonce} used, next is ${next}`,
  nonce_ahead: ({ nonce, next }) => t`nonce ${nonce} too high, next is ${next}`,
  payer_balance_too_low: () => t`payer’s balance too low`,
  fee_payer_balance_too_low: () => t`fee payer’s balance too low`,
  token_gas_too_high: ({ maxGas }) => t`token needs over ${{ gas: formatNumber(maxGas) }} gas`,
  call_gas_too_high: ({ maxGas }) => t`call needs over ${{ gas: formatNumber(maxGas) }} gas`,
  token_did_not_transfer: () => t`token did not transfer`,
  refused_with: ({ answer }) => answer,
  refused: () => t`refused`,
  contract_reverts: ({ answer }) => t`recipient’s contract rejects it: ${answer}`,
  contract_gas_too_high: ({ maxGas }) =>
    t`recipient’s contract needs over ${{ gas: formatNumber(maxGas) }} gas`,
  token_account_reassigned: ({ symbol }) => t`recipient’s ${symbol} account belongs to another`,
  token_account_frozen: ({ symbol }) => t`recipient’s ${symbol} account is frozen`,
  sender_token_account_frozen: ({ symbol }) => t`payer’s ${symbol} account is frozen`,
  asset_missing: ({ symbol }) => t`${symbol} missing on this network`,
  asset_decimals_differ: ({ symbol, configured, onChain }) =>
    t`${symbol} has ${onChain} decimals, not ${configured}`,
  asset_not_transferable: ({ symbol }) => t`${symbol} cannot be transferred`,
  asset_calls_program: ({ symbol, program }) => t`${symbol} calls the program ${program}`,
  asset_keeps_part: ({ sent, arrives }) =>
    t`of ${{ sent: formatMoney(sent) }}, only ${{ arrives: formatMoney(arrives) }} would arrive`,
  base64_payment: () => t`x402 payment, base64`,
  such_payment: () => t`such a payment`,
  x402_payment: () => t`x402 payment`,
  version: ({ version }) => t`version ${version}`,
  one_of: ({ values }) => values.join(', '),
  payload_of: ({ method }) =>
    method === null ? t`payload of its method` : t`payload of ${method}`,
  such_payload: () => t`such a payload`,
  unreadable_field: ({ field, problem }) => `${field}: ${formatDecodeProblem(problem)}`,
  evm_address: () => t`EVM address`,
  signed_terms: () => t`signed terms`,
  offer: () => t`offer`,
  base58_signature: () => t`64 bytes, base58`,
  plain_eip1559: () => t`plain EIP-1559 transaction`,
  such_transaction: () => t`such a transaction`,
  solana_transaction_without_tables: () => t`v0 or legacy, without lookup tables`,
  solana_transaction: () => t`v0 or legacy transaction`,
  readable_transaction: () => t`readable transaction`,
  signature_of_64_bytes: () => t`64-byte signature`,
  base64: () => 'base64',
  payer: () => t`payer`,
  payer_signature: () => t`payer’s signature`,
  payer_not_payee: () => t`payer other than payee`,
  another_account: () => t`another account`,
  own_token_account: () => t`token account of the payer`,
  token_account: () => t`token account`,
  unrecoverable_signature: () => t`invalid signature`,
  undeployed_signature: () => t`unsupported ERC-6492 signature`,
  contract_refused: () => t`rejected by payer’s contract`,
  token_with_authorizations: () => t`token with authorizations`,
  token_without_domain: () => t`token without domain`,
  token_name_missing: () => t`token name missing`,
  signed_by_payer: () => t`signed by payer`,
  not_validly_signed: () => t`not validly signed`,
  signed_transaction: () => t`signed transaction`,
  not_in_receipt: () => t`not in the receipt`,
  not_named: () => t`not named`,
  chain_id: ({ chainId }) => chainId.toString(),
  lamports: ({ amountAtomic }) => t`${{ amount: formatDigits(amountAtomic) }} lamports`,
  at_least: (money) => t`at least ${{ least: formatMoney(money) }}`,
  at_least_unpromised: (money) => t`at least ${{ least: formatMoney(money) }}, unreserved`,
  promised: ({ promisedAtomic, ...money }) =>
    t`${{ available: formatMoney(money) }}, ${{ promised: formatMoney({ ...money, amountAtomic: promisedAtomic }) }} reserved`,
  reserved: () => t`reserved`,
  no_failed_settlement: () => t`no failed settlement in 24 hours`,
  refused_until: ({ at, transaction }) =>
    t`refused until ${{ time: formatMoment(at) }}: its code reverted ${transaction}`,
  signed_time: ({ at }) => (at === 0 ? t`from the start` : formatMoment(at)),
  valid_from: ({ at }) => t`valid from ${{ time: formatMoment(at) }} or earlier`,
  valid_until: ({ at }) => t`valid until ${{ time: formatMoment(at) }} or later`,
  window: ({ from, to }) =>
    t`from ${{ from: formatMoment(from) }} to ${{ to: to === null ? t`no expiry` : formatMoment(to) }}`,
  never_used: () => t`never used`,
  used: () => t`used`,
  same_question: () => t`same request`,
  unused_or_same_question: () => t`unused, or used for this request`,
  in_settlement: () => t`in settlement`,
  in_other_settlement: () => t`settling for another request`,
  unused_or_in_settlement: () => t`unused, or settling for this request`,
  confirmed_order: () => t`confirmed order of this resource`,
  order_for: ({ resource }) => t`order for ${{ said: formatOrder(resource) }}`,
  order: ({ order, resource }) => t`order ${order} for ${{ said: formatOrder(resource) }}`,
  another_order: () => t`another order`,
  own_payment_id: () => t`payment ID of this account`,
  signed_or_api_key: () => t`payer’s signature or payee’s API key`,
  transaction_name: () => t`transaction named`,
  never_executed: () => t`never executed`,
  not_executed: () => t`not executed`,
  executed: () => t`executed`,
  executed_or_cancelled: () => t`executed or cancelled`,
  never_broadcast: () => t`not broadcast before`,
  never_broadcast_without_memo: () => t`not broadcast, or with requested memo`,
  pending: () => t`pending`,
  landed: () => t`landed`,
  landed_and_succeeded: () => t`executed successfully`,
  status: ({ status }) => status,
  confirmed: () => t`confirmed`,
  confirmed_by_policy: () => t`confirmed per network policy`,
  height: ({ height }) => t`height ${height}`,
  blocks: ({ count }) => t`${plural(count, { one: '# block', other: '# blocks' })}`,
  message: ({ message }) => message,
  unknown: () => t`unknown`,
  accepted: () => t`accepted`,
  valid: () => t`valid`,
  not_valid: () => t`not valid`,
  settled: () => t`settled`,
  plain_payment: () => t`plain payment`,
  one_plain_transfer: ({ symbol }) => t`one plain ${symbol} transfer`,
  one: () => t`one`,
  at_most_one: () => t`at most one`,
  any_call: () => t`call`,
  transfers: ({ count }) => t`${plural(count, { one: '# transfer', other: '# transfers' })}`,
  transfers_and_others: ({ transfers, others }) =>
    t`${{ transfers: t`${plural(transfers, { one: '# transfer', other: '# transfers' })}` }}, other system instructions: ${{ others: formatNumber(others) }}`,
  signed_transfer: () => t`transfer as signed`,
  something_else: () => t`something else`,
  signers_at_most: ({ count }) =>
    t`at most ${{ money: t`${plural(count, { one: '# signer', other: '# signers' })}` }}`,
  all_signatures: () => t`valid signatures except the fee payer’s`,
  all_signed: () => t`all`,
  signatures_missing: ({ signers }) => t`none of ${{ names: signers.join(', ') }}`,
  only_transfer: ({ guards }) =>
    t`transfer, memo, limits, up to ${{ guards: formatGuards(guards) }}`,
  only_token_transfer: ({ guards }) =>
    t`token transfer, memo, limits, up to ${{ guards: formatGuards(guards) }}`,
  wallet_guards: ({ count }) => formatGuards(count),
  other_instructions: ({ count }) =>
    t`${plural(count, { one: '# other instruction', other: '# other instructions' })}`,
  one_limit_at_most: ({ units }) => t`one limit up to ${{ units: formatNumber(units) }}`,
  price_at_most: ({ microLamports }) => t`at most ${{ money: formatMicroLamports(microLamports) }}`,
  one_price_at_most: ({ microLamports }) =>
    t`one price up to ${{ price: formatMicroLamports(microLamports) }}`,
  price: ({ microLamports }) => formatMicroLamports(microLamports),
  fee_payer_unnamed: () => t`not in instructions`,
  in_no_instruction: () => t`in none`,
  in_an_instruction: () => t`named by one`,
}

const texts: FactTexts<AnyCheckFact> = {
  ...matchTexts,
  ...checkTexts,
  list: ({ facts }) => facts.map(format).join(', '),
}

function formatMicroLamports(digits: string): string {
  return `${formatDigits(digits)} micro-lamports`
}
