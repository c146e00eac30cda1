import { BaseError, bytesToHex, RpcRequestError, type Hex, type PublicClient } from 'viem'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { readTransferCall } from '#chains/evm/erc20.ts'
import { reportsTransfer } from '#chains/evm/transfer-simulation.ts'
import { fact, toSimulationReason } from '#contract/facts.ts'
import { broadcastToAll } from '../broadcast.ts'
import type { BroadcastResult, SignedSimulation } from '../chain.ts'
import { printableText } from '../contracts.ts'
import type { EvmEndpoints } from './client.ts'
import { readDataFeeNow, serializeCall } from './data-fee.ts'
import { noteLeastTip } from './least-tip.ts'
import { refusal, simulateNativeTransfer } from './simulate.ts'

/** Whether the sender can still use this nonce, holds amount and fee, and the recipient takes the amount. */
export async function simulateSigned(
  endpoints: EvmEndpoints,
  bytes: Uint8Array,
): Promise<SignedSimulation> {
  const decoded = decodeTransaction(bytes)
  if (!decoded.ok)
    return { ok: false, reason: { code: 'unreadable', params: { problem: decoded.problem } } }
  const { sender, to, valueAtomic, data, gas, nonce, feeBoundAtomic } = decoded
  if (sender === null) return { ok: false, reason: fact('not_signed') }
  const unsigned = serializeCall({ ...decoded, to: to as Hex, value: valueAtomic })
  const answers = await endpoints.requestTwo(async (client): Promise<SignedSimulation> => {
    const address = sender as `0x${string}`
    const [landed, pending, balance, dataFeeAtomic] = await Promise.all([
      client.getTransactionCount({ address }),
      client.getTransactionCount({ address, blockTag: 'pending' }),
      client.getBalance({ address }),
      readDataFeeNow(client, unsigned, gas),
    ])
    if (nonce < landed)
      return { ok: false, reason: { code: 'nonce_used', params: { nonce, next: landed } } }
    if (nonce > pending)
      return { ok: false, reason: { code: 'nonce_ahead', params: { nonce, next: pending } } }
    const short: SignedSimulation = {
      ok: false,
      reason: fact('payer_balance_too_low'),
    }
    if (balance < valueAtomic + feeBoundAtomic + dataFeeAtomic) return short
    if (data !== '0x')
      return callOnly(client, {
        account: address,
        to: to as `0x${string}`,
        value: valueAtomic,
        data,
        gas,
      })
    const simulated = await simulateNativeTransfer(client, {
      sender,
      recipient: to,
      amountAtomic: valueAtomic,
    })
    if (simulated.ok) return { ok: true }
    return simulated.short ? short : { ok: false, reason: toSimulationReason(simulated.reason) }
  })
  return answers.find((answer) => answer.ok) ?? answers[0]
}

/** A call of a contract, run on the state of this moment. */
async function callOnly(
  client: PublicClient,
  call: { account: Hex; to: Hex; value: bigint; data: Hex; gas: bigint },
): Promise<SignedSimulation> {
  try {
    const { data } = await client.call(call)
    const refused = readTransferCall(call.data) !== undefined && !reportsTransfer(data)
    return refused ? { ok: false, reason: fact('token_did_not_transfer') } : { ok: true }
  } catch (error) {
    const reason = refusal(error)
    if (reason === undefined) throw error
    return { ok: false, reason: { code: 'refused_with', params: { answer: reason } } }
  }
}

const KNOWN = /already known|already imported|known transaction/i

export function broadcast(endpoints: EvmEndpoints, bytes: Uint8Array): Promise<BroadcastResult> {
  return broadcastToAll(endpoints, async (client): Promise<BroadcastResult> => {
    try {
      await client.sendRawTransaction({ serializedTransaction: bytesToHex(bytes) })
      return { accepted: true }
    } catch (error) {
      const answer =
        error instanceof BaseError ? error.walk((cause) => cause instanceof RpcRequestError) : null
      if (!(answer instanceof RpcRequestError)) throw error
      if (KNOWN.test(answer.details)) return { accepted: true }
      noteLeastTip(client, answer.details)
      return { accepted: false, reason: printableText(answer.details) ?? 'refused' }
    }
  })
}
