import { t } from '@lingui/core/macro'
import * as v from 'valibot'
import { chainIdOf, familyOf, type Network } from '#contract/network.ts'
import { serverNow } from '../api/clock.ts'
import { callRpc, noteFailure, RpcError, rpcUrlsOf } from './call.ts'

export type NodeCheck =
  | {
      ok: true
      height: number
      /**
       * What a payment's height is compared with: on Solana the latest finalized slot, elsewhere
       * the latest block.
       */
      position: number
      latencyMs: number
      /**
       * Age of its latest block by the server's clock; unknown if the node does not report block
       * times.
       */
      lagMs: number | undefined
      /** The chain id or the genesis hash it returned. */
      identity: string
    }
  | { ok: false; problem: string }

type Answer = {
  identity: string
  height: number
  position: number
  blockAt: number | undefined
  problem?: string
}

const Hex = v.pipe(v.string(), v.regex(/^0x[0-9a-f]+$/))
/** Some nodes report block times in another unit: the lag is then ignored. */
const PLAUSIBLE_LAG_MS = 365 * 24 * 3_600_000

/** Asks a node which chain it serves, its height, the age of its latest block, and the latency. */
export async function checkNode(network: Network, url: string): Promise<NodeCheck> {
  const policy = watchPolicy(url)
  try {
    const started = performance.now()
    const evm = familyOf(network.network) === 'evm'
    const first = await callRpc(url, evm ? 'eth_chainId' : 'getGenesisHash', [])
    const latencyMs = Math.round(performance.now() - started)
    const { identity, problem, height, position, blockAt } = evm
      ? await checkEvm(network, url, first)
      : await checkSolana(network, url, first)
    if (problem) return { ok: false, problem }
    const lag = blockAt === undefined ? undefined : Math.max(0, serverNow() - blockAt)
    return {
      ok: true,
      identity,
      height,
      position,
      latencyMs,
      lagMs: lag !== undefined && lag < PLAUSIBLE_LAG_MS ? lag : undefined,
    }
  } catch (error) {
    if (policy.refused())
      return {
        ok: false,
        problem: t`Blocked by this site.`,
      }
    if (error instanceof RpcError) return { ok: false, problem: error.message }
    if (error instanceof v.ValiError) return { ok: false, problem: t`Unexpected answer.` }
    throw error
  } finally {
    policy.stop()
  }
}

export type CheckedNode = { url: string; node: NodeCheck }

/** The first endpoint of a network that is reachable and of that chain; the last one where none is. */
export async function chooseNode(network: Network): Promise<CheckedNode> {
  let last: CheckedNode = { url: '', node: { ok: false, problem: t`Unexpected answer.` } }
  for (const url of rpcUrlsOf(network)) {
    last = { url, node: await checkNode(network, url) }
    if (last.node.ok) return last
    noteFailure(url)
  }
  return last
}

async function checkEvm(network: Network, url: string, first: unknown): Promise<Answer> {
  const chainId = Number(v.parse(Hex, first))
  const block = v.parse(
    v.object({ number: Hex, timestamp: Hex }),
    await callRpc(url, 'eth_getBlockByNumber', ['latest', false]),
  )
  const expected = chainIdOf(network.network)
  const { name } = network
  return {
    identity: t`Chain ID ${String(chainId)}`,
    height: Number(block.number),
    position: Number(block.number),
    blockAt: Number(block.timestamp) * 1000,
    problem:
      chainId === expected
        ? undefined
        : t`This endpoint serves chain ${String(chainId)}, not ${name} (${String(expected)}).`,
  }
}

async function checkSolana(network: Network, url: string, first: unknown): Promise<Answer> {
  const genesis = v.parse(v.string(), first)
  const height = v.parse(v.number(), await callRpc(url, 'getBlockHeight', []))
  const slot = v.parse(v.number(), await callRpc(url, 'getSlot', []))
  const wrong = network.genesisHash !== undefined && network.genesisHash !== genesis
  const { name } = network
  return {
    identity: t`genesis ${genesis}`,
    height,
    position: slot,
    blockAt: await solanaBlockTime(url, slot),
    problem: wrong ? t`This endpoint is not for ${name}.` : undefined,
  }
}

/** A slot without a block has no time, and not every node reports it. */
async function solanaBlockTime(url: string, slot: number): Promise<number | undefined> {
  try {
    return v.parse(v.number(), await callRpc(url, 'getBlockTime', [slot])) * 1000
  } catch {
    return undefined
  }
}

/**
 * A request blocked by the page's own CSP fails without a reason; only the document gets an event.
 */
function watchPolicy(url: string): { refused: () => boolean; stop: () => void } {
  const { origin } = new URL(url)
  let refused = false
  const listen = (event: SecurityPolicyViolationEvent) => {
    if (event.blockedURI.startsWith(origin)) refused = true
  }
  document.addEventListener('securitypolicyviolation', listen)
  return {
    refused: () => refused,
    stop: () => document.removeEventListener('securitypolicyviolation', listen),
  }
}
