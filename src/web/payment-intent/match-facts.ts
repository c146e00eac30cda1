import type { MessageDescriptor } from '@lingui/core'
import { msg, plural, t } from '@lingui/core/macro'
import type { MatchRow } from '#chains/match.ts'
import { formatAmount } from '#contract/amount.ts'
import type {
  CallName,
  FactCode,
  FactOf,
  FactTexts,
  MatchFact,
  TokenInstructionName,
} from '#contract/facts.ts'
import { i18n } from '../locales/i18n.ts'
import { formatNumber } from '../locales/formats.ts'
import {
  formatDecodeProblem,
  formatDigits,
  formatMoment,
  formatMoney,
  sharedTexts,
} from './fact-values.ts'

/** What is compared. */
export const FIELD_NAMES: Readonly<Record<MatchRow['field'], MessageDescriptor>> = {
  network: msg`Network`,
  sender: msg`From`,
  recipient: msg`To`,
  amount: msg`Amount`,
  asset: msg`Currency`,
  spender: msg`Taken by`,
  contract: msg`Rules of`,
  fee: msg`Network fee`,
  rent: msg`Account rent`,
  feePayer: msg`Fee paid by`,
  signers: msg`Signed by`,
  memo: msg`Memo`,
  expiry: msg`Valid until`,
  instructions: msg`Action`,
}

/** What a comparison expected or found, in the reader's language and way of writing figures. */
export function formatMatchFact(fact: MatchFact): string {
  return format(fact)
}

function format<Code extends FactCode<MatchFact>>({
  code,
  params,
}: FactOf<MatchFact, Code>): string {
  return matchTexts[code](params)
}

const calls: Readonly<Record<CallName, MessageDescriptor>> = {
  transfer: msg`token transfer`,
  transfer_with_value: msg`transfer with native currency`,
  irregular_transfer: msg`non-standard transfer`,
  approve: msg`approve: allows spending`,
  increase_allowance: msg`increaseAllowance: allows more spending`,
  permit: msg`permit: allows spending`,
  permit2_permit: msg`permit (Permit2): allows spending`,
  permit2_approve: msg`approve (Permit2): allows spending`,
  approve_all: msg`setApprovalForAll: allows all spending`,
  transfer_from: msg`transferFrom`,
  transfer_with_authorization: msg`transferWithAuthorization`,
  multicall: msg`multicall`,
}

function formatCall({ selector, call }: { selector: string; call: CallName | null }): string {
  return call === null ? selector : i18n._(calls[call])
}

const tokenInstructions: Readonly<Record<TokenInstructionName, MessageDescriptor>> = {
  transfer_without_mint: msg`Transfer without a mint`,
  approve: msg`Approve: allows spending`,
  revoke: msg`Revoke`,
  set_authority: msg`SetAuthority: transfers ownership`,
  mint_to: msg`MintTo`,
  burn: msg`Burn: destroys tokens`,
  close_account: msg`CloseAccount: takes the rent`,
  freeze_account: msg`FreezeAccount`,
  thaw_account: msg`ThawAccount`,
  irregular_transfer: msg`TransferChecked, non-standard`,
  approve_checked: msg`ApproveChecked: allows spending`,
  mint_to_checked: msg`MintToChecked`,
  burn_checked: msg`BurnChecked: destroys tokens`,
  transfer_with_fee: msg`transfer with fee`,
  associated_account: msg`another associated token instruction`,
}

function formatTokenInstruction({
  name,
  number,
}: {
  name: TokenInstructionName | null
  number: number | null
}): string {
  return name === null
    ? t`token program instruction ${{ number: number ?? '–' }}`
    : i18n._(tokenInstructions[name])
}

function gwei(wei: string): string {
  return `${formatDigits(formatAmount(BigInt(wei), 9))} gwei`
}

