import * as v from 'valibot'
import { setup } from './people.ts'

/** An error as EIP-1193 spells it. */
export class ProviderError extends Error {
  override name = 'ProviderRpcError'
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

const Answer = v.union([
  v.object({
    error: v.object({ code: v.number(), message: v.string(), data: v.optional(v.unknown()) }),
  }),
  v.object({ result: v.unknown() }),
])

let id = 0

/** Asks the local EVM node. */
export async function node(method: string, params: unknown): Promise<unknown> {
  const { evm } = await setup()
  const response = await fetch(evm.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }),
  }).catch((error: unknown) => {
    throw new ProviderError(4900, 'The local network cannot be reached.', String(error))
  })
  const answer = v.parse(Answer, await response.json())
  if ('error' in answer)
    throw new ProviderError(answer.error.code, answer.error.message, answer.error.data)
  return answer.result
}

export async function nodeQuantity(method: string, params: unknown): Promise<bigint> {
  return BigInt(v.parse(v.string(), await node(method, params)))
}
