import { formatAmount } from './amount.ts'
import {
  renderAssetReason,
  renderDecodeProblem,
  renderRecipientReason,
  renderSenderReason,
} from './render-en.ts'
import type { ReasonAmount } from './reasons.ts'
import type {
  CallName,
  CheckFact,
  FactCode,
  FactOf,
  FactTexts,
  MatchFact,
  MoneyAsset,
  SharedFact,
  TokenInstructionName,
} from './facts.ts'

/** Facts as English sentences: for the API, for logs and for errors. The dashboard has its own tables, in the language of its reader. */

/** @returns for example `at most 0.000021 ETH` */
export function renderMatchFact(fact: MatchFact): string {
  return renderMatch(fact)
}

/** Amounts come as atomic units, as the API always told them. @returns for example `never executed` */
export function renderCheckFact(fact: CheckFact): string {
  return renderCheck(fact)
}

function renderMatch<Code extends FactCode<MatchFact>>({
  code,
  params,
}: FactOf<MatchFact, Code>): string {
  return MATCH[code](params)
}

function renderCheck<Code extends FactCode<CheckFact>>({
  code,
  params,
}: FactOf<CheckFact, Code>): string {
  return CHECK[code](params)
}

type Money = MoneyAsset & { amountAtomic: string }

function formatMoney({ amountAtomic, symbol, decimals }: Money): string {
  return `${formatAmount(BigInt(amountAtomic), decimals)} ${symbol}`
}

function formatTime(at: number): string {
  return new Date(at).toISOString()
}

const SHARED: FactTexts<SharedFact> = {
  address: ({ address }) => address,
  amount: formatMoney,
  count: ({ count }) => count.toString(),
  network: ({ network }) => network,
  text: ({ text }) => text,
  data: ({ data }) => data,
  transaction: ({ transaction }) => transaction,
  time: ({ at }) => formatTime(at),
  no_expiry: () => 'no expiry',
  none: () => 'none',
  nothing: () => 'nothing',
  nobody: () => 'nobody',
  failed: () => 'failed',
  plain_transfer: () => 'a plain transfer',
  one_transfer: () => 'one transfer',
  another_transaction: () => 'another transaction',
  compute_limit: () => 'compute limit',
  compute_price: () => 'compute price',
  transfer: () => 'transfer',
  token_transfer: () => 'token transfer',
  memo: () => 'memo',
  wallet_guard: () => 'wallet guard',
  account_opened: () => 'token account opened',
  other_instruction: () => 'another instruction',
  unreadable: ({ problem }) => renderDecodeProblem(problem),
  not_signed: () => 'not signed',
}

const CALLS: Readonly<Record<CallName, string>> = {
  transfer: 'transfer of a token',
  transfer_with_value: 'transfer, with native currency beside it',
  irregular_transfer: 'transfer, not in its plain form',
  approve: 'approve: another account may take tokens later',
  increase_allowance: 'increaseAllowance: another account may take more tokens later',
  permit: 'permit: another account may take tokens later',
  permit2_permit: 'permit (Permit2): another account may take tokens later',
  permit2_approve: 'approve (Permit2): another account may take tokens later',
  approve_all: 'setApprovalForAll: another account may take everything later',
  transfer_from: 'transferFrom',
  transfer_with_authorization: 'transferWithAuthorization',
  multicall: 'multicall',
}

function nameOf({ selector, call }: { selector: string; call: CallName | null }): string {
  return call === null ? selector : CALLS[call]
}

const TOKEN_INSTRUCTIONS: Readonly<Record<TokenInstructionName, string>> = {
  transfer_without_mint: 'Transfer, which names no mint',
  approve: 'Approve: another account may take tokens later',
  revoke: 'Revoke',
  set_authority: 'SetAuthority: gives an account or a mint away',
  mint_to: 'MintTo',
  burn: 'Burn: destroys tokens',
  close_account: 'CloseAccount: takes the account’s rent',
  freeze_account: 'FreezeAccount',
  thaw_account: 'ThawAccount',
  irregular_transfer: 'TransferChecked, not in its plain form',
  approve_checked: 'ApproveChecked: another account may take tokens later',
  mint_to_checked: 'MintToChecked',
  burn_checked: 'BurnChecked: destroys tokens',
  transfer_with_fee: 'a transfer with a fee',
  associated_account: 'another instruction of the associated token program',
}

