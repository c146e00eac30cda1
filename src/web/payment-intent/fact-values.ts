import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { formatAmount } from '#contract/amount.ts'
import type { FactCode, FactOf, FactTexts, MoneyAsset, SharedFact } from '#contract/facts.ts'
import type { DecodeProblem, FieldFormat, FieldType } from '#contract/reasons.ts'
import { separators } from '../locales/decimal.ts'
import { formatDate, formatNumber, numberLocale } from '../locales/formats.ts'
import { i18n } from '../locales/i18n.ts'

/** The texts of the facts that comparisons and checks share. Names, addresses and hashes are the same in every language. */
export const sharedTexts: FactTexts<SharedFact> = {
  address: ({ address }) => address,
  amount: formatMoney,
  count: ({ count }) => formatNumber(count),
  network: ({ network }) => network,
  text: ({ text }) => text,
  data: ({ data }) => data,
  transaction: ({ transaction }) => transaction,
  time: ({ at }) => formatMoment(at),
  no_expiry: () => t`no expiry`,
  none: () => t`none`,
  nothing: () => t`nothing`,
  nobody: () => t`nobody`,
  failed: () => t`failed`,
  plain_transfer: () => t`plain transfer`,
  one_transfer: () => t`one transfer`,
  another_transaction: () => t`another transaction`,
  compute_limit: () => t`fee limit`,
  compute_price: () => t`fee price`,
  transfer: () => t`transfer`,
  token_transfer: () => t`token transfer`,
  memo: () => t`memo`,
  wallet_guard: () => t`wallet guard`,
  account_opened: () => t`token account opened`,
  other_instruction: () => t`another instruction`,
  unreadable: ({ problem }) => formatDecodeProblem(problem),
  not_signed: () => t`not signed`,
}

/** `1234.5 ETH` as the reader writes it. Every digit stays. */
export function formatMoney({
  amountAtomic,
  symbol,
  decimals,
}: MoneyAsset & { amountAtomic: string }): string {
  return `${formatDigits(formatAmount(BigInt(amountAtomic), decimals))} ${symbol}`
}

/** `1234.5` as the reader writes it. Every digit stays. */
export function formatDigits(plain: string): string {
  const { group, point } = separators(numberLocale())
  const [whole = '', fraction] = plain.split('.')
  const grouped = whole.replace(/\B(?=([0-9]{3})+$)/g, group)
  return fraction === undefined ? grouped : `${grouped}${point}${fraction}`
}

/** `at`: Unix milliseconds. */
export function formatMoment(at: number): string {
  return formatDate(at, { dateStyle: 'medium', timeStyle: 'long' })
}

const formats: Readonly<Record<FieldFormat, MessageDescriptor>> = {
  atomic_units: msg`atomic units in digits`,
  whole_number: msg`a whole number in digits`,
  uint256: msg`at most 256 bits`,
  evm_address: msg`EVM address`,
  hex: msg`0x and hex digits`,
  lower_case_hex: msg`0x and lower-case hex digits`,
  bytes_32: msg`32 bytes`,
  bytes_2048_at_most: msg`at most 2,048 bytes`,
  transaction_hash: msg`0x and 64 hex digits`,
  signature_65_bytes: msg`a 65-byte signature`,
  base58_signature: msg`64 bytes, base58`,
  base64: msg`base64`,
}

const types: Readonly<Record<FieldType, MessageDescriptor>> = {
  string: msg`text`,
  number: msg`a number`,
  boolean: msg`true or false`,
  object: msg`an object`,
  array: msg`a list`,
}

