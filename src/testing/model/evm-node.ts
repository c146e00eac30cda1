import type { Network } from '#contract/network.ts'
import {
  keccak256,
  numberToHex,
  parseTransaction,
  recoverTransactionAddress,
  toHex,
  type Hex,
  type TransactionSerialized,
} from 'viem'

/** An EVM chain behind JSON-RPC, in memory: every state can be copied. It takes what the adapter of real nodes sends, and mines when it is told to. */

type Sent = {
  hash: Hex
  from: string
  to: string
  value: bigint
  nonce: number
  gas: bigint
  maxFee: bigint
  tip: bigint
}
type ChainBlock = { hash: Hex; sent: Sent[] }

/** What an RPC endpoint says of the chain. `stale`: as it was two blocks ago, without a pool. `forgets`: it finds no transaction. */
export type NodeView = 'right' | 'stale' | 'forgets' | 'down'

/** What the service signed for a payment. */
export type SignedAttempt = {
  signature: string
  sender: string
  nonce: number | null
  lastValidBlockHeight: number | null
}

/** A chain behind JSON-RPC of which every state can be copied. */
export interface ModelNode {
  readonly network: Network['network']
  copy(): ModelNode
  /** What tells two states apart, for the search. */
  describe(): unknown
  /** Names of the transactions in blocks. */
  landed(): string[]
  /** Names of everything this sender signed that has reached a node. */
  namesOf(sender: string): string[]
  /** The name of the transaction that a broadcast carries; it has left its process. */
  nameOf(parameters: readonly unknown[]): string
  /** Whether a transaction that was signed is in a block, or can still get into one. */
  canLand(attempt: SignedAttempt): boolean
  /** Of the transactions that share it only one can land. */
  placeOf(attempt: SignedAttempt): string
  moves(): string[]
  move(name: string, sender: string): void
  /** One round in which nothing goes wrong any more. */
  calm(): void
  /** @throws ModelRpcError as a node does */
  answer(method: string, parameters: readonly unknown[], view: NodeView): Promise<unknown>
}

const FINAL_AFTER = 3
const START = 20
const BALANCE = 10n ** 21n
const NORMAL_BASE_FEE = 10n ** 9n
const CHAIN_ID = 31_337
const EMPTY = `0x${'0'.repeat(64)}` as const
const BLOOM = `0x${'0'.repeat(512)}` as const

export class ModelRpcError extends Error {
  readonly code = -32_000
}

export class ModelEvmNode implements ModelNode {
  readonly network = 'eip155:31337'
  #blocks: ChainBlock[] = []
  #pool: Sent[] = []
  #baseFee = NORMAL_BASE_FEE
  #forks = 0
  /** Who signed what has reached a node, by its name. */
  #received = new Map<string, string>()

  constructor(from?: ModelEvmNode) {
    if (!from) {
      for (let height = 0; height <= START; height++) this.#append([])
      return
    }
    this.#blocks = [...from.#blocks]
    this.#pool = [...from.#pool]
    this.#baseFee = from.#baseFee
    this.#forks = from.#forks
    this.#received = new Map(from.#received)
  }

  copy(): ModelEvmNode {
    return new ModelEvmNode(this)
  }

  get height(): number {
    return this.#blocks.length - 1
  }

  get finalizedHeight(): number {
    return Math.max(START - FINAL_AFTER, this.height - FINAL_AFTER)
  }