const MATCH: FactTexts<MatchFact> = {
  ...SHARED,
  list: ({ facts }) => facts.map(renderMatch).join(', '),
  unknown_blockhash: () => 'a blockhash this network does not know',
  blockhash_decides: () => 'decided by the blockhash',
  called_contract_decides: () => 'decided by the contract that is called',
  other_instruction_decides: () => 'decided by another instruction',
  account_of_authority: ({ authority, account }) =>
    `${authority}, from the token account ${account}`,
  token_account_owner: ({ account }) => `the owner of the token account ${account}`,
  invalid_signatures: ({ signers }) => `${signers.join(', ')}, with an invalid signature`,
  missing_signatures: ({ signers, missing }) =>
    `${signers.join(', ')}, without a valid signature of ${missing.join(', ')}`,
  transfers_total: ({ count, ...money }) => `${formatMoney(money)} in ${count} transfers`,
  smallest_units: ({ amountAtomic }) => `${amountAtomic} of the smallest units of another token`,
  token_amount: ({ amountAtomic, decimals, token }) =>
    `${formatAmount(BigInt(amountAtomic), decimals)}${token === null ? '' : ` ${token}`}`,
  moved_by_token: (money) => `${formatMoney(money)} according to the token’s events`,
  moved_by_balance: ({ owner, ...money }) =>
    `${formatMoney(money)}, by the balance of ${owner ?? 'an unknown owner'}`,
  at_most: (money) => `at most ${formatMoney(money)}`,
  currency: ({ symbol }) => symbol,
  token: ({ address, symbol, token2022 }) =>
    `${symbol === null ? '' : `${symbol}, `}the token ${address}${token2022 ? ' (Token-2022)' : ''}`,
  contract: ({ address }) => `the contract ${address}`,
  any_token: () => 'a token',
  not_one_native_transfer: ({ symbol }) => `not one transfer of ${symbol}`,
  not_one_token_transfer: () => 'not one transfer of a token',
  fee_without_limits: (money) => `at most ${formatMoney(money)}, without one limit and one price`,
  free_without_limits: () => 'nothing, without one limit and one price',
  paid_by_sender: () => 'paid by the sender',
  gas_fee: ({ gas, maxFeePerGas, maxPriorityFeePerGas }) =>
    `${gas} gas at ${formatAmount(BigInt(maxFeePerGas), 9)} gwei, of which ${formatAmount(BigInt(maxPriorityFeePerGas), 9)} gwei is the priority fee`,
  compute_fee: ({ units, microLamports }) => `${units} units at ${microLamports} micro-lamports`,
  compute_fee_at_most: ({ units, microLamports }) =>
    `at most ${units} units at ${microLamports} micro-lamports`,
  price_per_unit: ({ microLamports }) => `${microLamports} micro-lamports per unit`,
  rent_at_most: (money) => `at most ${formatMoney(money)}, to open the recipient’s token account`,
  account_exists: () => 'nothing: the account exists',
  token_accounts_of: ({ owners }) => `the token accounts of ${owners.join(', ')}`,
  until_nonce_used: () => 'valid until its nonce is used',
  nonce: ({ nonce }) => `nonce ${nonce}`,
  recent_blockhash: () => 'a recent blockhash',
  blockhash: ({ blockhash }) => blockhash,
  durable_nonce: () => 'a durable nonce, which does not expire',
  until: ({ at }) => `until ${formatTime(at)}`,
  landed_in_block: () => 'included in a block',
  block: ({ height }) => `block ${height}`,
  landed_in_slot: () => 'included in a slot',
  slot: ({ height }) => `slot ${height}`,
  plain_transfer_within: ({ gas }) => `a plain transfer within ${gas} gas`,
  plain_transfer_with: ({ gas }) => `a plain transfer with ${gas} gas`,
  token_transfer_within: ({ gas }) => `one transfer of the token within ${gas} gas`,
  token_transfer_with: ({ gas }) => `one transfer of the token with ${gas} gas`,
  one_token_transfer: () => 'one transfer of the token',
  one_signed_transfer: () => 'one transfer of the token, once',
  one_memo: () => 'one memo',
  account_opened_if_missing: () => 'the recipient’s token account opened if it is missing',
  wallet_guards_at_most: ({ count }) => `at most ${count} wallet guards`,
  note: () => 'a note, which moves nothing',
  memo_only: () => 'one memo, which moves nothing',
  approval: () => 'one approval, which moves nothing',
  authorization_executed: () => 'the execution of the payer’s authorization, and nothing else',
  call: nameOf,
  contract_call: ({ bytes, ...call }) => `a contract call of ${bytes} bytes (${nameOf(call)})`,
  another_call: (call) => `another call (${nameOf(call)})`,
  unnamed_call: () => 'another call',
  token_instruction: ({ program, name, number }) =>
    `${name === null ? `instruction ${number ?? 'nothing'} of the token program` : TOKEN_INSTRUCTIONS[name]} (${program})`,
  unknown_instruction: ({ program }) => `an unknown instruction of ${program}`,
  reverted: () => 'reverted',
  reverted_nothing_moved: () => 'reverted: nothing was moved',
  reverted_nothing_allowed: () => 'reverted: nothing was allowed',
  failed_nothing_moved: () => 'failed: nothing was moved',
  reviewed_transaction: () => 'the transaction that was reviewed',
  reviewed_unreadable: ({ problem }) =>
    `The reviewed transaction cannot be read: ${renderDecodeProblem(problem)}`,
  not_payers_transaction: () => 'another transaction than the payer’s',
  readable_payment: () => 'a payment that can be read to its last byte',
}

