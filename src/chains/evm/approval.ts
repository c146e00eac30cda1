import {
  encodeFunctionData,
  erc20Abi,
  getAddress,
  hexToBytes,
  serializeTransaction,
  type Hex,
} from 'viem'
import { checksumAddress } from '#contract/address.ts'
import { addressFact, amountFact, fact, networkFact, type MoneyAsset } from '#contract/facts.ts'
import { chainIdOf } from '#contract/network.ts'
import {
  type PaymentIntent,
  type Match,
  type MatchRow,
  type Step,
  conclude,
  equalRow,
  refuse,
} from '../match.ts'
import type { EvmBuildInput } from './build.ts'
import { decodeTransaction, type EvmFacts } from './decode.ts'
import { nameCall } from './erc20.ts'
import { MAX_GAS } from './fee.ts'
import type { EvmLandedFacts } from './landed.ts'
import { atMost, currencyOf, feeRow, nonceFact, tokenFact } from './match.ts'

/**
 * Lets a contract take so much of a token from the payer later, and no more. It moves nothing by itself.
 * In an intent for it the recipient is who may take, and the amount the most that may be taken.
 */

/** Selector of `approve(address,uint256)`, the address in its word without dirt, and the amount: nothing before, nothing after. */
const APPROVE_CALL = /^0x095ea7b30{24}([0-9a-f]{40})([0-9a-f]{64})$/

export type Approval = { spender: string; amountAtomic: bigint }

export function encodeApprove({ spender, amountAtomic }: Approval): Hex {
  return encodeFunctionData({
    abi: erc20Abi,
    functionName: 'approve',
    args: [spender as Hex, amountAtomic],
  })
}

/** What calldata asks a token to allow; undefined for every other call, and for every other spelling of this one. */
export function readApproveCall(data: Hex): Approval | undefined {
  const [, spender, amount] = APPROVE_CALL.exec(data.toLowerCase()) ?? []
  return spender && amount
    ? { spender: checksumAddress(`0x${spender}`), amountAtomic: BigInt(`0x${amount}`) }
    : undefined
}

/** The unsigned EIP-1559 transaction of an approval. */
export function buildApproval(input: EvmBuildInput): Uint8Array {
  const {
    network,
    asset,
    recipient,
    amountAtomic,
    nonce,
    gas,
    maxFeePerGas,
    maxPriorityFeePerGas,
  } = input
  if (asset.native) throw new RangeError('Nobody takes native currency later.')
  return hexToBytes(
    serializeTransaction({
      type: 'eip1559',
      chainId: chainIdOf(network),
      nonce,
      gas,
      maxFeePerGas,
      maxPriorityFeePerGas,
      to: getAddress(asset.address),
      value: 0n,
      data: encodeApprove({ spender: recipient, amountAtomic }),
    }),
  )
}

/** Compares an approval with the bytes of a transaction: this contract, this amount at most, of this token, and nothing else. */
export function matchApproval(intent: PaymentIntent, bytes: Uint8Array): Match {
  const decoded = decodeTransaction(bytes, currencyOf(intent))
  if (!decoded.ok) return refuse(decoded.problem, bytes)
  return conclude(rowsOf(intent, decoded), meaningOf(intent, decoded))
}

/** Compares an approval with what landed. Wallets let people change the amount: then it is another approval. */
export function compareLandedApproval(intent: PaymentIntent, landed: EvmLandedFacts): Match {
  const rows = rowsOf(intent, landed).map((row): MatchRow => {
    if (row.field === 'fee')
      return {
        ...row,
        ok: true,
        expected: fact('paid_by_sender'),
        got: amountFact(landed.feeAtomic, currencyOf(intent)),
      }
    if (row.field === 'instructions' && !landed.succeeded)
      return { ...row, ok: false, got: fact('reverted_nothing_allowed') }
    return row
  })
  return conclude(rows, meaningOf(intent, landed))
}

/** Whether a transaction asks for this approval. */
export function isApproval(
  { asset, recipient, amountAtomic }: PaymentIntent,
  call: { to: string; value: bigint; data: Hex },
): boolean {
  const approval = readApproveCall(call.data)
  const callsAsset = call.value === 0n && checksumAddress(call.to) === asset.address
  return callsAsset && approval?.spender === recipient && approval.amountAtomic === amountAtomic
}

/** The approval as the review tells it. */
export function describeApproval(bytes: Uint8Array, asset: MoneyAsset): Step[] {
  const decoded = decodeTransaction(bytes)
  const approval = decoded.ok ? readApproveCall(decoded.data) : undefined
  if (!decoded.ok || !approval) return []
  const facts = {
    spender: addressFact(approval.spender),
    amount: amountFact(approval.amountAtomic, asset),
    token: addressFact(decoded.to),
  }
  return [
    ...decoded.steps.filter(({ kind }) => kind === 'fee_limit' || kind === 'fee_price'),
    { kind: 'approval', facts },
  ]
}

function rowsOf(intent: PaymentIntent, facts: EvmFacts): MatchRow[] {
  const { asset, amountAtomic } = intent
  const approval = readApproveCall(facts.data)
  const token = facts.to === asset.address && !asset.native
  const plain = approval !== undefined && facts.valueAtomic === 0n
  return [
    equalRow('network', [intent.network, `eip155:${facts.chainId}`], networkFact),
    equalRow('sender', [intent.sender, facts.sender ?? intent.sender]),
    {
      field: 'spender',
      ok: approval?.spender === intent.recipient,
      expected: addressFact(intent.recipient),
      got: approval ? addressFact(approval.spender) : fact('called_contract_decides'),
    },
    {
      field: 'amount',
      ok: approval?.amountAtomic === amountAtomic && amountAtomic > 0n,
      expected: atMost(amountAtomic, asset),
      got: approval ? atMost(approval.amountAtomic, asset) : fact('called_contract_decides'),
    },
    {
      field: 'asset',
      ok: token,
      expected: tokenFact(asset),
      got: token ? tokenFact(asset) : addressFact(facts.to),
    },
    feeRow(intent, facts),
    equalRow('feePayer', [intent.sender, facts.sender ?? intent.sender]),
    { field: 'expiry', ok: true, expected: fact('until_nonce_used'), got: nonceFact(facts.nonce) },
    {
      field: 'instructions',
      ok: plain && facts.gas <= MAX_GAS,
      expected: fact('approval'),
      got: plain ? fact('approval') : { code: 'another_call', params: nameCall(facts.data) },
    },
  ]
}

function meaningOf(intent: PaymentIntent, facts: EvmFacts): string[] {
  return [
    'evm-approval',
    `eip155:${facts.chainId}`,
    facts.sender ?? intent.sender,
    facts.to,
    facts.valueAtomic.toString(),
    facts.data,
  ]
}
