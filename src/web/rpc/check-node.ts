import * as v from 'valibot'
import { chainIdOf, familyOf, type Network } from '#contract/network.ts'
import { callRpc, RpcProblem } from './call.ts'

export type NodeCheck =
  | { ok: true; height: number; latencyMs: number; /** The chain id or the genesis hash it answered with. */ identity: string }
  | { ok: false; problem: string }

const Hex = v.pipe(v.string(), v.regex(/^0x[0-9a-f]+$/))

/** Asks a node which chain it serves, how far it is, and how long that took. */
export async function checkNode(network: Network, url: string): Promise<NodeCheck> {
  const started = performance.now()
  try {
    const { identity, problem, height } = familyOf(network.network) === 'evm' ? await askEvm(network, url) : await askSolana(network, url)
    if (problem) return { ok: false, problem }
    return { ok: true, identity, height, latencyMs: Math.round((performance.now() - started) / 2) }
  } catch (error) {
    if (error instanceof RpcProblem) return { ok: false, problem: error.message }
    if (error instanceof v.ValiError) return { ok: false, problem: 'The node answered something unexpected.' }
    throw error
  }
}

type Answer = { identity: string; height: number; problem?: string }

async function askEvm(network: Network, url: string): Promise<Answer> {
  const chainId = Number(v.parse(Hex, await callRpc(url, 'eth_chainId', [])))
  const height = Number(v.parse(Hex, await callRpc(url, 'eth_blockNumber', [])))
  const wanted = chainIdOf(network.network)
  return {
    identity: `chain id ${chainId}`,
    height,
    problem: chainId === wanted ? undefined : `This node serves chain ${chainId}; ${network.name} is chain ${wanted}.`,
  }
}

async function askSolana(network: Network, url: string): Promise<Answer> {
  const genesis = v.parse(v.string(), await callRpc(url, 'getGenesisHash', []))
  const height = v.parse(v.number(), await callRpc(url, 'getBlockHeight', []))
  const wrong = network.genesisHash !== undefined && network.genesisHash !== genesis
  return { identity: `genesis ${genesis}`, height, problem: wrong ? `This node serves another cluster than ${network.name}.` : undefined }
}