const CHECK: FactTexts<CheckFact> = {
  ...SHARED,
  amount: ({ amountAtomic }) => amountAtomic,
  list: ({ facts }) => facts.map(renderCheck).join(', '),
  nonce_used: ({ nonce, next }) => `The nonce ${nonce} is used up: the next one is ${next}.`,
  nonce_ahead: ({ nonce, next }) => `The nonce ${nonce} is ahead: the next one is ${next}.`,
  payer_balance_too_low: () => 'The payer does not hold the amount and its fee.',
  fee_payer_balance_too_low: () => 'The wallet that pays the network fee holds too little.',
  token_gas_too_high: ({ maxGas }) => `The token needs more than ${maxGas} gas to be moved.`,
  call_gas_too_high: ({ maxGas }) => `The call needs more than ${maxGas} gas.`,
  token_did_not_transfer: () => 'The token says that it did not transfer.',
  refused_with: ({ answer }) => answer,
  refused: () => 'refused',
  contract_reverts: (params) => renderRecipientReason({ code: 'contract_reverts', params }),
  contract_gas_too_high: (params) =>
    renderRecipientReason({ code: 'contract_gas_too_high', params }),
  token_account_reassigned: (params) =>
    renderRecipientReason({ code: 'token_account_reassigned', params }),
  token_account_frozen: (params) => renderRecipientReason({ code: 'token_account_frozen', params }),
  sender_token_account_frozen: (params) =>
    renderSenderReason({ code: 'sender_token_account_frozen', params }),
  asset_missing: (params) => renderAssetReason({ code: 'asset_missing', params }),
  asset_decimals_differ: (params) => renderAssetReason({ code: 'asset_decimals_differ', params }),
  asset_not_transferable: (params) => renderAssetReason({ code: 'asset_not_transferable', params }),
  asset_calls_program: (params) => renderAssetReason({ code: 'asset_calls_program', params }),
  asset_keeps_part: ({ sent, arrives, token, symbol }) =>
    renderAssetReason({
      code: 'asset_keeps_part',
      params: { token, symbol, sent: amountOf(sent, token), arrives: amountOf(arrives, token) },
    }),
  base64_payment: () => 'base64 of an x402 payment',
  such_payment: () => 'such a payment',
  x402_payment: () => 'an x402 payment',
  version: ({ version }) => `version ${version}`,
  one_of: ({ values }) => values.join(' or '),
  payload_of: ({ method }) => `the payload of ${method ?? 'a method'}`,
  such_payload: () => 'such a payload',
  unreadable_field: ({ field, problem }) => `${field}: ${renderDecodeProblem(problem)}`,
  evm_address: () => 'an EVM address',
  signed_terms: () => 'the terms that were signed',
  offer: () => 'an offer',
  base58_signature: () => 'base58 of 64 bytes',
  plain_eip1559: () => 'a plain EIP-1559 transaction',
  such_transaction: () => 'such a transaction',
  solana_transaction_without_tables: () => 'a v0 or legacy transaction without lookup tables',
  solana_transaction: () => 'a v0 or legacy transaction',
  readable_transaction: () => 'a transaction that can be read',
  signature_of_64_bytes: () => 'a signature of 64 bytes',
  base64: () => 'base64',
  payer: () => 'the payer',
  payer_signature: () => 'the signature of the payer',
  payer_not_payee: () => 'a payer other than the payee',
  another_account: () => 'another account',
  own_token_account: () => 'a token account of the payer',
  token_account: () => 'a token account',
  unrecoverable_signature: () => 'a signature of nobody',
  undeployed_signature: () =>
    'a signature for an account that is not deployed (ERC-6492), which this service does not deploy',
  contract_refused: () => 'the payer’s contract does not confirm it',
  token_with_authorizations: () => 'a token that takes authorizations',
  token_without_domain: () => 'a token that names no domain',
  token_name_missing: () => 'the token’s name is not in the proof',
  signed_by_payer: () => 'signed by the payer',
  not_validly_signed: () => 'not validly signed',
  signed_transaction: () => 'the signed transaction',
  not_in_receipt: () => 'not in the receipt',
  not_named: () => 'not named',
  chain_id: ({ chainId }) => chainId.toString(),
  lamports: ({ amountAtomic }) => `${amountAtomic} lamports`,
  at_least: ({ amountAtomic }) => `${amountAtomic} at least`,
  at_least_unpromised: ({ amountAtomic }) =>
    `${amountAtomic} at least, beside what is promised already`,
  promised: ({ amountAtomic, promisedAtomic }) =>
    `${amountAtomic}, of which ${promisedAtomic} is promised`,
  reserved: () => 'reserved',
  no_failed_settlement: () => 'a payer whose code made no settlement fail in the last 24 hours',
  refused_until: ({ at }) => `refused until ${formatTime(at)}: its code reverted a settlement`,
  signed_time: ({ at }) => seconds(at),
  valid_from: ({ at }) => `valid from ${seconds(at)} at the latest`,
  valid_until: ({ at }) => `valid until ${seconds(at)} at least`,
  window: ({ from, to }) =>
    `from ${formatTime(from)} to ${to === null ? 'any time' : formatTime(to)}`,
  never_used: () => 'never used',
  used: () => 'used',
  same_question: () => 'the same question',
  unused_or_same_question: () => 'never used, or used for the same question',
  in_settlement: () => 'in settlement',
  in_other_settlement: () => 'in settlement for another question',
  unused_or_in_settlement: () => 'never used, or in settlement for the same question',
  confirmed_order: () => 'confirmed the order of this resource',
  order_for: ({ resource }) => `an order for ${resource ?? 'no resource'}`,
  order: ({ order, resource }) => `the order ${order} for ${resource ?? 'no resource'}`,
  another_order: () => 'another order',
  own_payment_id: () => 'the id of a payment of this account',
  signed_or_api_key: () => 'what the payer signed, or the API key of the payee',
  transaction_name: () => 'the name of a transaction',
  never_executed: () => 'never executed',
  not_executed: () => 'not executed',
  executed: () => 'executed',
  executed_or_cancelled: () => 'executed or cancelled',
  never_broadcast: () => 'never broadcast before it is presented',
  never_broadcast_without_memo: () => 'never broadcast, or with the memo that was asked for',
  pending: () => 'pending',
  landed: () => 'landed',
  landed_and_succeeded: () => 'landed and succeeded',
  status: ({ status }) => status,
  confirmed: () => 'confirmed',
  confirmed_by_policy: () => 'confirmed by the policy of the network',
  height: ({ height }) => `height ${height}`,
  blocks: ({ count }) => (count === 1 ? '1 block' : `${count} blocks`),
  message: ({ message }) => message,
  unknown: () => 'unknown',
  accepted: () => 'accepted',
  valid: () => 'valid',
  not_valid: () => 'not valid',
  settled: () => 'settled',
  plain_payment: () => 'a plain payment',
  one_plain_transfer: ({ symbol }) => `one plain transfer of ${symbol}`,
  one: () => 'one',
  at_most_one: () => 'at most one',
  any_call: () => 'a call',
  transfers: ({ count }) => (count === 1 ? 'one transfer' : `${count} transfers`),
  transfers_and_others: ({ transfers, others }) =>
    `${transfers} transfers and ${others} other system instructions`,
  signed_transfer: () => 'the transfer, as it was signed',
  something_else: () => 'something else',
  signers_at_most: ({ count }) => `at most ${count} signers`,
  all_signatures: () => 'a valid signature of every signer except the fee payer',
  all_signed: () => 'all of them',
  signatures_missing: ({ signers }) => `none of ${signers.join(', ')}`,
  only_transfer: ({ guards }) =>
    `only a transfer, a memo, compute limits and at most ${guards} wallet guards`,
  only_token_transfer: ({ guards }) =>
    `only a token transfer, a memo, compute limits and at most ${guards} wallet guards`,
  wallet_guards: ({ count }) => `${count} wallet guards`,
  other_instructions: ({ count }) => `${count} other instructions`,
  one_limit_at_most: ({ units }) => `one limit of at most ${units}`,
  price_at_most: ({ microLamports }) => `at most ${microLamports} micro-lamports`,
  one_price_at_most: ({ microLamports }) => `one price of at most ${microLamports} micro-lamports`,
  price: ({ microLamports }) => microLamports,
  fee_payer_unnamed: () => 'the fee payer in no instruction',
  in_no_instruction: () => 'in none',
  in_an_instruction: () => 'it is named by one',
}

function amountOf({ amountAtomic, ...asset }: Money, address: string): ReasonAmount {
  return { ...asset, amountAtomic: BigInt(amountAtomic), asset: address }
}

/** Unix seconds, in which authorizations are signed. */
function seconds(at: number): string {
  return Math.floor(at / 1000).toString()
}
