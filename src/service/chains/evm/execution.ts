import {
  BaseError,
  encodeFunctionData,
  erc20Abi,
  prepareEncodeFunctionData,
  RpcRequestError,
  toHex,
  type Hex,
} from 'viem'
import type { Network } from '#contract/network.ts'
import type { ContractCall, ContractHolding, Contracts, Execution, GasPrice } from '../contracts.ts'
import { Recent } from '../recent.ts'
import type { EvmRpcClient, EvmEndpoints } from './client.ts'
import { priceCall } from './data-fee.ts'

/** Margin for a token whose gas use changes between the estimate and the block. */
const MARGIN_PERCENT = 25n
/** A recipient whose balance falls to zero meanwhile makes the transfer dearer by about this much. */
const MIN_MARGIN = 20_000n
/** What must be left of the gas where a call is only tried with it: enough for such a recipient. */
const LEFT_OVER = 18_000n
/** How long the gas that a quote found is used for other calls of the same function. */
const GAS_TTL_MS = 600_000
const PRICE_TTL_MS = 1_000
/** How long an endpoint that answered no batch is not asked for one. */
const PAUSE_MS = 60_000
/** Functions whose gas is remembered; the oldest goes first. */
const MOST_FUNCTIONS = 1_000
const WORD_LENGTH = 2 + 64
/** Their selectors are hashed once. */
const BALANCE_OF = prepareEncodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf' })
const ALLOWANCE = prepareEncodeFunctionData({ abi: erc20Abi, functionName: 'allowance' })

type Price = GasPrice & { dataFeeAtomic: bigint }
type Remembered = { gas: bigint; quotedAt: number; price: Recent<Price> }
type ExecutionParameters = Parameters<Contracts['executes']>

export function padGas(estimate: bigint): bigint {
  const share = (estimate * MARGIN_PERCENT) / 100n
  return estimate + (share > MIN_MARGIN ? share : MIN_MARGIN)
}

/** What full quotes needed, so that the next call of the same function is tried with it in one request. */
export class Executions {
  readonly #endpoints: EvmEndpoints
  readonly #network: Network
  readonly #newest: () => Promise<{ height: number }>
  readonly #priceTtlMs: number
  readonly #functions = new Map<string, Remembered>()
  #pausedUntil = 0

  constructor(
    endpoints: EvmEndpoints,
    network: Network,
    newest: () => Promise<{ height: number }>,
  ) {
    this.#endpoints = endpoints
    this.#network = network
    this.#newest = newest
    this.#priceTtlMs = Math.min(PRICE_TTL_MS, network.blockTimeMs / 2)
  }

  /** `gas`: of a quote, with its margin. A call that is tried runs with less, and is signed with the same. */
  remember(call: ContractCall & { from: string }, { gas }: { gas: bigint }): void {
    const name = nameOf(call)
    const known = this.#functions.get(name)
    if (known?.gas === gas) {
      known.quotedAt = performance.now()
      return
    }
    this.#functions.delete(name)
    const { to, data } = call
    // Calls of one function have data of much the same length.
    const price = new Recent(this.#priceTtlMs, () =>
      this.#endpoints.request((client) => priceCall(client, this.#network, { to, data, gas })),
    )
    this.#functions.set(name, { gas, quotedAt: performance.now(), price })
    const oldest = this.#functions.keys().next()
    if (this.#functions.size > MOST_FUNCTIONS && !oldest.done) this.#functions.delete(oldest.value)
  }

  async try(
    call: ExecutionParameters[0],
    holding: ExecutionParameters[1],
  ): Promise<Execution | null> {
    const known = this.#functions.get(nameOf(call))
    const now = performance.now()
    if (!known || now - known.quotedAt > GAS_TTL_MS || now < this.#pausedUntil) return null
    const [{ height }, price] = await Promise.all([this.#newest(), known.price.fresh()])
    const answer = await this.#endpoints.request((client) =>
      simulateTogether(client, {
        call: { ...call, ...price, gas: known.gas - LEFT_OVER },
        holding,
        height,
      }),
    )
    if (answer === 'no_batch') this.#pausedUntil = performance.now() + PAUSE_MS
    if (answer === 'no_batch' || answer === 'refused') return null
    const { maxFeePerGas, maxPriorityFeePerGas, dataFeeAtomic } = price
    const { gas } = known
    const feeAtomic = gas * maxFeePerGas + dataFeeAtomic
    return {
      quote: { ok: true, gas, maxFeePerGas, maxPriorityFeePerGas, feeAtomic, height },
      holding: answer,
    }
  }
}

/** A function of a contract, as one wallet calls it. */
function nameOf({ from, to, data }: ContractCall & { from: string }): string {
  return `${from}:${to}:${data.slice(0, 10)}`.toLowerCase()
}

type Together = {
  call: ContractCall & GasPrice & { from: string; gas: bigint }
  holding: ExecutionParameters[1]
  height: number
}

/**
 * One JSON-RPC batch: the call in the block of this height and in the next one, and the holding in
 * the same block. Any refusal is an answer.
 */
async function simulateTogether(
  { batched }: EvmRpcClient,
  { call, holding: { token, owner, spender }, height }: Together,
): Promise<ContractHolding | 'refused' | 'no_batch'> {
  const block = toHex(height)
  const broadcast = {
    from: call.from as Hex,
    to: call.to,
    data: call.data,
    gas: toHex(call.gas),
    maxFeePerGas: toHex(call.maxFeePerGas),
    maxPriorityFeePerGas: toHex(call.maxPriorityFeePerGas),
  }
  const read = (data: Hex) =>
    batched.request({ method: 'eth_call', params: [{ to: token, data }, block] })
  const answers = await Promise.allSettled([
    batched.request({ method: 'eth_call', params: [broadcast, block] }),
    batched.request({ method: 'eth_call', params: [broadcast, 'pending'] }),
    read(encodeFunctionData({ ...BALANCE_OF, args: [owner] })),
    spender === null ? null : read(encodeFunctionData({ ...ALLOWANCE, args: [owner, spender] })),
  ])
  const failed = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
  if (failed.length > 0) return failed.every(isAnswer) ? 'refused' : 'no_batch'
  const [, , balance, allowance] = answers.map((answer) =>
    answer.status === 'fulfilled' ? answer.value : null,
  )
  const balanceAtomic = wordOf(balance)
  const allowanceAtomic = spender === null ? null : wordOf(allowance)
  if (balanceAtomic === undefined || allowanceAtomic === undefined) return 'refused'
  return { height, balanceAtomic, allowanceAtomic }
}

/** Whether the node answered, with an error. */
function isAnswer(error: unknown): boolean {
  return (
    error instanceof BaseError && error.walk((cause) => cause instanceof RpcRequestError) !== null
  )
}

/** The number of an answer of one word; undefined for any other answer. */
function wordOf(answer: unknown): bigint | undefined {
  return typeof answer === 'string' && answer.length === WORD_LENGTH ? BigInt(answer) : undefined
}
