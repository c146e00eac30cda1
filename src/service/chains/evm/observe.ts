import {
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
  type GetTransactionReturnType,
  type Hex,
  type PublicClient,
  erc20Abi,
  parseEventLogs,
  type Log,
} from 'viem'
import { authorizationAbi } from '#chains/evm/authorization.ts'
import { readTransfer as readCall } from '#chains/evm/decode.ts'
import { arrived, isOneMove, readMoves, type ChainLog } from '#chains/evm/erc20.ts'
import { formatFingerprint } from '#chains/evm/fee.ts'
import { feeOf } from '#chains/evm/landed.ts'
import { checksumAddress, EVM_NATIVE } from '#contract/address.ts'
import type { Network } from '#contract/network.ts'
import type { Chain, Head, Observation, ObservedTransfer } from '../chain.ts'
import { observeAtTwo, requireQuorumFinality } from '../endpoints.ts'
import { isHeadOf, readTipOf, type EvmEndpoints, type Tip } from './client.ts'
import type { KnownBlocks } from './known-blocks.ts'

type Look = { seen: Promise<Observation>; at: number }
/** How many transactions are remembered of one block. */
const MOST_LOOKS = 1_000

/**
 * What the chain knows of a transaction: in the pool, in a block of the present chain, or nothing. All who look
 * at one while the chain has the same blocks share a look; one that was not found is looked for each time.
 */
export function openLooks(
  endpoints: EvmEndpoints,
  network: Network,
  { readTip, known }: { readTip: () => Promise<Tip>; known: KnownBlocks },
): Pick<Chain, 'observe' | 'observeTwice'> {
  const looks = new Map<string, Look>()
  let newest: Tip | undefined

  function share(hash: string, tip: Tip): Promise<Observation> {
    if (!newest || !isSame(newest, tip)) looks.clear()
    newest = tip
    const last = looks.get(hash)
    const now = performance.now()
    if (last && now - last.at < network.blockTimeMs) return last.seen
    // What is called final is asked for.
    const findBlock = (block: { height: number; hash: Hex }) =>
      block.height > tip.finalizedHeight ? known.find(tip, block) : undefined
    const seen = endpoints.request((client) =>
      observeOnce(client, network, { hash, head: tip, findBlock }),
    )
    const look = { seen, at: now }
    const forget = () => looks.get(hash) === look && looks.delete(hash)
    looks.delete(hash)
    looks.set(hash, look)
    const oldest = looks.keys().next()
    if (looks.size > MOST_LOOKS && !oldest.done) looks.delete(oldest.value)
    seen.then(({ state }) => state === 'not_found' && forget(), forget)
    return seen
  }

  async function observe(
    hash: string,
    as: (seen: Observation) => Observation,
    first: (tip: Tip) => Promise<Observation>,
  ): Promise<Observation> {
    const seen = as(await first(await readTip()))
    return requireQuorumFinality(seen, () =>
      endpoints.requestTwo(async (client) =>
        as(await observeOnce(client, network, { hash, head: await readTipOf(client) })),
      ),
    )
  }

  return {
    observe: (hash, as = (seen) => seen) => observe(hash, as, (tip) => share(hash, tip)),
    observeTwice: (hash) =>
      observe(
        hash,
        (seen) => seen,
        (head) => observeAtTwo(endpoints, (client) => observeOnce(client, network, { hash, head })),
      ),
  }
}

function isSame(a: Tip, b: Tip): boolean {
  return a.hash === b.hash && a.finalizedHeight === b.finalizedHeight
}

type Observing = {
  hash: string
  head: Head
  /** The block of the present chain, where it was read already. */
  findBlock?: (block: { height: number; hash: Hex }) => { hash: Hex; timestamp: bigint } | undefined
}

async function observeOnce(
  client: PublicClient,
  network: Network,
  { hash: name, head, findBlock }: Observing,
): Promise<Observation> {
  const hash = name as Hex
  const [transaction, receipt] = await Promise.all([
    orUndefined(client.getTransaction({ hash }), TransactionNotFoundError),
    orUndefined(client.getTransactionReceipt({ hash }), TransactionReceiptNotFoundError),
  ])
  if (!transaction) return { state: 'not_found' }
  const transfer = readTransfer(transaction)
  if (transaction.blockNumber === null || !receipt) return { state: 'pending', transfer }

  const height = Number(receipt.blockNumber)
  const block =
    findBlock?.({ height, hash: receipt.blockHash }) ??
    (await client.getBlock({ blockNumber: receipt.blockNumber }))
  // A receipt of a block that a reorg has replaced in the meantime counts for nothing.
  if (receipt.blockHash !== block.hash) return { state: 'pending', transfer }
  const short = receipt.status === 'success' && transfer ? readShort(transfer, receipt.logs) : null
  return {
    state: 'landed',
    succeeded: receipt.status === 'success' && short === null,
    height,
    blockHash: receipt.blockHash,
    ...(await readDepth(client, network, { height, head })),
    feeAtomic: feeOf(receipt),
    feePayer: checksumAddress(transaction.from),
    blockTime: new Date(Number(block.timestamp) * 1000),
    transfer,
    moved: readTokenMoves(receipt.logs),
    ...(short && { arrivedAtomic: short.arrivedAtomic }),
    failure:
      receipt.status === 'success'
        ? (short?.reason ?? null)
        : 'The transaction landed and was reverted: nothing was moved.',
  }
}

