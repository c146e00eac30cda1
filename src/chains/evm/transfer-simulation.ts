import { decodeFunctionResult, encodeFunctionData, erc20Abi, type Hex } from 'viem'
import type { PaymentIntent } from '../match.ts'
import { encodeTransfer } from './erc20.ts'

/**
 * A token payment simulated on a node, without sending anything: the calls, and what the results
 * mean.
 */

export type SimulatedTransfer = Pick<
  PaymentIntent,
  'asset' | 'sender' | 'recipient' | 'amountAtomic'
>
export type SimulationCall = { from: Hex; to: Hex; data: Hex; gas?: Hex }
export type Balances = { sender: bigint; recipient: bigint }

export function encodeBalanceOf(owner: string): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [owner as Hex] })
}

/**
 * Undefined when the contract returned something other than a balance, as an address without code
 * does.
 */
export function readBalance(data: Hex | undefined): bigint | undefined {
  if (data === undefined || data.length !== 66) return undefined
  return decodeFunctionResult({ abi: erc20Abi, functionName: 'balanceOf', data })
}

/** A token returns `true` or, like some old ones, nothing. Everything else is a refusal. */
export function reportsTransfer(data: Hex | undefined): boolean {
  return data === undefined || data === '0x' || (data.length === 66 && BigInt(data) === 1n)
}

/**
 * The calls of `eth_simulateV1`, one after another on the same state: both balances, the transfer,
 * both balances again.
 */
export function simulationCalls(payment: SimulatedTransfer, gas?: bigint): SimulationCall[] {
  const { asset, sender, recipient } = payment
  const call = (data: Hex): SimulationCall => ({
    from: sender as Hex,
    to: asset.address as Hex,
    data,
  })
  const balances = [call(encodeBalanceOf(sender)), call(encodeBalanceOf(recipient))]
  return [
    ...balances,
    {
      ...call(encodeTransfer(payment)),
      ...(gas !== undefined && { gas: `0x${gas.toString(16)}` as const }),
    },
    ...balances,
  ]
}

type CallResult = {
  status: string
  returnData: Hex
  error?: { message?: string | undefined } | undefined
}

export type TransferSimulation =
  | { ok: true; before: Balances; after: Balances }
  /** `answer`: the token's own words, if it has any. */
  | {
      ok: false
      refusal: { code: 'reverts'; answer: string | undefined } | { code: 'returns_false' }
    }

/** What the calls showed; undefined when no token would answer like this. */
export function readTransferSimulation(
  results: readonly CallResult[],
): TransferSimulation | undefined {
  const [sender, recipient, transfer, senderAfter, recipientAfter] = results
  if (!transfer) return undefined
  if (transfer.status !== '0x1')
    return { ok: false, refusal: { code: 'reverts', answer: transfer.error?.message } }
  if (!reportsTransfer(transfer.returnData))
    return { ok: false, refusal: { code: 'returns_false' } }
  const [before, after] = [readPair(sender, recipient), readPair(senderAfter, recipientAfter)]
  return before && after && { ok: true, before, after }
}

/**
 * Whether at least the amount arrives and no more than the amount leaves: a token that keeps or
 * burns a part pays less than requested. Interest that a token pays to either side at that moment
 * costs nobody anything.
 */
export function paysInFull(
  { amountAtomic }: Pick<SimulatedTransfer, 'amountAtomic'>,
  { before, after }: { before: Balances; after: Balances },
): boolean {
  return (
    before.sender - after.sender <= amountAtomic &&
    after.recipient - before.recipient >= amountAtomic
  )
}

function readPair(
  sender: CallResult | undefined,
  recipient: CallResult | undefined,
): Balances | undefined {
  const [first, second] = [readBalance(sender?.returnData), readBalance(recipient?.returnData)]
  return first === undefined || second === undefined
    ? undefined
    : { sender: first, recipient: second }
}