  /** What tells two states apart, for the search. */
  describe(): unknown {
    const blocks = this.#blocks.slice(START + 1).map(({ sent }) => sent.map(({ hash }) => hash))
    return [blocks, this.#pool.map(({ hash }) => hash), this.#baseFee.toString()]
  }

  /** Names of the transactions in blocks. */
  landed(): string[] {
    return this.#blocks.flatMap(({ sent }) => sent.map(({ hash }) => hash))
  }

  namesOf(sender: string): string[] {
    return [...this.#received].flatMap(([name, from]) => (from === sender ? [name] : []))
  }

  nameOf([raw]: readonly unknown[]): string {
    return keccak256(raw as Hex)
  }

  placeOf({ nonce }: SignedAttempt): string {
    return String(nonce)
  }

  canLand(attempt: SignedAttempt): boolean {
    const used = this.#blocks
      .slice(0, this.finalizedHeight + 1)
      .flatMap(({ sent }) => sent)
      .find(({ from, nonce }) => from === attempt.sender && nonce === attempt.nonce)
    return used === undefined || used.hash === attempt.signature
  }

  moves(): string[] {
    return ['mine', 'empty', 'finalize', 'reorg', 'drop', 'surge', 'foreign']
  }

  move(name: string, sender: string): void {
    switch (name) {
      case 'mine':
        return this.#append(this.#take())
      case 'empty':
        return this.#append([])
      case 'finalize':
        for (let block = 0; block <= FINAL_AFTER; block++) this.#append(this.#take())
        return
      case 'reorg': {
        // The newest blocks are replaced by empty ones; what was in them waits again.
        const keep = Math.max(this.finalizedHeight, this.height - 2)
        const lost = this.#blocks.slice(keep + 1)
        this.#blocks.length = keep + 1
        this.#forks++
        this.#pool = [...lost.flatMap(({ sent }) => sent), ...this.#pool]
        for (const _ of lost) this.#append([])
        return
      }
      case 'drop':
        this.#pool = []
        return
      case 'surge':
        this.#baseFee = this.#baseFee === NORMAL_BASE_FEE ? 10n * NORMAL_BASE_FEE : NORMAL_BASE_FEE
        return
      case 'foreign': {
        // The wallet's key is used elsewhere too.
        const nonce = this.#countOf(sender, this.height)
        const sent = {
          hash: keccak256(toHex(`foreign ${sender} ${nonce}`)),
          from: sender,
          to: sender,
        }
        const prices = { value: 0n, nonce, gas: 21_000n, maxFee: 10n ** 12n, tip: 10n ** 10n }
        this.#pool = this.#pool.filter((other) => other.from !== sender || other.nonce !== nonce)
        this.#append([{ ...sent, ...prices }])
        return
      }
      default:
        throw new Error(`The chain has no ${name}.`)
    }
  }

  /** One round in which nothing goes wrong any more. */
  calm(): void {
    this.#baseFee = NORMAL_BASE_FEE
    this.move('finalize', '')
  }

  /** @throws ModelRpcError as a node does */
  async answer(method: string, parameters: readonly unknown[], view: NodeView): Promise<unknown> {
    const blocks = view === 'stale' ? this.#blocks.slice(0, -2) : this.#blocks
    const pool = view === 'stale' ? [] : this.#pool
    const tip = blocks.length - 1
    const heightOf = (tag: unknown): number => {
      if (tag === 'finalized') return Math.max(START - FINAL_AFTER, tip - FINAL_AFTER)
      if (typeof tag === 'string' && tag.startsWith('0x')) return Number(tag)
      return tip
    }
    const find = (hash: unknown) => {
      if (view === 'forgets') return undefined
      for (const [height, { sent }] of blocks.entries()) {
        const index = sent.findIndex((each) => each.hash === hash)
        const found = sent[index]
        if (found) return { sent: found, height, index }
      }
      const waiting = pool.find((each) => each.hash === hash)
      return waiting && { sent: waiting, height: null, index: 0 }
    }
    switch (method) {
      case 'eth_chainId':
        return numberToHex(CHAIN_ID)
      case 'eth_blockNumber':
        return numberToHex(tip)
      case 'eth_getBalance':
        return numberToHex(BALANCE)
      case 'eth_getCode':
        return '0x'
      case 'eth_call':
        return '0x'
      case 'eth_estimateGas':
        return numberToHex(21_000)
      case 'eth_feeHistory':
        return {
          oldestBlock: numberToHex(tip),
          baseFeePerGas: [numberToHex(this.#baseFee), numberToHex(this.#baseFee)],
          gasUsedRatio: [0.5],
          reward: [['0x3b9aca00']],
        }
      case 'eth_getTransactionCount': {
        const [address, tag] = parameters
        const landed = this.#countOf(String(address), heightOf(tag), blocks)
        if (tag !== 'pending') return numberToHex(landed)
        const waiting = pool.filter(({ from }) => same(from, address)).map(({ nonce }) => nonce)
        let next = landed
        while (waiting.includes(next)) next++
        return numberToHex(next)
      }
      case 'eth_getBlockByNumber': {
        const height = heightOf(parameters[0])
        const block = blocks[height]
        if (!block) return null
        return formatBlock(height, block, {
          whole: parameters[1] === true,
          parent: blocks[height - 1]?.hash ?? EMPTY,
        })
      }
      case 'eth_getTransactionByHash': {
        const found = find(parameters[0])
        if (!found) return null
        return formatSent(found.sent, {
          height: found.height,
          index: found.index,
          blockHash: found.height === null ? null : (blocks[found.height]?.hash ?? null),
        })
      }
      case 'eth_getTransactionReceipt': {
        const found = find(parameters[0])
        if (!found || found.height === null) return null
        return formatReceipt(found.sent, {
          height: found.height,
          index: found.index,
          blockHash: blocks[found.height]?.hash ?? EMPTY,
        })
      }
      case 'eth_sendRawTransaction':
        return this.#accept(await readRaw(parameters[0] as Hex))
      default:
        throw new ModelRpcError(`the method ${method} does not exist`)
    }
  }

  #accept(sent: Sent): Hex {
    this.#received.set(sent.hash, sent.from)
    if (this.#pool.some(({ hash }) => hash === sent.hash)) throw new ModelRpcError('already known')
    if (sent.nonce < this.#countOf(sent.from, this.height)) throw new ModelRpcError('nonce too low')
    const rival = this.#pool.find(({ from, nonce }) => from === sent.from && nonce === sent.nonce)
    if (rival && (sent.maxFee * 10n < rival.maxFee * 11n || sent.tip * 10n < rival.tip * 11n))
      throw new ModelRpcError('replacement transaction underpriced')
    this.#pool = [...this.#pool.filter((each) => each !== rival), sent]
    return sent.hash
  }

  /** What the next block takes from the pool. */
  #take(): Sent[] {
    const taken: Sent[] = []
    for (const sent of this.#pool.toSorted((a, b) => a.nonce - b.nonce)) {
      const next =
        this.#countOf(sent.from, this.height) +
        taken.filter(({ from }) => from === sent.from).length
      if (sent.maxFee >= this.#baseFee && sent.nonce === next) taken.push(sent)
    }
    return taken
  }

  #append(sent: Sent[]): void {
    const height = this.#blocks.length
    const hash = keccak256(
      toHex(`${height} ${this.#forks} ${sent.map((each) => each.hash).join(' ')}`),
    )
    this.#blocks.push({ hash, sent })
    this.#pool = this.#pool.filter(
      ({ from, nonce }) => !sent.some((each) => each.from === from && each.nonce === nonce),
    )
  }

  #countOf(sender: string, height: number, blocks = this.#blocks): number {
    return blocks
      .slice(0, height + 1)
      .reduce((sum, { sent }) => sum + sent.filter(({ from }) => same(from, sender)).length, 0)
  }
}

function same(address: string, other: unknown): boolean {
  return address.toLowerCase() === String(other).toLowerCase()
}

const readings = new Map<Hex, Sent>()

async function readRaw(raw: Hex): Promise<Sent> {
  const hash = keccak256(raw)
  const known = readings.get(hash)
  if (known) return known
  const { to, value = 0n, nonce = 0, gas = 0n, ...fees } = parseTransaction(raw)
  const from = await recoverTransactionAddress({
    serializedTransaction: raw as TransactionSerialized,
  })
  const sent = {
    hash,
    from,
    to: to ?? '',
    value,
    nonce,
    gas,
    maxFee: fees.maxFeePerGas ?? 0n,
    tip: fees.maxPriorityFeePerGas ?? 0n,
  }
  readings.set(hash, sent)
  return sent
}

type Position = { height: number | null; index: number; blockHash: Hex | null }

function formatSent(sent: Sent, { height, index, blockHash }: Position) {
  return {
    hash: sent.hash,
    from: sent.from.toLowerCase(),
    to: sent.to.toLowerCase(),
    value: numberToHex(sent.value),
    input: '0x',
    nonce: numberToHex(sent.nonce),
    gas: numberToHex(sent.gas),
    type: '0x2',
    chainId: numberToHex(CHAIN_ID),
    maxFeePerGas: numberToHex(sent.maxFee),
    maxPriorityFeePerGas: numberToHex(sent.tip),
    gasPrice: numberToHex(sent.maxFee),
    accessList: [],
    v: '0x0',
    yParity: '0x0',
    r: EMPTY,
    s: EMPTY,
    blockHash,
    blockNumber: height === null ? null : numberToHex(height),
    transactionIndex: height === null ? null : numberToHex(index),
  }
}

function formatReceipt(sent: Sent, { height, index, blockHash }: Position) {
  return {
    transactionHash: sent.hash,
    transactionIndex: numberToHex(index),
    blockHash,
    blockNumber: numberToHex(height ?? 0),
    from: sent.from.toLowerCase(),
    to: sent.to.toLowerCase(),
    status: '0x1',
    type: '0x2',
    gasUsed: numberToHex(sent.gas),
    cumulativeGasUsed: numberToHex(sent.gas),
    effectiveGasPrice: numberToHex(NORMAL_BASE_FEE),
    contractAddress: null,
    logs: [],
    logsBloom: BLOOM,
  }
}

function formatBlock(
  height: number,
  { hash, sent }: ChainBlock,
  { whole, parent }: { whole: boolean; parent: Hex },
) {
  return {
    number: numberToHex(height),
    hash,
    parentHash: parent,
    timestamp: numberToHex(1_700_000_000 + height),
    baseFeePerGas: numberToHex(NORMAL_BASE_FEE),
    gasLimit: '0x1c9c380',
    gasUsed: '0x0',
    difficulty: '0x0',
    totalDifficulty: '0x0',
    size: '0x0',
    nonce: '0x0000000000000000',
    miner: '0x0000000000000000000000000000000000000000',
    extraData: '0x',
    logsBloom: BLOOM,
    sha3Uncles: EMPTY,
    stateRoot: EMPTY,
    transactionsRoot: EMPTY,
    receiptsRoot: EMPTY,
    uncles: [],
    transactions: whole
      ? sent.map((each, index) => formatSent(each, { height, index, blockHash: hash }))
      : sent.map((each) => each.hash),
  }
}
