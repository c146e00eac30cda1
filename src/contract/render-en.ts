import { formatAmount } from './amount.ts'
import type { Family } from './address.ts'
import type { FactCode, FactOf, FactTexts } from './facts.ts'
import type {
  AssetReason,
  BalanceReason,
  DecodeProblem,
  FieldFormat,
  FieldType,
  LimitReason,
  ReasonAmount,
  RecipientReason,
  SenderReason,
} from './reasons.ts'

/** The one English renderer of reasons and of problems of decoders: the sentences that callers of the API read beside the codes. */

const SPELLING: Readonly<Record<Family, string>> = {
  evm: '0x and 40 hex digits',
  solana: 'base58 of 32 bytes',
}
const LOST = 'money sent there is lost'

export function renderRecipientReason({ code, params }: RecipientReason): string {
  switch (code) {
    case 'bad_checksum':
      return 'The checksum of the recipient is wrong: one character may be mistyped.'
    case 'not_an_address':
      return `The recipient is not an address. Expected ${SPELLING[params.expected]}.`
    case 'other_network_family':
      return `The recipient is an address of another kind of network. Expected ${SPELLING[params.expected]}.`
    case 'zero_address':
      return `The recipient is the zero address: ${LOST}.`
    case 'same_as_sender':
      return 'The recipient is the sender itself.'
    case 'precompiled_contract':
      return `The recipient is a precompiled contract of the network: ${LOST}.`
    case 'token_contract':
      return `The recipient is the contract of the token ${params.symbol}: ${LOST}.`
    case 'token_mint':
      return `The recipient is the mint of a token: ${LOST}.`
    case 'token_account':
      return 'The recipient is a token account. Pay the wallet that owns it.'
    case 'program_account':
      return `The recipient is a program: ${LOST}.`
    case 'system_account':
      return `The recipient is a system account of the network: ${LOST}.`
    case 'incinerator':
      return 'The recipient is the incinerator: money sent there is destroyed.'
    case 'below_rent_minimum':
      return `The payment must be at least ${renderAmount(params.minimum)}. With less, the account of the recipient would hold less than Solana requires.`
    case 'token_account_reassigned':
      return `The recipient's ${params.symbol} account belongs to another account.`
    case 'token_account_frozen':
      return `The issuer of ${params.symbol} has frozen the recipient's account.`
    case 'contract_reverts':
      return `The recipient is a contract that rejects the payment: ${params.answer}`
    case 'contract_gas_too_high':
      return `The recipient is a contract that needs more than ${params.maxGas} gas to take a payment.`
    case 'token_reverts':
      return `${params.symbol} rejects this payment: ${params.answer}`
    case 'token_returns_false':
      return `${params.symbol} rejects this payment: its contract reports that it did not transfer.`
    case 'simulation_failed':
      return `The network rejects this payment: ${params.answer}`
  }
}

export function renderBalanceReason({ code, params }: BalanceReason): string {
  const [available, required] = [renderAmount(params.available), renderAmount(params.required)]
  switch (code) {
    case 'amount_and_fee':
      return `The wallet holds ${available}; the amount and the network fee need ${required}.`
    case 'amount_fee_and_rent':
      return `The wallet holds ${available}; the amount, the network fee and the rent that must stay need ${required}.`
    case 'network_fee':
      return `The wallet holds ${available}; the network fee needs ${required}.`
    case 'network_fee_and_rent':
      return `The wallet holds ${available}; the network fee and the rent that must stay need ${required}.`
    case 'token_amount':
      return `The wallet holds ${available}; the payment needs ${required}.`
  }
}

export function renderSenderReason({ code, params }: SenderReason): string {
  switch (code) {
    case 'sender_is_contract':
      return 'walletAddress is a contract: no key can sign for it.'
    case 'sender_is_program_account':
      return 'walletAddress is not a wallet: the account belongs to a program.'
    case 'sender_token_account_frozen':
      return `The issuer of ${params.symbol} has frozen the sender's account.`
  }
}

