import { encodeFunctionData, erc20Abi, getAddress, hexToBytes, serializeTransaction, type Hex } from 'viem'
import { checksumAddress } from '#contract/address.ts'
import { formatAmount } from '#contract/amount.ts'
import { chainIdOf } from '#contract/network.ts'
import type { PaymentIntent } from '../intent.ts'
import type { Match, MatchRow, Step } from '../match.ts'
import { conclude, equalRow, refuse } from '../rows.ts'
import type { BuildInput } from './build.ts'
import { decodeTransaction, type EvmFacts } from './decode.ts'
import { nameCall } from './erc20.ts'
import { MAX_GAS } from './fee.ts'
import type { LandedFacts } from './landed.ts'
import { currencyOf } from './match.ts'

/**
 * Lets a contract take so much of a token from the payer later, and no more. It moves nothing by itself.
 * In an intent for it the recipient is who may take, and the amount the most that may be taken.
 */

/** Selector of `approve(address,uint256)`, the address in its word without dirt, and the amount: nothing before, nothing after. */
const APPROVE_CALL = /^0x095ea7b30{24}([0-9a-f]{40})([0-9a-f]{64})$/

export type Approval = { spender: string; amountAtomic: bigint }

export function encodeApprove({ spender, amountAtomic }: Approval): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender as Hex, amountAtomic] })
}

/** What calldata asks a token to allow; undefined for every other call, and for every other spelling of this one. */
export function readApproveCall(data: Hex): Approval | undefined {
  const [, spender, amount] = APPROVE_CALL.exec(data.toLowerCase()) ?? []
  return spender && amount ? { spender: checksumAddress(`0x${spender}`), amountAtomic: BigInt(`0x${amount}`) } : undefined
}

/** The unsigned EIP-1559 transaction of an approval. */
export function buildApproval(input: BuildInput): Uint8Array {
  const { network, asset, recipient, amountAtomic, nonce, gas, maxFeePerGas, maxPriorityFeePerGas } = input
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
export function compareLandedApproval(intent: PaymentIntent, landed: LandedFacts): Match {
  const { decimals, symbol } = currencyOf(intent)
  const rows = rowsOf(intent, landed).map((row): MatchRow => {
    if (row.field === 'fee') return { ...row, ok: true, expected: 'paid by the sender', got: `${formatAmount(landed.feeAtomic, decimals)} ${symbol}` }
    if (row.field === 'instructions' && !landed.succeeded) return { ...row, ok: false, got: 'reverted: nothing was allowed' }
    return row
  })
  return conclude(rows, meaningOf(intent, landed))
}

/** Whether a transaction asks for this approval. */
export function isApproval({ asset, recipient, amountAtomic }: PaymentIntent, call: { to: string; value: bigint; data: Hex }): boolean {
  const approval = readApproveCall(call.data)
  const asked = call.value === 0n && checksumAddress(call.to) === asset.address
  return asked && approval?.spender === recipient && approval.amountAtomic === amountAtomic
}

/** The approval as the review tells it. */
export function describeApproval(bytes: Uint8Array, { symbol, decimals }: { symbol: string; decimals: number }): Step[] {
  const decoded = decodeTransaction(bytes)
  const approval = decoded.ok ? readApproveCall(decoded.data) : undefined
  if (!decoded.ok || !approval) return []
  const facts = { spender: approval.spender, amount: `${formatAmount(approval.amountAtomic, decimals)} ${symbol}`, token: decoded.to }
  return [...decoded.steps.filter(({ kind }) => kind === 'fee_limit' || kind === 'fee_price'), { kind: 'approval', facts }]
}

function rowsOf(intent: PaymentIntent, facts: EvmFacts): MatchRow[] {
  const { asset, amountAtomic } = intent
  const currency = currencyOf(intent)
  const approval = readApproveCall(facts.data)
  const spell = (atomic: bigint) => `at most ${formatAmount(atomic, asset.decimals)} ${asset.symbol}`
  const spellFee = (atomic: bigint) => `at most ${formatAmount(atomic, currency.decimals)} ${currency.symbol}`
  const token = facts.to === asset.address && !asset.native
  const plain = approval !== undefined && facts.valueAtomic === 0n
  return [
    equalRow('network', intent.network, `eip155:${facts.chainId}`),
    equalRow('sender', intent.sender, facts.sender ?? intent.sender),
    equalRow('spender', intent.recipient, approval?.spender ?? 'decided by the contract that is called'),
    {
      field: 'amount',
      ok: approval?.amountAtomic === amountAtomic && amountAtomic > 0n,
      expected: spell(amountAtomic),
      got: approval ? spell(approval.amountAtomic) : 'decided by the contract that is called',
    },
    { field: 'asset', ok: token, expected: `${asset.symbol}, the token ${asset.address}`, got: token ? `${asset.symbol}, the token ${facts.to}` : facts.to },
    { field: 'fee', ok: facts.feeBoundAtomic <= intent.maxFeeAtomic, expected: spellFee(intent.maxFeeAtomic), got: spellFee(facts.feeBoundAtomic) },
    equalRow('feePayer', intent.sender, facts.sender ?? intent.sender),
    { field: 'expiry', ok: true, expected: 'valid until its nonce is used', got: `nonce ${facts.nonce}` },
    {
      field: 'instructions',
      ok: plain && facts.gas <= MAX_GAS,
      expected: 'one approval, which moves nothing',
      got: plain ? 'one approval, which moves nothing' : `another call (${nameCall(facts.data)})`,
    },
  ]
}

function meaningOf(intent: PaymentIntent, facts: EvmFacts): string[] {
  return ['evm-approval', `eip155:${facts.chainId}`, facts.sender ?? intent.sender, facts.to, facts.valueAtomic.toString(), facts.data]
}
