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
import { formatNumber } from '../locales/formats.ts'
import {
  formatBytes,
  formatDecodeProblem,
  formatDigits,
  formatMoment,
  formatMoney,
  sharedTexts,
  upTo,
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
  feePayer: msg`Fee payer`,
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

const allows = (name: string) => () => t`${name}: allows spending`
const destroys = (name: string) => () => t`${name}: destroys tokens`

/** Names of the specifications are the same in every language. */
const calls: Readonly<Record<CallName, () => string>> = {
  transfer: () => t`token transfer`,
  transfer_with_value: () => t`transfer with native currency`,
  irregular_transfer: () => t`non-standard transfer`,
  approve: allows('approve'),
  increase_allowance: allows('increaseAllowance'),
  permit: allows('permit'),
  permit2_permit: allows('permit (Permit2)'),
  permit2_approve: allows('approve (Permit2)'),
  approve_all: () => t`setApprovalForAll: allows all spending`,
  transfer_from: () => 'transferFrom',
  transfer_with_authorization: () => 'transferWithAuthorization',
  multicall: () => 'multicall',
}

function formatCall({ selector, call }: { selector: string; call: CallName | null }): string {
  return call === null ? selector : calls[call]()
}

const tokenInstructions: Readonly<Record<TokenInstructionName, () => string>> = {
  transfer_without_mint: () => t`Transfer without a mint`,
  approve: allows('Approve'),
  revoke: () => 'Revoke',
  set_authority: () => t`SetAuthority: transfers ownership`,
  mint_to: () => 'MintTo',
  burn: destroys('Burn'),
  close_account: () => t`CloseAccount: takes the rent`,
  freeze_account: () => 'FreezeAccount',
  thaw_account: () => 'ThawAccount',
  irregular_transfer: () => t`non-standard transfer`,
  approve_checked: allows('ApproveChecked'),
  mint_to_checked: () => 'MintToChecked',
  burn_checked: destroys('BurnChecked'),
  transfer_with_fee: () => t`transfer with fee`,
  associated_account: () => t`another instruction`,
}

function formatTokenInstruction({
  name,
  number,
}: {
  name: TokenInstructionName | null
  number: number | null
}): string {
  return name === null ? `${t`another instruction`} ${number ?? '–'}` : tokenInstructions[name]()
}

function formatComputeFee({ units, microLamports }: { units: number; microLamports: string }) {
  return t`${{ units: formatNumber(units) }} units, ${{ price: formatMicroLamports(microLamports) }} each`
}

export function formatMicroLamports(digits: string): string {
  return t`${{ amount: formatDigits(digits) }} micro-lamports`
}

export function formatTransfers({ count }: { count: number }): string {
  return t`${plural(count, { one: '# transfer', other: '# transfers' })}`
}

function withGas(said: string, units: string): string {
  return t`${said}, with ${units} gas`
}

function gwei(wei: string): string {
  return `${formatDigits(formatAmount(BigInt(wei), 9))} gwei`
}

export const matchTexts: FactTexts<MatchFact> = {
  ...sharedTexts,
  list: ({ facts }) => facts.map(format).join(', '),
  unknown_blockhash: () => t`unknown blockhash`,
  blockhash_decides: () => t`by the blockhash`,
  called_contract_decides: () => t`unknown`,
  other_instruction_decides: () => t`unknown`,
  account_of_authority: ({ authority, account }) => t`${authority}, from ${account}`,
  token_account_owner: ({ account }) => t`owner of ${account}`,
  invalid_signatures: ({ signers }) => `${signers.join(', ')}, ${t`invalid signature`}`,
  missing_signatures: ({ signers, missing }) =>
    `${signers.join(', ')}, ${t`not signed`}: ${missing.join(', ')}`,
  transfers_total: ({ count, ...money }) =>
    t`${{ sum: formatMoney(money) }} in ${{ transfers: formatTransfers({ count }) }}`,
  smallest_units: ({ amountAtomic }) =>
    t`${{ amount: formatDigits(amountAtomic) }} units, unknown currency`,
  token_amount: ({ amountAtomic, decimals, token }) =>
    `${formatDigits(formatAmount(BigInt(amountAtomic), decimals))}${token === null ? '' : ` ${token}`}`,
  moved_by_token: (money) => t`${{ sum: formatMoney(money) }} by token events`,
  moved_by_balance: ({ owner, ...money }) =>
    t`${{ sum: formatMoney(money) }} by balance of ${{ owner: owner ?? t`unknown` }}`,
  at_most: (amount) => upTo(formatMoney(amount)),
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
  not_one_token_transfer: () => t`not one ${{ symbol: t`token` }} transfer`,
  fee_without_limits: (money) => t`${{ fee: upTo(formatMoney(money)) }}, limit and price missing`,
  free_without_limits: () => t`${{ fee: t`nothing` }}, limit and price missing`,
  paid_by_sender: () => t`paid by sender`,
  gas_fee: ({ gas, maxFeePerGas, maxPriorityFeePerGas }) =>
    t`${{ units: formatDigits(gas) }} gas at ${{ price: gwei(maxFeePerGas) }}, ${{ tip: gwei(maxPriorityFeePerGas) }} priority fee`,
  compute_fee: formatComputeFee,
  compute_fee_at_most: (fee) => upTo(formatComputeFee(fee)),
  price_per_unit: ({ microLamports }) => formatMicroLamports(microLamports),
  rent_at_most: (money) => upTo(formatMoney(money)),
  account_exists: () => t`nothing`,
  token_accounts_of: ({ owners }) => `${t`token account`}: ${owners.join(', ')}`,
  until_nonce_used: () => t`valid until nonce is used`,
  nonce: ({ nonce }) => t`nonce ${nonce}`,
  recent_blockhash: () => t`recent blockhash`,
  blockhash: ({ blockhash }) => blockhash,
  durable_nonce: () => t`no expiry`,
  until: ({ at }) => formatMoment(at),
  landed_in_block: () => t`executed`,
  block: ({ height }) => t`block ${height}`,
  landed_in_slot: () => t`executed`,
  slot: ({ height: slot }) => t`slot ${slot}`,
  plain_transfer_within: ({ gas }) => withGas(t`plain transfer`, upTo(formatDigits(gas))),
  plain_transfer_with: ({ gas }) => withGas(t`plain transfer`, formatDigits(gas)),
  token_transfer_within: ({ gas }) => withGas(t`token transfer`, upTo(formatDigits(gas))),
  token_transfer_with: ({ gas }) => withGas(t`token transfer`, formatDigits(gas)),
  one_token_transfer: () => t`token transfer`,
  one_signed_transfer: () => t`token transfer`,
  one_memo: () => t`memo`,
  account_opened_if_missing: () => t`token account opened`,
  wallet_guards_at_most: ({ count }) => upTo(formatGuards(count)),
  note: () => t`note without effect`,
  memo_only: () => t`memo`,
  approval: () => t`approval`,
  authorization_executed: () => t`only the payer’s authorization`,
  call: formatCall,
  contract_call: ({ bytes, ...call }) => `${t`call`} (${formatCall(call)}, ${formatBytes(bytes)})`,
  another_call: (call) => `${t`another call`} (${formatCall(call)})`,
  unnamed_call: () => t`another call`,
  token_instruction: ({ program, ...instruction }) =>
    `${formatTokenInstruction(instruction)} (${program})`,
  unknown_instruction: ({ program }) => `${t`another instruction`} (${program})`,
  reverted: () => t`failed`,
  reverted_nothing_moved: () => t`failed: nothing moved`,
  reverted_nothing_allowed: () => t`failed`,
  failed_nothing_moved: () => t`failed: nothing moved`,
  reviewed_transaction: () => t`reviewed transaction`,
  reviewed_unreadable: ({ problem }) => formatDecodeProblem(problem),
  not_payers_transaction: () => t`another transaction`,
  readable_payment: () => t`readable`,
}

export function formatGuards(count: number): string {
  return t`${plural(count, { one: '# guard of the wallet', other: '# guards of the wallet' })}`
}