/** Why bytes, a text or one of its fields cannot be read. A missing code does not compile. */
export const decodeTexts: FactTexts<DecodeProblem> = {
  field_missing: () => t`Missing field.`,
  field_type: ({ expected, received }) => expectedText(i18n._(types[expected]), received),
  field_one_of: ({ values, received }) => expectedText(values.join(', '), received),
  field_format: ({ format, received }) => expectedText(i18n._(formats[format]), received),
  field_too_long: ({ max }) => t`Longer than ${{ count: formatNumber(max) }} characters.`,
  field_too_short: ({ min }) => t`Shorter than ${{ count: formatNumber(min) }} characters.`,
  field_above: ({ max, received }) =>
    expectedText(t`at most ${{ money: formatNumber(max) }}`, received),
  field_below: ({ min, received }) =>
    expectedText(t`at least ${{ least: formatNumber(min) }}`, received),
  field_not_integer: ({ received }) => expectedText(t`a whole number`, received),
  field_not_expected: ({ received }) => t`Unexpected value ${received}.`,
  too_large: ({ maxBytes }) =>
    t`Transaction larger than ${{ count: formatNumber(maxBytes) }} bytes.`,
  trailing_bytes: ({ count }) => t`Extra bytes: ${{ count: formatNumber(count) }}.`,
  cut_short: () => t`Incomplete transaction.`,
  not_canonical: () => t`Transaction not canonical.`,
  length_not_shortest: () => t`A length is not canonical.`,
  unsigned: () => t`Unsigned transaction.`,
  not_eip1559: () => t`Not an EIP-1559 transaction.`,
  nested_too_deep: () => t`Lists are nested too deep.`,
  value_not_shortest: () => t`A field is not canonical.`,
  wrong_field_count: () => t`Wrong number of EIP-1559 fields.`,
  access_list_malformed: () => t`Malformed access list.`,
  access_list_present: () => t`Unsupported access list.`,
  priority_fee_above_fee: () => t`The priority fee exceeds the maximum fee.`,
  fee_above_256_bits: () => t`The maximum fee exceeds 256 bits.`,
  field_is_list: ({ field }) => t`${field} is a list.`,
  leading_zeros: ({ field }) => t`${field} has leading zeros.`,
  number_too_large: ({ field }) => t`${field} is too large.`,
  no_chain: () => t`Missing chain ID.`,
  no_fee: () => t`Missing fee.`,
  creates_contract: () => t`The transaction creates a contract.`,
  recipient_length: () => t`Invalid recipient address.`,
  invalid_parity: () => t`Invalid signature parity.`,
  high_s: () => t`Signature s value too high.`,
  unrecoverable: () => t`No account matches the signature.`,
  transaction_type: ({ type }) => t`Unsupported transaction type ${type}.`,
  signature_count: ({ required, present }) =>
    t`${{ present: formatNumber(present) }} of ${{ required: formatNumber(required) }} signatures.`,
  unknown_version: ({ version }) => t`Unknown message version ${version}.`,
  lookup_table: () => t`Unsupported lookup table.`,
  no_writable_signer: () => t`No writable signer can pay the fee.`,
  too_few_accounts: () => t`The header counts too many accounts.`,
  account_twice: () => t`Duplicate account.`,
  fee_payer_called: () => t`The fee payer is called as a program.`,
  account_not_listed: () => t`An instruction uses an unlisted account.`,
  length_too_large: () => t`A length exceeds the transaction.`,
  foreign_receipt: () => t`The RPC endpoint returned another transaction’s receipt.`,
  endpoint_address: () => t`The RPC endpoint returned an invalid address.`,
  endpoint_signature: () => t`The RPC endpoint returned an invalid signature.`,
  endpoint_no_result: () => t`The RPC endpoint returned no result.`,
  header_too_long: ({ maxCharacters }) =>
    t`Maximum: ${{ count: formatNumber(maxCharacters) }} characters.`,
  not_base64: () => t`Not canonical base64.`,
  not_utf8: () => t`Not valid UTF-8.`,
  nul_character: () => t`It contains a NUL character.`,
  json_malformed: () => t`Malformed JSON.`,
  json_too_deep: ({ maxLevels }) =>
    t`JSON deeper than ${{ count: formatNumber(maxLevels) }} levels.`,
  json_forbidden_key: ({ key }) => t`Forbidden key “${key}”.`,
  json_duplicate_key: ({ key }) => t`Duplicate key “${key}”.`,
  payment_field: ({ field, problem }) =>
    field === null ? formatDecodeProblem(problem) : `${field}: ${formatDecodeProblem(problem)}`,
  unknown_payload: () => t`Unknown kind of payload.`,
  offer_field: ({ field, problem }) =>
    field === null ? formatDecodeProblem(problem) : `${field}: ${formatDecodeProblem(problem)}`,
  offer_scheme: ({ scheme }) => t`Unsupported scheme ${scheme}.`,
  offer_network: ({ network }) => t`Unknown network ${network}.`,
  offer_payee: ({ payee }) => t`Invalid payee ${payee}.`,
  offer_resource: () => t`Resource not named.`,
  not_an_authorization: () => t`Not an authorization.`,
  authorization_field: ({ field }) =>
    field === null ? t`Not an authorization.` : t`Invalid field ${field}.`,
  authorization_not_canonical: () => t`Authorization not canonical.`,
}

function expectedText(expected: string, received: string): string {
  return t`Expected ${expected}, received ${received}.`
}

/** Why bytes, a text or one of its fields cannot be read, in the reader's language. */
export function formatDecodeProblem(problem: DecodeProblem): string {
  return formatProblem(problem)
}

function formatProblem<Code extends FactCode<DecodeProblem>>({
  code,
  params,
}: FactOf<DecodeProblem, Code>): string {
  return decodeTexts[code](params)
}