export const matchTexts: FactTexts<MatchFact> = {
  ...sharedTexts,
  list: ({ facts }) => facts.map(format).join(', '),
  unknown_blockhash: () => t`unknown blockhash`,
  blockhash_decides: () => t`by the blockhash`,
  called_contract_decides: () => t`by the called contract`,
  other_instruction_decides: () => t`by another instruction`,
  account_of_authority: ({ authority, account }) => t`${authority}, from ${account}`,
  token_account_owner: ({ account }) => t`owner of ${account}`,
  invalid_signatures: ({ signers }) => t`${{ signers: signers.join(', ') }}, invalid signature`,
  missing_signatures: ({ signers, missing }) =>
    t`${{ what: signers.join(', ') }}, signature of ${{ names: missing.join(', ') }} missing or invalid`,
  transfers_total: ({ count, ...money }) =>
    t`${{ sum: formatMoney(money) }} in ${{ transfers: t`${plural(count, { one: '# transfer', other: '# transfers' })}` }}`,
  smallest_units: ({ amountAtomic }) =>
    t`${{ amount: formatDigits(amountAtomic) }} units, another token`,
  token_amount: ({ amountAtomic, decimals, token }) =>
    `${formatDigits(formatAmount(BigInt(amountAtomic), decimals))}${token === null ? '' : ` ${token}`}`,
  moved_by_token: (money) => t`${{ sum: formatMoney(money) }} by token events`,
  moved_by_balance: ({ owner, ...money }) =>
    t`${{ sum: formatMoney(money) }} by balance of ${{ owner: owner ?? t`unknown owner` }}`,
  at_most: (amount) => t`up to ${{ money: formatMoney(amount) }}`,
  currency: ({ symbol }) => symbol,
  token: ({ address, symbol, token2022 }) => {
    const place = token2022 ? `${address} (Token-2022)` : address
    return symbol === null
      ? t`token ${{ address: place }}`
      : t`${symbol}, token ${{ address: place }}`
  },
  contract: ({ address }) => t`contract ${address}`,
  any_token: () => t`token`,
  not_one_native_transfer: ({ symbol }) => t`not one ${symbol} transfer`,
  not_one_token_transfer: () => t`not one token transfer`,
  fee_without_limits: (money) =>
    t`${{ fee: t`at most ${{ money: formatMoney(money) }}` }}, limit and price missing`,
  free_without_limits: () => t`nothing: limit and price missing`,
  paid_by_sender: () => t`paid by sender`,
  gas_fee: ({ gas, maxFeePerGas, maxPriorityFeePerGas }) =>
    t`${{ units: formatDigits(gas) }} gas at ${{ price: gwei(maxFeePerGas) }}, ${{ tip: gwei(maxPriorityFeePerGas) }} priority fee`,
  compute_fee: ({ units, microLamports }) =>
    t`${{ units: formatNumber(units) }} units, ${{ price: formatDigits(microLamports) }} micro-lamports each`,
  compute_fee_at_most: ({ units, microLamports }) =>
    t`up to ${{ units: formatNumber(units) }} units, ${{ price: formatDigits(microLamports) }} micro-lamports each`,
  price_per_unit: ({ microLamports }) =>
    t`${{ price: formatDigits(microLamports) }} micro-lamports per unit`,
  rent_at_most: (money) => t`up to ${{ money: formatMoney(money) }} for the token account`,
  account_exists: () => t`nothing: the account exists`,
  token_accounts_of: ({ owners }) => t`token accounts of ${{ owners: owners.join(', ') }}`,
  until_nonce_used: () => t`valid until nonce is used`,
  nonce: ({ nonce }) => t`nonce ${nonce}`,
  recent_blockhash: () => t`recent blockhash`,
  blockhash: ({ blockhash }) => blockhash,
  durable_nonce: () => t`durable nonce, no expiry`,
  until: ({ at }) => t`until ${{ time: formatMoment(at) }}`,
  landed_in_block: () => t`included in block`,
  block: ({ height }) => t`block ${height}`,
  landed_in_slot: () => t`included in slot`,
  slot: ({ height: slot }) => t`slot ${slot}`,
  plain_transfer_within: ({ gas }) =>
    t`${{ said: t`plain transfer` }}, within ${{ units: formatDigits(gas) }} gas`,
  plain_transfer_with: ({ gas }) =>
    t`${{ said: t`plain transfer` }}, with ${{ units: formatDigits(gas) }} gas`,
  token_transfer_within: ({ gas }) =>
    t`${{ said: t`one token transfer` }}, within ${{ units: formatDigits(gas) }} gas`,
  token_transfer_with: ({ gas }) =>
    t`${{ said: t`one token transfer` }}, with ${{ units: formatDigits(gas) }} gas`,
  one_token_transfer: () => t`one token transfer`,
  one_signed_transfer: () => t`one token transfer`,
  one_memo: () => t`one memo`,
  account_opened_if_missing: () => t`recipient’s token account opened`,
  wallet_guards_at_most: ({ count }) => t`at most ${{ money: formatGuards(count) }}`,
  note: () => t`note without effect`,
  memo_only: () => t`one memo`,
  approval: () => t`one approval`,
  authorization_executed: () => t`only the payer’s authorization`,
  call: formatCall,
  contract_call: ({ bytes, ...call }) =>
    t`${{ bytes: formatNumber(bytes) }}-byte contract call (${{ name: formatCall(call) }})`,
  another_call: (call) => t`another call (${{ name: formatCall(call) }})`,
  unnamed_call: () => t`another call`,
  token_instruction: ({ program, ...instruction }) =>
    `${formatTokenInstruction(instruction)} (${program})`,
  unknown_instruction: ({ program }) => t`unknown ${program} instruction`,
  reverted: () => t`reverted`,
  reverted_nothing_moved: () => t`reverted: nothing moved`,
  reverted_nothing_allowed: () => t`reverted: nothing was allowed`,
  failed_nothing_moved: () => t`failed: nothing moved`,
  reviewed_transaction: () => t`reviewed transaction`,
  reviewed_unreadable: ({ problem }) =>
    t`Unreadable transaction: ${{ problem: formatDecodeProblem(problem) }}`,
  not_payers_transaction: () => t`other than the payer’s transaction`,
  readable_payment: () => t`fully readable payment`,
}

export function formatGuards(count: number): string {
  return t`${plural(count, { one: '# guard of the wallet', other: '# guards of the wallet' })}`
}
