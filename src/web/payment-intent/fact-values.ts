import { t } from '@lingui/core/macro'
import { formatAmount } from '#contract/amount.ts'
import type { FactCode, FactOf, FactTexts, MoneyAsset, SharedFact } from '#contract/facts.ts'
import type { DecodeProblem, FieldFormat } from '#contract/reasons.ts'
import { groupWhole, separators } from '../locales/decimal.ts'
import { formatDate, formatNumber, numberLocale } from '../locales/formats.ts'

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
  const { point } = separators(numberLocale())
  const [whole = '', fraction] = plain.split('.')
  const grouped = groupWhole(whole, numberLocale())
  return fraction === undefined ? grouped : `${grouped}${point}${fraction}`
}

export function upTo(money: string): string {
  return t`up to ${money}`
}

/** `at`: Unix milliseconds. */
export function formatMoment(at: number): string {
  return formatDate(at, { dateStyle: 'medium', timeStyle: 'long' })
}

const formats: Readonly<Record<FieldFormat, () => string>> = {
  atomic_units: () => t`whole number`,
  whole_number: () => t`whole number`,
  uint256: () => 'uint256',
  evm_address: () => t`EVM address`,
  hex: () => '0x…',
  lower_case_hex: () => t`lower-case hex`,
  bytes_32: () => formatBytes(32),
  bytes_2048_at_most: () => upTo(formatBytes(2048)),
  transaction_hash: () => t`transaction hash`,
  signature_65_bytes: () => formatBytes(65),
  base58_signature: () => t`64 bytes, base58`,
  base64: () => 'base64',
}

export function formatBytes(count: number): string {
  return formatNumber(count, { style: 'unit', unit: 'byte', unitDisplay: 'long' })
}

/** Only the code says what is wrong: who can repair such data knows it from the API. */
const malformed = (code: DecodeProblem['code']) => () => t`Malformed data (${code}).`
/** `what`: names of the specifications. */
const unsupported = (what: string) => t`Unsupported: ${what}.`
const invalid = (field: string) => t`Invalid field ${field}.`
const unreadableAnswer = (code: DecodeProblem['code']) => () => t`Unreadable RPC answer (${code}).`

/** Why bytes, a text or one of its fields cannot be read. A missing code does not compile. */
export const decodeTexts: FactTexts<DecodeProblem> = {
  field_missing: () => t`Missing field.`,
  field_type: ({ expected, received }) => expectedText(expected, received),
  field_one_of: ({ values, received }) => expectedText(values.join(', '), received),
  field_format: ({ format, received }) => expectedText(formats[format](), received),
  field_too_long: ({ max }) => t`Maximum: ${{ count: formatNumber(max) }} characters.`,
  field_too_short: ({ min }) => t`Minimum: ${{ count: formatNumber(min) }} characters.`,
  field_above: ({ max, received }) => expectedText(upTo(formatNumber(max)), received),
  field_below: ({ min, received }) =>
    expectedText(t`at least ${{ least: formatNumber(min) }}`, received),
  field_not_integer: ({ received }) => expectedText(t`whole number`, received),
  field_not_expected: ({ received }) => t`Unexpected value ${received}.`,
  too_large: ({ maxBytes }) => t`Maximum: ${{ size: formatBytes(maxBytes) }}.`,
  trailing_bytes: ({ count }) => t`Extra bytes: ${{ count: formatNumber(count) }}.`,
  cut_short: () => t`Incomplete transaction.`,
  not_canonical: malformed('not_canonical'),
  length_not_shortest: malformed('length_not_shortest'),
  unsigned: () => t`Unsigned transaction.`,
  not_eip1559: () => unsupported('not_eip1559'),
  nested_too_deep: malformed('nested_too_deep'),
  value_not_shortest: malformed('value_not_shortest'),
  wrong_field_count: malformed('wrong_field_count'),
  access_list_malformed: () => invalid('accessList'),
  access_list_present: () => unsupported('accessList'),
  priority_fee_above_fee: () => invalid('maxPriorityFeePerGas'),
  fee_above_256_bits: () => invalid('maxFeePerGas'),
  field_is_list: ({ field }) => invalid(`${field} (field_is_list)`),
  leading_zeros: ({ field }) => invalid(`${field} (leading_zeros)`),
  number_too_large: ({ field }) => invalid(`${field} (number_too_large)`),
  no_chain: () => invalid('chainId'),
  no_fee: malformed('no_fee'),
  creates_contract: () => unsupported('creates_contract'),
  recipient_length: () => invalid('to'),
  invalid_parity: () => invalid('yParity'),
  high_s: () => invalid('s (high_s)'),
  unrecoverable: () => invalid('signature'),
  transaction_type: ({ type }) => unsupported(`type ${type}`),
  signature_count: ({ required, present }) =>
    t`${{ present: formatNumber(present) }} of ${{ required: formatNumber(required) }} signatures.`,
  unknown_version: ({ version }) => unsupported(`version ${version}`),
  lookup_table: () => unsupported('lookup_table'),
  no_writable_signer: malformed('no_writable_signer'),
  too_few_accounts: malformed('too_few_accounts'),
  account_twice: malformed('account_twice'),
  fee_payer_called: malformed('fee_payer_called'),
  account_not_listed: malformed('account_not_listed'),
  length_too_large: malformed('length_too_large'),
  foreign_receipt: unreadableAnswer('foreign_receipt'),
  endpoint_address: unreadableAnswer('endpoint_address'),
  endpoint_signature: unreadableAnswer('endpoint_signature'),
  endpoint_no_result: unreadableAnswer('endpoint_no_result'),
  header_too_long: ({ maxCharacters }) =>
    t`Maximum: ${{ count: formatNumber(maxCharacters) }} characters.`,
  not_base64: malformed('not_base64'),
  not_utf8: malformed('not_utf8'),
  nul_character: malformed('nul_character'),
  json_malformed: malformed('json_malformed'),
  json_too_deep: malformed('json_too_deep'),
  json_forbidden_key: ({ key }) => invalid(`${key} (json_forbidden_key)`),
  json_duplicate_key: ({ key }) => invalid(`${key} (json_duplicate_key)`),
  payment_field: ({ field, problem }) =>
    field === null ? formatDecodeProblem(problem) : `${field}: ${formatDecodeProblem(problem)}`,
  unknown_payload: malformed('unknown_payload'),
  offer_field: ({ field, problem }) =>
    field === null ? formatDecodeProblem(problem) : `${field}: ${formatDecodeProblem(problem)}`,
  offer_scheme: ({ scheme }) => unsupported(`scheme ${scheme}`),
  offer_network: ({ network }) => unsupported(`network ${network}`),
  offer_payee: ({ payee }) => invalid(`payTo (${payee})`),
  offer_resource: () => t`Resource not named.`,
  not_an_authorization: malformed('not_an_authorization'),
  authorization_field: ({ field }) =>
    field === null ? malformed('not_an_authorization')() : invalid(field),
  authorization_not_canonical: malformed('authorization_not_canonical'),
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
