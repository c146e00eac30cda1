import {
  erc20Abi,
  getAbiItem,
  isAddressEqual,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
  type Hex,
  type PublicClient,
} from 'viem'
import {
  authorizationAbi,
  pays,
  permit2Abi,
  readPermit,
  type Authorization,
} from '#chains/evm/authorization.ts'
import { countCarried, noncesWithin } from '#chains/evm/token-permit.ts'
import { PERMIT2 } from '#chains/evm/signed-types.ts'
import { readMoves } from '#chains/evm/erc20.ts'
import { checksumAddress } from '#contract/address.ts'
import { EXACT_PERMIT2_PROXY } from '#x402/authorization.ts'
import type { Network } from '#contract/network.ts'
import { MAX_PROOF_AGE_MS } from '#x402/methods.ts'
import type { Ending, Use } from '../contracts.ts'
import { inParallel } from '../endpoints.ts'
import type { EvmEndpoints } from './client.ts'
import { refusal } from './simulate.ts'

/** Blocks per request for events: what the strictest public nodes answer. */
const PAGE = 1_000n
/** Pages read backwards from the newest block, and as many forwards from the oldest. */
const MAX_PAGES = 25n
/** A node that is behind may have reported a height that is too great by this much. */
const BEHIND = 256n
const PARALLEL_RECEIPTS = 8

type Range = { fromBlock: bigint; toBlock: bigint }

/**
 * Whether an authorization was used, and by which transaction, as one node shows it. `since`: a
 * height before which it cannot have been used.
 */
export async function findUse(
  client: PublicClient,
  network: Network,
  { authorization, since }: { authorization: Authorization; since: number | null },
): Promise<Use> {
  if (!(await isUsed(client, authorization))) return { used: false }
  const head = await client.getBlockNumber()
  const oldest =
    since === null
      ? head - BigInt(Math.ceil(MAX_PROOF_AGE_MS / network.blockTimeMs))
      : BigInt(since) - BEHIND
  const possible = new Set<Hex>()
  const query = {
    name: `use ${nameOf(authorization)}`,
    pages: pagesOf(oldest, head),
    look: (range: Range) => findCarrier(client, authorization, { ...range, possible }),
  }
  const found = await search(client, query)
  return found === undefined
    ? { used: true, signature: null, possible: [...possible] }
    : { used: true, signature: found }
}

/**
 * Why an authorization can never be executed any more, proven by what two RPC endpoints show of the
 * finalized chain: it is unused in the state of a block after its expiry, or its payer cancelled
 * it. Null when nothing is proven: a node that no longer has that state, or shows no events, proves
 * nothing.
 */
export async function proveEnding(
  endpoints: EvmEndpoints,
  { authorization, since }: { authorization: Authorization; since: number | null },
): Promise<Ending | null> {
  const [first, second] = await endpoints.requestTwo((client) =>
    readEnding(client, authorization, since),
  )
  return second === null ? null : first
}

async function readEnding(
  client: PublicClient,
  authorization: Authorization,
  since: number | null,
): Promise<Ending | null> {
  const { number, timestamp } = await client.getBlock({ blockTag: 'finalized' })
  const used = await wasUsed(client, authorization, number)
  // Permit2 includes the last second.
  if (used === false) return timestamp > authorization.validBefore ? 'over' : null
  if (used === undefined) return null
  const oldest = since === null ? 0n : BigInt(since) - BEHIND
  const query = {
    name: `end ${nameOf(authorization)}`,
    pages: pagesOf(oldest, number),
    look: (range: Range) => findWithdrawal(client, authorization, range),
  }
  return (await search(client, query)) === undefined ? null : 'taken_back'
}

/**
 * Whether it was used up to a finalized block. Where a node no longer has that state, a later one
 * in which it is unused proves the same: no use is ever undone.
 */
async function wasUsed(
  client: PublicClient,
  authorization: Authorization,
  height: bigint,
): Promise<boolean | undefined> {
  const then = await usedAt(client, authorization, height)
  if (then !== undefined) return then
  const head = await client.getBlockNumber()
  return head >= height && (await usedAt(client, authorization, head)) === false ? false : undefined
}

/** Undefined when the node does not have the state of that block. */
async function usedAt(
  client: PublicClient,
  authorization: Authorization,
  height: bigint,
): Promise<boolean | undefined> {
  try {
    return await isUsed(client, authorization, height)
  } catch (error) {
    if (refusal(error) !== undefined) throw error
    return undefined
  }
}

async function isUsed(
  client: PublicClient,
  { method, token, from, nonce }: Authorization,
  height?: bigint,
): Promise<boolean> {
  const at = height === undefined ? {} : { blockNumber: height }
  if (method === 'eip3009')
    return client.readContract({
      address: token,
      abi: authorizationAbi,
      functionName: 'authorizationState',
      args: [from, nonce],
      ...at,
    })
  const { word, bit } = placeOf(nonce)
  return (
    ((await client.readContract({
      address: PERMIT2,
      abi: permit2Abi,
      functionName: 'nonceBitmap',
      args: [from, word],
      ...at,
    })) &
      bit) !==
    0n
  )
}