/**
 * Whether a block is confirmed and final. A node that is behind may serve a block that the chain no
 * longer has: the head of another node counts no confirmations of it, only the lower of both does.
 */
async function readDepth(
  client: PublicClient,
  { confirmations }: Network,
  { height, head }: { height: number; head: Head },
): Promise<{ confirmed: boolean; finalized: boolean }> {
  const depthBelow = (heads: readonly Head[]) => ({
    confirmed: heads.every((each) => each.height - height + 1 >= confirmations),
    finalized: heads.every((each) => height <= each.finalizedHeight),
  })
  const depth = depthBelow([head])
  if ((!depth.confirmed && !depth.finalized) || isHeadOf(client, head)) return depth
  return depthBelow([head, await readTipOf(client)])
}

/** Types 3 and 4 do more than move value; with data a call may do anything. */
const PLAIN_TYPES: readonly string[] = ['legacy', 'eip2930', 'eip1559']

/** The payment a transaction asks for, in native currency or of a token; null when it is anything else. Whether a token was moved, its receipt tells. */
export function readTransfer(
  transaction: Pick<
    GetTransactionReturnType,
    'from' | 'to' | 'value' | 'input' | 'nonce' | 'type' | 'maxFeePerGas' | 'maxPriorityFeePerGas'
  >,
): ObservedTransfer | null {
  const {
    from,
    to,
    value,
    input: data,
    nonce,
    type,
    maxFeePerGas,
    maxPriorityFeePerGas,
  } = transaction
  if (!to || !PLAIN_TYPES.includes(type)) return null
  const read = readCall({ sender: checksumAddress(from), to: checksumAddress(to), value, data })
  if (!read || read.recipient === null || read.amountAtomic === 0n) return null
  const { recipient, asset, amountAtomic } = read
  const fees =
    maxFeePerGas === undefined || maxPriorityFeePerGas === undefined
      ? undefined
      : { maxFeePerGas, maxPriorityFeePerGas }
  return {
    sender: checksumAddress(from),
    recipient,
    asset,
    amountAtomic,
    memo: null,
    nonce,
    ...(fees && { fingerprint: formatFingerprint(fees) }),
  }
}

type Short = { reason: string; arrivedAtomic: bigint }

/** Why a token's transfer that went through did not pay: the token's own events tell of another movement. Null when it paid exactly. */
function readShort(
  { sender, recipient, asset, amountAtomic }: ObservedTransfer,
  logs: readonly ChainLog[],
): Short | null {
  if (asset === EVM_NATIVE) return null
  const moves = readMoves(logs, asset)
  if (isOneMove(moves, { from: sender, to: recipient, amountAtomic })) return null
  const arrivedAtomic = arrived(moves, { from: sender, to: recipient })
  return {
    reason: `The transaction landed, and the token moved ${arrivedAtomic} instead of ${amountAtomic} of its smallest units to the recipient: this is not the payment.`,
    arrivedAtomic,
  }
}

async function orUndefined<T>(
  answer: Promise<T>,
  absent: abstract new (...args: never) => Error,
): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof absent) return undefined
    throw error
  }
}

type Use = { authorizer: Hex; nonce: Hex }

/**
 * What the tokens of a transaction say they moved, and by which authorization. A token may say
 * anything: only what is said by the token that was asked for counts.
 */
export function readTokenMoves(logs: readonly Log[]): ObservedTransfer[] {
  const events = parseEventLogs({
    abi: [...erc20Abi, ...authorizationAbi],
    eventName: ['Transfer', 'AuthorizationUsed'],
    logs: [...logs],
    strict: true,
  })
  return [...Map.groupBy(events, ({ address }) => checksumAddress(address))].flatMap(
    ([asset, ofToken]) => {
      // EIP-3009 writes the use before the transfer. A token that ends with a use writes it after.
      const usesFirst = ofToken.at(-1)?.eventName === 'Transfer'
      const moves: ObservedTransfer[] = []
      let use: Use | undefined
      for (const event of usesFirst ? ofToken : ofToken.toReversed()) {
        if (event.eventName === 'AuthorizationUsed') use = event.args
        else moves.push(readMove(asset, event.args, use))
      }
      return moves
    },
  )
}

/** A transfer belongs to one use at most, so no transfer ever counts for two authorizations. */
function readMove(
  asset: string,
  { from, to, value }: { from: Hex; to: Hex; value: bigint },
  use: Use | undefined,
): ObservedTransfer {
  const sender = checksumAddress(from)
  const isAuthorized = use !== undefined && checksumAddress(use.authorizer) === sender
  return {
    sender,
    recipient: checksumAddress(to),
    asset,
    amountAtomic: value,
    memo: null,
    nonce: null,
    ...(isAuthorized && { authorization: use.nonce }),
  }
}
