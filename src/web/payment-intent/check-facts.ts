import { plural, t } from '@lingui/core/macro'
import type { CheckFact, FactCode, FactOf, FactTexts, MatchFact } from '#contract/facts.ts'
import { formatNumber } from '../locales/formats.ts'
import { formatDigits, formatMoment, formatMoney, sharedTexts } from './fact-values.ts'
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
  base64_payment: () => t`base64 of an x402 payment`,
  such_payment: () => t`such a payment`,
  x402_payment: () => t`an x402 payment`,
  version: ({ version }) => t`version ${version}`,
  one_of: ({ values }) => values.join(', '),
  payload_of: ({ method }) =>
    method === null ? t`the payload of its method` : t`the payload of ${method}`,
  such_payload: () => t`such a payload`,
  unreadable_field: ({ field, problem }) => `${field}: ${problem}`,
  evm_address: () => t`an EVM address`,
  signed_terms: () => t`the terms that were signed`,
  offer: () => t`an offer`,
  base58_signature: () => t`base58 of 64 bytes`,
  plain_eip1559: () => t`a plain EIP-1559 transaction`,
  such_transaction: () => t`such a transaction`,
  solana_transaction_without_tables: () => t`a v0 or legacy transaction without lookup tables`,
  solana_transaction: () => t`a v0 or legacy transaction`,
  readable_transaction: () => t`a transaction that can be read`,
  signature_of_64_bytes: () => t`a signature of 64 bytes`,
  base64: () => 'base64',
  payer: () => t`the payer`,
  payer_signature: () => t`the signature of the payer`,
  payer_not_payee: () => t`a payer other than the payee`,
  another_account: () => t`another account`,
  own_token_account: () => t`a token account of the payer`,
  token_account: () => t`a token account`,
  unrecoverable_signature: () => t`a signature of nobody`,
  undeployed_signature: () =>
    t`a signature for an account that is not deployed (ERC-6492), which this service does not deploy`,
  contract_refused: () => t`the payer’s contract does not confirm it`,
  token_with_authorizations: () => t`a token that takes authorizations`,
  token_without_domain: () => t`a token that names no domain`,
  token_name_missing: () => t`the token’s name is not in the proof`,
  signed_by_payer: () => t`signed by the payer`,
  not_validly_signed: () => t`not validly signed`,
  signed_transaction: () => t`the signed transaction`,
  not_in_receipt: () => t`not in the receipt`,
  not_named: () => t`not named`,
  chain_id: ({ chainId }) => chainId.toString(),
  lamports: ({ amountAtomic }) => t`${{ amount: formatDigits(amountAtomic) }} lamports`,
  at_least: (money) => t`at least ${{ least: formatMoney(money) }}`,
  at_least_unpromised: (money) =>
    t`at least ${{ least: formatMoney(money) }}, beside what is promised already`,
  promised: ({ promisedAtomic, ...money }) =>
    t`${{ available: formatMoney(money) }}, of which ${{ promised: formatMoney({ ...money, amountAtomic: promisedAtomic }) }} is promised`,
  reserved: () => t`reserved`,
  signed_time: ({ at }) => (at === 0 ? t`from the start` : formatMoment(at)),
  valid_from: ({ at }) => t`valid from ${{ time: formatMoment(at) }} at the latest`,
  valid_until: ({ at }) => t`valid until ${{ time: formatMoment(at) }} at least`,
  window: ({ from, to }) =>
    t`from ${{ from: formatMoment(from) }} to ${{ to: to === null ? t`no expiry` : formatMoment(to) }}`,
  never_used: () => t`never used`,
  used: () => t`used`,
  same_question: () => t`the same question`,
  unused_or_same_question: () => t`never used, or used for the same question`,
  in_settlement: () => t`in settlement`,
  in_other_settlement: () => t`in settlement for another question`,
  unused_or_in_settlement: () => t`never used, or in settlement for the same question`,
  confirmed_order: () => t`the confirmed order of this resource`,
  order_for: ({ resource }) => t`an order for ${{ said: formatOrder(resource) }}`,
  order: ({ order, resource }) => t`the order ${order} for ${{ said: formatOrder(resource) }}`,
  another_order: () => t`another order`,
  own_payment_id: () => t`the id of a payment of this account`,
  signed_or_api_key: () => t`what the payer signed, or the API key of the payee`,
  transaction_name: () => t`the name of a transaction`,
  never_executed: () => t`never executed`,
  not_executed: () => t`not executed`,
  executed: () => t`executed`,
  executed_or_cancelled: () => t`executed or cancelled`,
  never_broadcast: () => t`never broadcast before it is presented`,
  never_broadcast_without_memo: () => t`never broadcast, or with the memo that was asked for`,
  pending: () => t`pending`,
  landed: () => t`landed`,
  landed_and_succeeded: () => t`landed and succeeded`,
  status: ({ status }) => status,
  confirmed: () => t`confirmed`,
  confirmed_by_policy: () => t`confirmed by the policy of the network`,
  height: ({ height }) => t`height ${height}`,
  blocks: ({ count }) => t`${plural(count, { one: '# block', other: '# blocks' })}`,
  message: ({ message }) => message,
  unknown: () => t`unknown`,
  accepted: () => t`accepted`,
  valid: () => t`valid`,
  not_valid: () => t`not valid`,
  settled: () => t`settled`,
  plain_payment: () => t`a plain payment`,
  one_plain_transfer: ({ symbol }) => t`one plain transfer of ${symbol}`,
  one: () => t`one`,
  at_most_one: () => t`at most one`,
  any_call: () => t`a call`,
  transfers: ({ count }) => t`${plural(count, { one: '# transfer', other: '# transfers' })}`,
  transfers_and_others: ({ transfers, others }) =>
    t`${{ transfers: t`${plural(transfers, { one: '# transfer', other: '# transfers' })}` }}, other system instructions: ${{ others: formatNumber(others) }}`,
  signed_transfer: () => t`the transfer, as it was signed`,
  something_else: () => t`something else`,
  signers_at_most: ({ count }) =>
    t`at most ${{ money: t`${plural(count, { one: '# signer', other: '# signers' })}` }}`,
  all_signatures: () => t`a valid signature of every signer except the fee payer`,
  all_signed: () => t`all of them`,
  signatures_missing: ({ signers }) => t`none of ${{ names: signers.join(', ') }}`,
  only_transfer: ({ guards }) =>
    t`only a transfer, a memo, compute limits and at most ${{ guards: formatGuards(guards) }}`,
  only_token_transfer: ({ guards }) =>
    t`only a token transfer, a memo, compute limits and at most ${{ guards: formatGuards(guards) }}`,
  wallet_guards: ({ count }) => formatGuards(count),
  other_instructions: ({ count }) =>
    t`${plural(count, { one: '# other instruction', other: '# other instructions' })}`,
  one_limit_at_most: ({ units }) => t`one limit of at most ${{ units: formatNumber(units) }}`,
  price_at_most: ({ microLamports }) => t`at most ${{ money: formatMicroLamports(microLamports) }}`,
  one_price_at_most: ({ microLamports }) =>
    t`one price of at most ${{ price: formatMicroLamports(microLamports) }}`,
  price: ({ microLamports }) => formatMicroLamports(microLamports),
  fee_payer_unnamed: () => t`the fee payer in no instruction`,
  in_no_instruction: () => t`in none`,
  in_an_instruction: () => t`it is named by one`,
}

const texts: FactTexts<AnyCheckFact> = {
  ...matchTexts,
  ...checkTexts,
  list: ({ facts }) => facts.map(format).join(', '),
}

function formatMicroLamports(digits: string): string {
  return `${formatDigits(digits)} micro-lamports`
}