/** Where Permit2 records a nonce. */
function placeOf(nonce: Hex): { word: bigint; bit: bigint } {
  return { word: BigInt(nonce) >> 8n, bit: 1n << (BigInt(nonce) & 0xffn) }
}

/** The transaction that executed it in these blocks, or those of which one did. */
async function findCarrier(
  client: PublicClient,
  authorization: Authorization,
  { possible, ...range }: Range & { possible: Set<Hex> },
): Promise<Hex | undefined> {
  const { method, token, from, to, amountAtomic, nonce } = authorization
  if (method === 'eip3009') {
    const event = getAbiItem({ abi: authorizationAbi, name: 'AuthorizationUsed' })
    return (
      await client.getLogs({ address: token, event, args: { authorizer: from, nonce }, ...range })
    ).at(-1)?.transactionHash
  }
  // Permit2 emits no event for a use: only the call itself shows which permit moved the tokens.
  const event = getAbiItem({ abi: erc20Abi, name: 'Transfer' })
  const logs = await client.getLogs({
    address: token,
    event,
    args: { from, to },
    strict: true,
    ...range,
  })
  const equal = logs.filter(({ args }) => args.value === amountAtomic)
  for (const [height, moved] of Map.groupBy(equal, ({ blockNumber }) => blockNumber)) {
    const hashes = [...new Set(moved.map(({ transactionHash }) => transactionHash))]
    const found = await findInBlock(client, authorization, { height, hashes, possible })
    if (found) return found
  }
  return undefined
}

/**
 * A transaction that moved what a permit would move. `nonces`: of the equal permits in its data that
 * no other transaction is known to have executed. `carried`: how many equal permits it executed,
 * less those that are known.
 */
type Mover = { hash: Hex; isDirect: boolean; nonces: Set<Hex>; carried: number }

/**
 * Which transaction of a block executed a permit, among those that moved the same. A permit in the
 * data does not prove a call of it: all equal permits there whose nonces were used in this block
 * must have moved as much, so that one transfer is never counted for two. A permit that no data
 * names was executed by the only transfer that is left, if its nonce was used in this block. Where
 * several are left, nothing is decided, and they are added to `possible`.
 */
async function findInBlock(
  client: PublicClient,
  authorization: Authorization,
  { height, hashes, possible }: { height: bigint; hashes: readonly Hex[]; possible: Set<Hex> },
): Promise<Hex | undefined> {
  const { nonce } = authorization
  const use = await placeOfUse(client, authorization, height)
  if (use === 'elsewhere') return undefined
  const read = await inParallel(hashes, PARALLEL_RECEIPTS, (hash) =>
    readMover(client, authorization, hash),
  )
  const movers = read
    .filter((mover) => mover !== undefined)
    .toSorted((a, b) => Number(b.isDirect) - Number(a.isDirect))
  const isNamed = movers.some(({ nonces }) => nonces.has(nonce))
  if (!isNamed && use === 'unknown') return undefined
  const all = [...new Set(movers.flatMap(({ nonces }) => [...nonces]))]
  await inParallel(all, PARALLEL_RECEIPTS, async (each) => {
    if ((await placeOfUse(client, { ...authorization, nonce: each }, height)) === 'elsewhere')
      for (const { nonces } of movers) nonces.delete(each)
  })
  // What calls the proxy itself stands first: it is certain.
  for (;;) {
    const sure = movers.find(({ nonces, carried }) => nonces.size > 0 && nonces.size <= carried)
    if (!sure) break
    if (sure.nonces.has(nonce)) return sure.hash
    sure.carried -= sure.nonces.size
    for (const known of sure.nonces) for (const { nonces } of movers) nonces.delete(known)
  }
  if (use === 'unknown') return undefined
  const left = movers.filter(({ carried }) => carried > 0)
  const [only] = left
  const isOnly = left.length === 1 && only?.carried === 1 && only.nonces.size === 0
  if (isOnly && movers.length === hashes.length) return only.hash
  for (const { hash } of left) possible.add(hash)
  return undefined
}

/**
 * Whether a nonce was used in a block, and not before; `unknown` where the node no longer has the
 * states that show it.
 */
async function placeOfUse(
  client: PublicClient,
  authorization: Authorization,
  height: bigint,
): Promise<'here' | 'elsewhere' | 'unknown'> {
  const after = await usedAt(client, authorization, height)
  if (after === false) return 'elsewhere'
  const before = await usedAt(client, authorization, height - 1n)
  if (before === true) return 'elsewhere'
  return after === undefined || before === undefined ? 'unknown' : 'here'
}