export function renderAssetReason({ code, params }: AssetReason): string {
  const refused = `${params.symbol} cannot be paid here`
  switch (code) {
    case 'asset_missing':
      return `${refused}: there is no token at ${params.token} on this network.`
    case 'asset_decimals_differ':
      return `${refused}: it is configured with ${params.configured} decimals and has ${params.onChain}.`
    case 'asset_not_transferable':
      return `${refused}: it cannot be transferred.`
    case 'asset_calls_program':
      return `${refused}: every transfer runs the program ${params.program}, which this service does not know.`
    case 'asset_keeps_part':
      return `${refused}: it keeps a part of every transfer. Of ${renderAmount(params.sent)}, ${renderAmount(params.arrives)} would arrive.`
    case 'asset_gas_too_high':
      return `${refused}: a transfer needs more than ${params.maxGas} gas.`
  }
}

/** `received`: what was asked for, as a decimal. */
export function renderLimitReason({ params }: LimitReason, received?: string): string {
  const limit =
    'minimum' in params
      ? `at least ${decimalOf(params.minimum)}`
      : `at most ${decimalOf(params.maximum)}`
  return `Expected ${limit}${received === undefined ? '' : `, received ${received}`}.`
}

function decimalOf({ amountAtomic, decimals }: ReasonAmount): string {
  return formatAmount(amountAtomic, decimals)
}

function renderAmount({ amountAtomic, symbol, decimals }: ReasonAmount): string {
  return `${formatAmount(amountAtomic, decimals)} ${symbol}`
}

const FORMATS: Readonly<Record<FieldFormat, string>> = {
  atomic_units: 'atomic units as a string of digits',
  whole_number: 'a whole number in digits',
  uint256: 'a number of at most 256 bits',
  evm_address: 'an EVM address',
  hex: '0x and hex digits',
  lower_case_hex: '0x and hex digits in lower case',
  bytes_32: '32 bytes',
  bytes_2048_at_most: 'at most 2048 bytes',
  transaction_hash: '0x and 64 hex digits',
  signature_65_bytes: 'a signature of 65 bytes',
  base58_signature: 'base58 of 64 bytes',
  base64: 'canonical base64',
}

const TYPES: Readonly<Record<FieldType, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
}

