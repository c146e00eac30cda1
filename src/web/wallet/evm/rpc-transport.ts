import * as v from 'valibot'
import { RpcRequestError } from 'viem'
import type { Network } from '#contract/network.ts'
import { callNetwork, RpcError } from '../../rpc/call.ts'

const NodeError = v.object({
  code: v.fallback(v.number(), -32_000),
  message: v.fallback(v.string(), ''),
  data: v.optional(v.unknown()),
})

/** One call of viem's. What a node refuses is thrown as viem's own transports throw it. */
export async function requestOf(
  network: Network,
  { method, params = [] }: { method: string; params?: readonly unknown[] },
): Promise<unknown> {
  try {
    return await callNetwork(network, method, params)
  } catch (error) {
    if (!(error instanceof RpcError) || !error.refused) throw error
    throw new RpcRequestError({
      body: { method },
      error: v.parse(NodeError, error.cause),
      url: '',
    })
  }
}
