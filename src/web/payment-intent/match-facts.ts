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
import { formatDigits, formatMoment, formatMoney, sharedTexts } from './fact-values.ts'

/** What is compared. */
export const FIELD_NAMES: Readonly<Record<MatchRow['field'], MessageDescriptor>> = {
  network: msg`Network`,
  sender: msg`From`,
  recipient: msg`To`,
  amount: msg`Amount`,
  asset: msg`Currency`,
  spender: msg`Taken by`,
  contract: msg`By the rules of`,
  fee: msg`Network fee`,
  rent: msg`Account rent`,
  feePayer: msg`Fee paid by`,
  signers: msg`Signed by`,
  memo: msg`Memo`,
  expiry: msg`Good until`,
  instructions: msg`What it does`,
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
  transfer: msg`transfer of a token`,
  transfer_with_value: msg`transfer, with native currency beside it`,
  irregular_transfer: msg`transfer, not in its plain form`,
  approve: msg`approve: another account may take tokens later`,
  increase_allowance: msg`increaseAllowance: another account may take more tokens later`,
  permit: msg`permit: another account may take tokens later`,
  permit2_permit: msg`permit (Permit2): another account may take tokens later`,
  permit2_approve: msg`approve (Permit2): another account may take tokens later`,
  approve_all: msg`setApprovalForAll: another account may take everything later`,
  transfer_from: msg`transferFrom`,
  transfer_with_authorization: msg`transferWithAuthorization`,
  multicall: msg`multicall`,
}

function formatCall({ selector, call }: { selector: string; call: CallName | null }): string {
  return call === null ? selector : i18n._(calls[call])
}

const tokenInstructions: Readonly<Record<TokenInstructionName, MessageDescriptor>> = {
  transfer_without_mint: msg`Transfer, which names no mint`,
  approve: msg`Approve: another account may take tokens later`,
  revoke: msg`Revoke`,
  set_authority: msg`SetAuthority: gives an account or a mint away`,
  mint_to: msg`MintTo`,
  burn: msg`Burn: destroys tokens`,
  close_account: msg`CloseAccount: takes the account’s rent`,
  freeze_account: msg`FreezeAccount`,
  thaw_account: msg`ThawAccount`,
  irregular_transfer: msg`TransferChecked, not in its plain form`,
  approve_checked: msg`ApproveChecked: another account may take tokens later`,
  mint_to_checked: msg`MintToChecked`,
  burn_checked: msg`BurnChecked: destroys tokens`,
  transfer_with_fee: msg`a transfer with a fee`,
  associated_account: msg`another instruction of the associated token program`,
}

function formatTokenInstruction({
  name,
  number,
}: {
  name: TokenInstructionName | null
  number: number | null
}): string {
  return name === null
    ? t`instruction ${{ number: number ?? '–' }} of the token program`
    : i18n._(tokenInstructions[name])
}

function gwei(wei: string): string {
  return `${formatDigits(formatAmount(BigInt(wei), 9))} gwei`
}