const DECODE: FactTexts<DecodeProblem> = {
  field_missing: () => 'Expected a value, received nothing.',
  field_type: ({ expected, received }) => `Expected ${TYPES[expected]}, received ${received}.`,
  field_one_of: ({ values, received }) =>
    `Expected ${values.length > 1 ? 'one of ' : ''}${values.join(', ')}, received ${received}.`,
  field_format: ({ format, received }) => `Expected ${FORMATS[format]}, received ${received}.`,
  field_too_long: ({ max }) => `Expected at most ${max} characters.`,
  field_too_short: ({ min }) =>
    min === 1 ? 'Expected some text.' : `Expected at least ${min} characters.`,
  field_above: ({ max, received }) => `Expected at most ${max}, received ${received}.`,
  field_below: ({ min, received }) => `Expected at least ${min}, received ${received}.`,
  field_not_integer: ({ received }) => `Expected a whole number, received ${received}.`,
  field_not_expected: ({ received }) => `Expected another value, received ${received}.`,
  too_large: ({ maxBytes }) => `The transaction is larger than ${maxBytes} bytes.`,
  trailing_bytes: ({ count }) => `${count} bytes follow the transaction.`,
  cut_short: () => 'The transaction ends in the middle of a field.',
  not_canonical: () => 'The transaction is not spelled in its canonical form.',
  length_not_shortest: () => 'A length is not spelled in its shortest form.',
  unsigned: () => 'The transaction carries no signature.',
  not_eip1559: () => 'This is not an EIP-1559 transaction.',
  nested_too_deep: () => 'The lists are nested too deep.',
  value_not_shortest: () => 'A field is not spelled in its shortest form.',
  wrong_field_count: () => 'The transaction has not the fields of EIP-1559.',
  access_list_malformed: () => 'The access list is not a list.',
  access_list_present: () => 'The transaction carries an access list.',
  priority_fee_above_fee: () => 'The priority fee is above the fee.',
  fee_above_256_bits: () => 'The largest fee of the transaction is above 2^256 - 1 wei.',
  field_is_list: ({ field }) => `The field ${field} is not a value.`,
  leading_zeros: ({ field }) => `The field ${field} has leading zeros.`,
  number_too_large: ({ field }) => `The field ${field} is too large.`,
  no_chain: () => 'The transaction names no chain.',
  no_fee: () => 'The transaction names no fee.',
  creates_contract: () => 'The transaction creates a contract.',
  recipient_length: () => 'The recipient is not an address.',
  invalid_parity: () => 'The parity of the signature is neither 0 nor 1.',
  high_s: () => 'The signature has a high s: it is a twin of the real one.',
  unrecoverable: () => 'No account can have made the signature.',
  transaction_type: ({ type }) => `The transaction is of the type ${type}.`,
  signature_count: ({ required, present }) =>
    `The message asks for ${required} signatures and ${present} are there.`,
  unknown_version: ({ version }) =>
    `The message has the version ${version}, which this program does not know.`,
  lookup_table: () => 'The transaction takes accounts from a lookup table.',
  no_writable_signer: () => 'Nobody can pay the fee: the first signer is not writable.',
  too_few_accounts: () => 'The header counts more accounts than there are.',
  account_twice: () => 'An account is listed twice.',
  fee_payer_called: () => 'The fee payer is called as a program.',
  account_not_listed: () => 'An instruction names an account that is not listed.',
  length_too_large: () => 'A length is larger than the transaction.',
  foreign_receipt: () => 'The receipt belongs to another transaction.',
  endpoint_address: () => 'The node named something that is not an address.',
  endpoint_signature: () => 'The node named something that is not a signature.',
  endpoint_no_result: () => 'The node does not say how the transaction ended.',
  header_too_long: ({ maxCharacters }) => `The proof is larger than ${maxCharacters} characters.`,
  not_base64: () => 'The proof is not canonical base64.',
  not_utf8: () => 'The proof is not valid UTF-8.',
  nul_character: () => 'The proof holds a NUL character.',
  json_malformed: () => 'Expected well-formed JSON.',
  json_too_deep: ({ maxLevels }) => `Expected at most ${maxLevels} levels of nesting.`,
  json_forbidden_key: ({ key }) => `The key "${key}" is not allowed.`,
  json_duplicate_key: ({ key }) => `The key ${JSON.stringify(key)} stands twice in one object.`,
  payment_field: ({ field, problem }) =>
    `The proof is not an x402 payment: at ${field ?? 'its root'}: ${renderDecodeProblem(problem)}`,
  unknown_payload: () => 'The payload is of no known kind.',
  offer_field: ({ field, problem }) =>
    `The seller's terms are not readable: at ${field ?? 'their root'}: ${renderDecodeProblem(problem)}`,
  offer_scheme: ({ scheme }) => `The seller asks for the scheme ${scheme}.`,
  offer_network: ({ network }) => `The seller asks on an unknown network: ${network}.`,
  offer_payee: ({ payee }) => `The seller names a payee that is not an address: ${payee}.`,
  offer_resource: () => 'The seller does not say what is paid for.',
  not_an_authorization: () => 'This is not the text of an authorization.',
  authorization_field: ({ field }) => `The authorization cannot be read at ${field ?? 'its root'}.`,
  authorization_not_canonical: () => 'The authorization is not spelled in its canonical form.',
}

/** Why bytes, a text or one of its fields cannot be read. */
export function renderDecodeProblem(problem: DecodeProblem): string {
  return renderDecode(problem)
}

function renderDecode<Code extends FactCode<DecodeProblem>>({
  code,
  params,
}: FactOf<DecodeProblem, Code>): string {
  return DECODE[code](params)
}