/** Undefined where the node does not have it. */
async function readMover(
  client: PublicClient,
  authorization: Authorization,
  hash: Hex,
): Promise<Mover | undefined> {
  try {
    const { to, input } = await client.getTransaction({ hash })
    // The proxy itself forwards nothing: its call data is that one payment.
    if (to !== null && isAddressEqual(to, EXACT_PERMIT2_PROXY)) {
      const permit = readPermit(input)
      const nonces = permit && pays(permit, authorization) ? [permit.nonce] : []
      return { hash, isDirect: true, nonces: new Set(nonces), carried: nonces.length }
    }
    const { logs } = await client.getTransactionReceipt({ hash })
    const nonces = noncesWithin(authorization, input)
    return { hash, isDirect: false, nonces, carried: countCarried(authorization, logs) }
  } catch (error) {
    if (
      error instanceof TransactionNotFoundError ||
      error instanceof TransactionReceiptNotFoundError
    )
      return undefined
    throw error
  }
}

/** The transaction by which the payer cancelled it in these blocks, while it was unused. */
async function findWithdrawal(
  client: PublicClient,
  authorization: Authorization,
  range: Range,
): Promise<Hex | undefined> {
  const { method, token, from, nonce } = authorization
  if (method === 'eip3009') {
    // A token cancels only what is not used.
    const event = getAbiItem({ abi: authorizationAbi, name: 'AuthorizationCanceled' })
    return (
      await client.getLogs({ address: token, event, args: { authorizer: from, nonce }, ...range })
    ).at(-1)?.transactionHash
  }
  const { word, bit } = placeOf(nonce)
  const event = getAbiItem({ abi: permit2Abi, name: 'UnorderedNonceInvalidation' })
  const logs = await client.getLogs({
    address: PERMIT2,
    event,
    args: { owner: from },
    strict: true,
    ...range,
  })
  for (const { args, blockNumber, transactionHash } of logs) {
    if (
      args.word === word &&
      (args.mask & bit) !== 0n &&
      (await isWithdrawal(client, authorization, { blockNumber, transactionHash }))
    )
      return transactionHash
  }
  return undefined
}

type Struck = { blockNumber: bigint; transactionHash: Hex }

/**
 * Permit2 also invalidates used nonces. This one was unused before the block, and no transaction in
 * the block up to this one moved the same: the receipts prove it, and the node must have all of
 * them.
 */
async function isWithdrawal(
  client: PublicClient,
  authorization: Authorization,
  { blockNumber, transactionHash }: Struck,
): Promise<boolean> {
  if ((await usedAt(client, authorization, blockNumber - 1n)) !== false) return false
  const { transactions } = await client.getBlock({ blockNumber })
  const at = transactions.indexOf(transactionHash)
  if (at < 0) return false
  const idle = await inParallel(transactions.slice(0, at + 1), PARALLEL_RECEIPTS, (hash) =>
    movesNothing(client, authorization, hash),
  )
  return idle.every(Boolean)
}

async function movesNothing(
  client: PublicClient,
  { token, from, to, amountAtomic }: Authorization,
  hash: Hex,
): Promise<boolean> {
  try {
    const { logs } = await client.getTransactionReceipt({ hash })
    const moves = readMoves(logs, checksumAddress(token))
    return (
      moves !== undefined &&
      !moves.some(
        (move) => move.from === from && move.to === to && move.amountAtomic === amountAtomic,
      )
    )
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return false
    throw error
  }
}

/** Ranges of blocks, newest first; where those do not reach the oldest, also from the oldest on. */
function pagesOf(oldest: bigint, head: bigint): Range[] {
  const first = oldest > 0n ? oldest : 0n
  const pages = (head - first) / PAGE + 1n
  const newest = Array.from(
    { length: Number(pages < MAX_PAGES ? pages : MAX_PAGES) },
    (_, index): Range => {
      const toBlock = head - BigInt(index) * PAGE
      return { fromBlock: toBlock - PAGE + 1n > first ? toBlock - PAGE + 1n : first, toBlock }
    },
  )
  const left = pages - BigInt(newest.length)
  const early = Array.from(
    { length: Number(left < MAX_PAGES ? left : MAX_PAGES) },
    (_, index): Range => {
      const fromBlock = first + BigInt(index) * PAGE
      return { fromBlock, toBlock: fromBlock + PAGE - 1n }
    },
  )
  return [...newest, ...early]
}

/**
 * When a search without a result is worth repeating, by node and by what was searched for: the more
 * it read, the later.
 */
const rests = new WeakMap<PublicClient, Map<string, number>>()
const REST_PER_PAGE_MS = 1_000
const MAX_RESTS = 1_000

type Look = (range: Range) => Promise<Hex | undefined>

async function search(
  client: PublicClient,
  { name, pages, look }: { name: string; pages: readonly Range[]; look: Look },
): Promise<Hex | undefined> {
  const until = rests.get(client) ?? new Map<string, number>()
  rests.set(client, until)
  if ((until.get(name) ?? 0) > performance.now()) return undefined
  until.delete(name)
  for (const page of pages) {
    const found = await look(page)
    if (found) return found
  }
  if (pages.length > 1) until.set(name, performance.now() + pages.length * REST_PER_PAGE_MS)
  const [oldest] = until.keys()
  if (oldest !== undefined && until.size > MAX_RESTS) until.delete(oldest)
  return undefined
}

function nameOf({ method, token, from, nonce }: Authorization): string {
  return [method, token, from, nonce].join(' ')
}