export const matchTexts: FactTexts<MatchFact> = {
  ...sharedTexts,
  list: ({ facts }) => facts.map(format).join(', '),
  unknown_blockhash: () => t`a blockhash this network does not know`,
  blockhash_decides: () => t`decided by the blockhash`,
  called_contract_decides: () => t`decided by the contract that is called`,
  other_instruction_decides: () => t`decided by another instruction`,
  not_signed: () => t`not signed`,
  account_of_authority: ({ authority, account }) =>
    t`${authority}, from the token account ${account}`,
  token_account_owner: ({ account }) => t`the owner of the token account ${account}`,
  invalid_signatures: ({ signers }) =>
    t`${{ signers: signers.join(', ') }}, with an invalid signature`,
  missing_signatures: ({ signers, missing }) =>
    t`${{ what: signers.join(', ') }}, without a valid signature of ${{ names: missing.join(', ') }}`,
  transfers_total: ({ count, ...money }) =>
    t`${{ sum: formatMoney(money) }} in ${{ transfers: t`${plural(count, { one: '# transfer', other: '# transfers' })}` }}`,
  smallest_units: ({ amountAtomic }) =>
    t`${{ amount: formatDigits(amountAtomic) }} of the smallest units of another token`,
  token_amount: ({ amountAtomic, decimals, token }) =>
    `${formatDigits(formatAmount(BigInt(amountAtomic), decimals))}${token === null ? '' : ` ${token}`}`,
  moved_by_token: (money) => t`${{ sum: formatMoney(money) }} according to the token’s events`,
  moved_by_balance: ({ owner, ...money }) =>
    t`${{ sum: formatMoney(money) }}, by the balance of ${{ owner: owner ?? t`an unknown owner` }}`,
  at_most: (amount) => t`at most ${{ money: formatMoney(amount) }}`,
  currency: ({ symbol }) => symbol,
  token: ({ address, symbol, token2022 }) => {
    const place = token2022 ? `${address} (Token-2022)` : address
    return symbol === null
      ? t`the token ${{ address: place }}`
      : t`${symbol}, the token ${{ address: place }}`
  },
  contract: ({ address }) => t`the contract ${address}`,
  any_token: () => t`a token`,
  not_one_native_transfer: ({ symbol }) => t`not one transfer of ${symbol}`,
  not_one_token_transfer: () => t`not one transfer of a token`,
  fee_without_limits: (money) =>
    t`${{ fee: t`at most ${{ money: formatMoney(money) }}` }}, without one limit and one price`,
  free_without_limits: () => t`nothing, without one limit and one price`,
  paid_by_sender: () => t`paid by the sender`,
  gas_fee: ({ gas, maxFeePerGas, maxPriorityFeePerGas }) =>
    t`${{ units: formatDigits(gas) }} gas at ${{ price: gwei(maxFeePerGas) }}, of which ${{ tip: gwei(maxPriorityFeePerGas) }} is the priority fee`,
  compute_fee: ({ units, microLamports }) =>
    t`${{ units: formatNumber(units) }} units at ${{ price: formatDigits(microLamports) }} micro-lamports`,
  compute_fee_at_most: ({ units, microLamports }) =>
    t`at most ${{ units: formatNumber(units) }} units at ${{ price: formatDigits(microLamports) }} micro-lamports`,
  price_per_unit: ({ microLamports }) =>
    t`${{ price: formatDigits(microLamports) }} micro-lamports per unit`,
  rent_at_most: (money) =>
    t`at most ${{ money: formatMoney(money) }}, to open the recipient’s token account`,
  account_exists: () => t`nothing: the account exists`,
  token_accounts_of: ({ owners }) => t`the token accounts of ${{ owners: owners.join(', ') }}`,
  until_nonce_used: () => t`valid until its nonce is used`,
  nonce: ({ nonce }) => t`nonce ${nonce}`,
  recent_blockhash: () => t`a recent blockhash`,
  blockhash: ({ blockhash }) => blockhash,
  durable_nonce: () => t`a durable nonce, which does not expire`,
  until: ({ at }) => t`until ${{ time: formatMoment(at) }}`,
  landed_in_block: () => t`included in a block`,
  block: ({ height }) => t`block ${height}`,
  landed_in_slot: () => t`included in a slot`,
  slot: ({ height: slot }) => t`slot ${slot}`,
  plain_transfer_within: ({ gas }) =>
    t`${{ said: t`a plain transfer` }}, within ${{ units: formatDigits(gas) }} gas`,
  plain_transfer_with: ({ gas }) =>
    t`${{ said: t`a plain transfer` }}, with ${{ units: formatDigits(gas) }} gas`,
  token_transfer_within: ({ gas }) =>
    t`${{ said: t`one transfer of the token` }}, within ${{ units: formatDigits(gas) }} gas`,
  token_transfer_with: ({ gas }) =>
    t`${{ said: t`one transfer of the token` }}, with ${{ units: formatDigits(gas) }} gas`,
  one_token_transfer: () => t`one transfer of the token`,
  one_signed_transfer: () => t`one transfer of the token, once`,
  one_memo: () => t`one memo`,
  account_opened_if_missing: () => t`the recipient’s token account opened if it is missing`,
  wallet_guards_at_most: ({ count }) => t`at most ${{ money: formatGuards(count) }}`,
  note: () => t`a note, which moves nothing`,
  memo_only: () => t`one memo, which moves nothing`,
  approval: () => t`one approval, which moves nothing`,
  authorization_executed: () => t`the execution of the payer’s authorization, and nothing else`,
  call: formatCall,
  contract_call: ({ bytes, ...call }) =>
    t`a contract call of ${{ bytes: formatNumber(bytes) }} bytes (${{ name: formatCall(call) }})`,
  another_call: (call) => t`another call (${{ name: formatCall(call) }})`,
  unnamed_call: () => t`another call`,
  token_instruction: ({ program, ...instruction }) =>
    `${formatTokenInstruction(instruction)} (${program})`,
  unknown_instruction: ({ program }) => t`an unknown instruction of ${program}`,
  reverted: () => t`reverted`,
  reverted_nothing_moved: () => t`reverted: nothing was moved`,
  reverted_nothing_allowed: () => t`reverted: nothing was allowed`,
  failed_nothing_moved: () => t`failed: nothing was moved`,
  reviewed_transaction: () => t`the transaction that was reviewed`,
  reviewed_unreadable: ({ problem }) => t`The reviewed transaction cannot be read: ${problem}`,
  not_payers_transaction: () => t`another transaction than the payer’s`,
  readable_payment: () => t`a payment that can be read to its last byte`,
}

export function formatGuards(count: number): string {
  return t`${plural(count, { one: '# guard of the wallet', other: '# guards of the wallet' })}`
}
