import { BaseError, bytesToHex, RpcRequestError, type Hex, type PublicClient } from 'viem'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { readTransferCall } from '#chains/evm/erc20.ts'
import { reportsTransfer } from '#chains/evm/trial.ts'
import { renderRecipientReason } from '#contract/render-en.ts'
import type { BroadcastResult, SignedSimulation } from '../chain.ts'
import { printableText } from '../printable-text.ts'
import type { EvmEndpoints } from './client.ts'
import { refusal, simulate } from './simulate.ts'

/** Whether the sender can still use this nonce, holds amount and fee, and the recipient takes the amount. */
export async function simulateSigned(
  endpoints: EvmEndpoints,
  bytes: Uint8Array,
): Promise<SignedSimulation> {
  const decoded = decodeTransaction(bytes)
  if (!decoded.ok) return { ok: false, reason: decoded.problem }
  const { sender, to, valueAtomic, data, gas, nonce, feeBoundAtomic } = decoded
  if (sender === null) return { ok: false, reason: 'The transaction is not signed.' }
  const answers = await endpoints.askTwice(async (client): Promise<SignedSimulation> => {
    const address = sender as `0x${string}`
    const [landed, pending, balance] = await Promise.all([
      client.getTransactionCount({ address }),
      client.getTransactionCount({ address, blockTag: 'pending' }),
      client.getBalance({ address }),
    ])
    if (nonce < landed)
      return { ok: false, reason: `The nonce ${nonce} is used up: the next one is ${landed}.` }
    if (nonce > pending)
      return { ok: false, reason: `The nonce ${nonce} is ahead: the next one is ${pending}.` }
    const short: SignedSimulation = {
      ok: false,
      reason: 'The payer does not hold the amount and its fee.',
    }
    if (balance < valueAtomic + feeBoundAtomic) return short
    if (data !== '0x')
      return callOnly(client, {
        account: address,
        to: to as `0x${string}`,
        value: valueAtomic,
        data,
        gas,
      })
    const simulated = await simulate(client, { sender, recipient: to, amountAtomic: valueAtomic })
    if (simulated.ok) return { ok: true }
    return simulated.short ? short : { ok: false, reason: renderRecipientReason(simulated.reason) }
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
    return refused
      ? { ok: false, reason: 'The token says that it did not transfer.' }
      : { ok: true }
  } catch (error) {
    const reason = refusal(error)
    if (reason === undefined) throw error
    return { ok: false, reason }
  }
}

const KNOWN = /already known|already imported|known transaction/i

export function broadcast(endpoints: EvmEndpoints, bytes: Uint8Array): Promise<BroadcastResult> {
  return endpoints.ask(async (client): Promise<BroadcastResult> => {
    try {
      await client.sendRawTransaction({ serializedTransaction: bytesToHex(bytes) })
      return { accepted: true }
    } catch (error) {
      const answer =
        error instanceof BaseError ? error.walk((cause) => cause instanceof RpcRequestError) : null
      if (!(answer instanceof RpcRequestError)) throw error
      return KNOWN.test(answer.details)
        ? { accepted: true }
        : { accepted: false, reason: printableText(answer.details) ?? 'refused' }
    }
  })
}
