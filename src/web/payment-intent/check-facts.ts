import { plural, t } from '@lingui/core/macro'
import type { CheckFact, FactCode, FactOf, FactTexts, MatchFact } from '#contract/facts.ts'
import { formatNumber } from '../locales/formats.ts'
import {
  formatDecodeProblem,
  formatDigits,
  formatMoment,
  formatMoney,
  sharedTexts,
  upTo,
} from './fact-values.ts'
import { formatGuards, formatMicroLamports, formatTransfers, matchTexts } from './match-facts.ts'

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

function nonceText(nonce: number, expected: number): string {
  return t`nonce ${nonce}, expected ${expected}`
}

function gasText(symbol: string, maxGas: number): string {
  return t`${symbol} needs over ${{ maxGas: formatNumber(maxGas) }} gas`
}

function formatOthers({ count }: { count: number }): string {
  return t`${plural(count, { one: '# other instruction', other: '# other instructions' })}`
}

/** All instructions that are allowed. */
function only(transfer: string, guards: number): string {
  return [transfer, t`memo`, t`fee limit`, t`fee price`, upTo(formatGuards(guards))].join(', ')
}

const checkTexts: Omit<FactTexts<CheckFact>, 'list'> = {
  ...sharedTexts,
  nonce_used: ({ nonce, next }) => nonceText(nonce, next),
  nonce_ahead: ({ nonce, next }) => nonceText(nonce, next),
  payer_balance_too_low: () => t`Payer’s balance too low`,
  fee_payer_balance_too_low: () => t`fee payer’s balance too low`,
  token_gas_too_high: ({ maxGas }) => gasText(t`token`, maxGas),
  call_gas_too_high: ({ maxGas }) => gasText(t`call`, maxGas),
  token_did_not_transfer: () => t`token did not transfer`,
  refused_with: ({ answer }) => answer,
  refused: () => t`refused`,
  contract_reverts: ({ answer }) => `${t`Recipient’s contract rejects this payment`}: ${answer}`,
  contract_gas_too_high: ({ maxGas }) =>
    t`Recipient’s contract needs over ${{ maxGas: formatNumber(maxGas) }} gas`,
  token_account_reassigned: ({ symbol }) => t`${symbol} account has another owner`,
  token_account_frozen: ({ symbol }) => t`Recipient’s ${symbol} account is frozen`,
  sender_token_account_frozen: ({ symbol }) => t`Paying ${symbol} account is frozen`,
  asset_missing: ({ symbol }) => t`${symbol} missing on this network`,
  asset_decimals_differ: ({ symbol, configured, onChain }) =>
    t`${symbol} has ${onChain} decimals, not ${configured}`,
  asset_not_transferable: ({ symbol }) => t`${symbol} cannot be transferred`,
  asset_calls_program: ({ symbol, program }) =>
    `${t`${symbol} calls an unknown program`}: ${program}`,
  asset_keeps_part: ({ sent, arrives }) =>
    t`Only ${{ arrives: formatMoney(arrives) }} of ${{ sent: formatMoney(sent) }} would arrive`,
  base64_payment: () => t`x402 payment`,
  such_payment: () => t`readable`,
  x402_payment: () => t`x402 payment`,
  version: ({ version }) => t`version ${version}`,
  one_of: ({ values }) => values.join(', '),
  payload_of: ({ method }) => method ?? t`readable`,
  such_payload: () => t`readable`,
  unreadable_field: ({ field, problem }) => `${field}: ${formatDecodeProblem(problem)}`,
  evm_address: () => t`EVM address`,
  signed_terms: () => t`signed terms`,
  offer: () => t`offer`,
  base58_signature: () => t`64 bytes, base58`,
  plain_eip1559: () => t`plain EIP-1559 transaction`,
  such_transaction: () => t`readable`,
  solana_transaction_without_tables: () => t`v0 or legacy, without lookup tables`,
  solana_transaction: () => t`readable`,
  readable_transaction: () => t`readable`,
  signature_of_64_bytes: () => t`64 bytes, base58`,
  base64: () => 'base64',
  payer: () => t`payer`,
  payer_signature: () => t`payer’s signature`,
  payer_not_payee: () => t`payer other than recipient`,
  another_account: () => t`another account`,
  own_token_account: () => t`payer’s token account`,
  token_account: () => t`token account`,
  unrecoverable_signature: () => t`invalid signature`,
  undeployed_signature: () => t`unsupported ERC-6492 signature`,
  contract_refused: () => t`rejected by payer’s contract`,
  token_with_authorizations: () => t`token with authorizations`,
  token_without_domain: () => t`missing`,
  token_name_missing: () => t`missing`,
  signed_by_payer: () => t`payer’s signature`,
  not_validly_signed: () => t`invalid signature`,
  signed_transaction: () => t`signed transaction`,
  not_in_receipt: () => t`missing`,
  not_named: () => t`missing`,
  chain_id: ({ chainId }) => chainId.toString(),
  lamports: ({ amountAtomic }) => t`${{ amount: formatDigits(amountAtomic) }} lamports`,
  at_least: (money) => t`at least ${{ least: formatMoney(money) }}`,
  at_least_unpromised: (money) => t`at least ${{ least: formatMoney(money) }}, unreserved`,
  promised: ({ promisedAtomic, ...money }) =>
    t`${{ available: formatMoney(money) }}, ${{ promised: formatMoney({ ...money, amountAtomic: promisedAtomic }) }} reserved`,
  reserved: () => t`reserved`,
  no_failed_settlement: () => t`no failed settlement`,
  refused_until: ({ at, transaction }) =>
    t`refused until ${{ time: formatMoment(at) }} (${transaction})`,
  signed_time: ({ at }) => (at === 0 ? t`from the start` : formatMoment(at)),
  valid_from: ({ at }) => t`${{ time: formatMoment(at) }} or earlier`,
  valid_until: ({ at }) => t`${{ time: formatMoment(at) }} or later`,
  window: ({ from, to }) =>
    `${formatMoment(from)} – ${to === null ? t`no expiry` : formatMoment(to)}`,
  never_used: () => t`never used`,
  used: () => t`used`,
  same_question: () => t`same request`,
  unused_or_same_question: () => t`unused, or same request`,
  in_settlement: () => t`in settlement`,
  in_other_settlement: () => t`another request`,
  unused_or_in_settlement: () => t`unused, or same request`,
  confirmed_order: () => t`confirmed`,
  order_for: ({ resource }) => formatOrder(resource),
  order: ({ order, resource }) => `${order}: ${formatOrder(resource)}`,
  another_order: () => t`another order`,
  own_payment_id: () => t`your payment ID`,
  signed_or_api_key: () => t`payer’s signature or recipient’s API key`,
  transaction_name: () => t`a transaction ID`,
  never_executed: () => t`not executed`,
  not_executed: () => t`not executed`,
  executed: () => t`executed`,
  executed_or_cancelled: () => t`executed or cancelled`,
  never_broadcast: () => t`not broadcast`,
  never_broadcast_without_memo: () => t`not broadcast, or requested memo`,
  pending: () => t`pending`,
  landed: () => t`executed`,
  landed_and_succeeded: () => t`executed successfully`,
  status: ({ status }) => status,
  confirmed: () => t`confirmed`,
  confirmed_by_policy: () => t`confirmed`,
  height: ({ height }) => t`height ${height}`,
  blocks: ({ count }) => t`${plural(count, { one: '# block', other: '# blocks' })}`,
  message: ({ message }) => message,
  unknown: () => t`unknown`,
  accepted: () => t`accepted`,
  valid: () => t`valid`,
  not_valid: () => t`not valid`,
  settled: () => t`settled`,
  plain_payment: () => t`plain transfer`,
  one_plain_transfer: ({ symbol }) => t`one plain ${symbol} transfer`,
  one: () => t`one`,
  at_most_one: () => t`at most one`,
  any_call: () => t`call`,
  transfers: formatTransfers,
  transfers_and_others: ({ transfers, others }) =>
    `${formatTransfers({ count: transfers })}, ${formatOthers({ count: others })}`,
  signed_transfer: () => t`as signed`,
  something_else: () => t`something else`,
  signers_at_most: ({ count }) =>
    upTo(t`${plural(count, { one: '# signer', other: '# signers' })}`),
  all_signatures: () => t`valid signatures except the fee payer’s`,
  all_signed: () => t`all`,
  signatures_missing: ({ signers }) => t`none of ${{ names: signers.join(', ') }}`,
  only_transfer: ({ guards }) => only(t`transfer`, guards),
  only_token_transfer: ({ guards }) => only(t`token transfer`, guards),
  wallet_guards: ({ count }) => formatGuards(count),
  other_instructions: formatOthers,
  one_limit_at_most: ({ units }) => upTo(formatNumber(units)),
  price_at_most: ({ microLamports }) => upTo(formatMicroLamports(microLamports)),
  one_price_at_most: ({ microLamports }) => upTo(formatMicroLamports(microLamports)),
  price: ({ microLamports }) => formatMicroLamports(microLamports),
  fee_payer_unnamed: () => t`not in instructions`,
  in_no_instruction: () => t`not in instructions`,
  in_an_instruction: () => t`in instructions`,
}

const texts: FactTexts<AnyCheckFact> = {
  ...matchTexts,
  ...checkTexts,
  list: ({ facts }) => facts.map(format).join(', '),
}
