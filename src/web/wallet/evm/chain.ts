import { t } from '@lingui/core/macro'
import {
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
  type Block,
  type Hash,
  type PublicClient,
  type Address,
} from 'viem'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { maxFeeAtomic } from '#chains/evm/fee.ts'
import { decodeLanded, feeOf, isUsedByAuthorization } from '#chains/evm/landed.ts'
import { nativeAsset, type Network } from '#contract/network.ts'
import { serverNow } from '../../api/clock.ts'
import type {
  CheckedTransaction,
  WalletPaymentIntent,
  Reading,
} from '../../payment-intent/intent.ts'
import type { PaymentChain } from '../../payment-intent/ports.ts'
import { firstDifference, toPaymentIntent } from '../state/intent.ts'
import { readingOf } from './operations.ts'
import { simulate } from './simulate.ts'

/** How many nonces of the sender one reading looks through for a payment whose wallet chose the nonce itself. */
const NONCES_AT_ONCE = 8

/** The user's own view of one EVM chain. `clientOf` gives the client of a network's RPC. */
export function evmChain(
  networks: readonly Network[],
  clientOf: (network: Network) => PublicClient,
): PaymentChain {
  const networkOf = (order: WalletPaymentIntent): Network => {
    const network = networks.find((each) => each.network === order.network)
    if (!network) throw new Error(`${order.network} is not configured.`)
    return network
  }
  const client = (order: WalletPaymentIntent) => clientOf(networkOf(order))
  return {
    blockTimeMs: (order) => networkOf(order).blockTimeMs,
    head: async (order) => readHead(client(order)),
    feeCap: async (order) => maxFeeAtomic(order.priorityFeeAtomic, order.asset),
    knows: async (order, bytes) => {
      const decoded = decodeTransaction(bytes)
      return client(order)
        .getChainId()
        .then(
          (chainId) => decoded.ok && decoded.chainId === chainId,
          () => null,
        )
    },
    simulate: async (order, bytes) =>
      simulate(client(order), { order, bytes, currency: nativeAsset(networkOf(order)) }),
    broadcast: async () => {
      throw new Error('On EVM the wallet broadcasts.')
    },
    read: async (order, built, sent) => {
      try {
        return await read({ client: client(order), network: networkOf(order), order, built }, sent)
      } catch {
        return { kind: 'unavailable', at: serverNow() }
      }
    },
  }
}

type Look = {
  client: PublicClient
  network: Network
  order: WalletPaymentIntent
  built: CheckedTransaction
}

async function readHead(
  client: PublicClient,
): Promise<{ height: number; finalizedHeight: number }> {
  const [height, finalized] = await Promise.all([
    client.getBlockNumber({ cacheTime: 0 }),
    client.getBlock({ blockTag: 'finalized' }),
  ])
  return { height: Number(height), finalizedHeight: Number(finalized.number) }
}

type Sent = Parameters<PaymentChain['read']>[2]

async function read(look: Look, sent: Sent): Promise<Reading> {
  const { client } = look
  const head = await readHead(client)
  const hash = sent.signature as Hash | null
  const known = hash && (await readLanded(look, hash, head))
  if (known) return known
  // Wallets may choose another nonce than the one that was built: as long as a node holds it, its own nonce decides.
  const pending = hash
    ? await absentIs(client.getTransaction({ hash }), TransactionNotFoundError)
    : undefined
  const taken = await findMine(
    look,
    pending ? { ...sent, nonce: pending.nonce } : sent,
    head.finalizedHeight,
  )
  // A wallet may speed a payment up: another hash, the same meaning. Only a different meaning is a replacement.
  const other = taken.mine ? await readLanded(look, taken.mine, head) : undefined
  if (other) return other
  const finalized = taken.until !== undefined && taken.until <= head.finalizedHeight
  // A node may hold a transaction for a while after another one has its nonce.
  if (pending && hash && !finalized)
    return { kind: 'pending', at: serverNow(), signature: hash, nonce: pending.nonce }
  if (taken.other && taken.certainty !== 'nothing')
    return {
      kind: 'superseded',
      at: serverNow(),
      by: taken.other.hash,
      finalized,
      ...(taken.certainty === 'guessed' && { guessed: true }),
    }
  return { kind: 'absent', at: serverNow(), finalizedHeight: head.finalizedHeight }
}

type Taken = {
  mine?: Hash
  other?: NonceUse
  /** Block of the newest transaction that was looked at: what `certainty` tells is as final as that. */
  until?: number
  /**
   * What `other` says. `sure`: whatever the wallet sent had its nonce. `guessed`: no node shows what
   * the wallet sent, and all that the sender sent since is something else. `nothing`: not all was
   * looked at, or something waits for a block.
   */
  certainty?: 'sure' | 'guessed' | 'nothing'
}

/** Where to go on looking for a payment without a hash: all before `next` are final, and other ones. */
const searches = new WeakMap<CheckedTransaction, { first: NonceUse; next: number }>()

/** Who took the nonce, and whether that or a later transaction of the sender is the payment. */
async function findMine(
  { client, network, order, built }: Look,
  sent: Sent,
  finalizedHeight: number,
): Promise<Taken> {
  const firstNonce = sent.nonce ?? built.nonce
  if (firstNonce === null) return {}
  const isOne = sent.signature !== null || sent.nonce !== undefined
  const { sender } = order
  const earlier = isOne ? undefined : searches.get(built)
  const find = (nonce: number) => findByNonce(client, { sender, nonce }, built.builtHeight)
  let next = earlier?.next ?? firstNonce
  let found = await find(next)
  const first = earlier?.first ?? found
  if (!first) return {}
  let until = first.blockHeight
  const intent = toPaymentIntent(order, built, nativeAsset(network))
  for (let step = 0; found && step <= NONCES_AT_ONCE; step++) {
    const { hash, nonce } = found
    const transaction = hash && (await client.getTransaction({ hash }))
    const call = transaction?.to && {
      to: transaction.to,
      value: transaction.value,
      data: transaction.input,
    }
    if (hash && call && readingOf(order).isMine(intent, call)) {
      const owner = (await sent.ownerOf?.({ signature: hash, nonce })) ?? 'free'
      if (owner === 'free') return { mine: hash }
      if (owner === 'open') return { certainty: 'nothing' }
    }
    until = found.blockHeight
    // With a hash or a nonce in hand only what has that nonce concerns this payment.
    if (isOne)
      return { other: first, until, certainty: sent.nonce === undefined ? 'guessed' : 'sure' }
    next = found.nonce + 1
    if (until <= finalizedHeight) searches.set(built, { first, next })
    found = await find(next)
  }
  const all = found === undefined && (await countKnown(client, sender)) <= next
  return { other: first, until, certainty: all ? 'guessed' : 'nothing' }
}

/** How many transactions of an account a node knows of, those that wait for a block included. */
async function countKnown(client: PublicClient, sender: string): Promise<number> {
  const address = sender as Address
  return Math.max(
    ...(await Promise.all([
      client.getTransactionCount({ address, blockTag: 'pending' }),
      client.getTransactionCount({ address, blockTag: 'latest' }),
    ])),
  )
}

async function readLanded(
  { client, network, order, built }: Look,
  hash: Hash,
  head: { height: number; finalizedHeight: number },
): Promise<Reading | undefined> {
  const receipt = await absentIs(
    client.getTransactionReceipt({ hash }),
    TransactionReceiptNotFoundError,
  )
  if (!receipt) return undefined
  const transaction = await client.getTransaction({ hash })
  const currency = nativeAsset(network)
  const facts = decodeLanded(transaction, receipt, currency)
  const match = facts.ok
    ? readingOf(order).landed(toPaymentIntent(order, built, currency), facts)
    : undefined
  const paid = match?.ok === true
  const reverted = receipt.status === 'reverted'
  const difference = firstDifference(match?.rows ?? [])
  const height = Number(receipt.blockNumber)
  const confirmations = Math.max(1, head.height - height + 1)
  return {
    kind: 'landed',
    at: serverNow(),
    nonce: transaction.nonce,
    outcome: paid ? 'paid' : reverted ? 'reverted' : 'other',
    failure: reverted
      ? t`Failed. Only the network fee was paid.`
      : paid
        ? null
        : t`On the chain, ${difference}`,
    commitment:
      height <= head.finalizedHeight
        ? 'finalized'
        : confirmations >= network.confirmations
          ? 'confirmed'
          : 'processed',
    landed: {
      signature: hash,
      height,
      blockHash: receipt.blockHash,
      confirmations,
      requiredConfirmations: network.confirmations,
      feeAtomic: feeOf(receipt),
      blockTime: order.quote && (await blockTimeOf(client, receipt.blockNumber)),
    },
  }
}

/** Unix milliseconds; undefined where the node does not give the block: the payment has landed all the same. */
async function blockTimeOf(client: PublicClient, blockNumber: bigint): Promise<number | undefined> {
  const block = await client.getBlock({ blockNumber }).catch(() => undefined)
  return block && Number(block.timestamp) * 1000
}

/** What viem throws for something a node does not have, as a value; everything else stays thrown. */
async function absentIs<T>(
  work: Promise<T>,
  absence: abstract new (...args: never[]) => Error,
): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof absence) return undefined
    throw error
  }
}

/** What used a nonce of a sender, found on the chain itself; without a hash, it was no transaction of theirs. */
type NonceUse = { hash: Hash | null; blockHeight: number; nonce: number }

/**
 * What took a sender's nonce: a binary search over the account's nonce by block, from a block at which it was
 * still free. `undefined` when the nonce is free now. Throws when the node does not keep enough history to tell.
 */
async function findByNonce(
  client: PublicClient,
  { sender, nonce }: { sender: string; nonce: number },
  from: number,
): Promise<NonceUse | undefined> {
  const address = sender as Address
  const latest = Number(await client.getBlockNumber({ cacheTime: 0 }))
  if ((await client.getTransactionCount({ address, blockNumber: BigInt(latest) })) <= nonce)
    return undefined
  let [free, taken] = [Math.min(from, latest) - 1, latest]
  while (taken - free > 1) {
    const middle = Math.floor((free + taken) / 2)
    if ((await client.getTransactionCount({ address, blockNumber: BigInt(middle) })) > nonce)
      taken = middle
    else free = middle
  }
  const block = await client.getBlock({ blockNumber: BigInt(taken), includeTransactions: true })
  const found = block.transactions.find(
    (transaction) =>
      transaction.from.toLowerCase() === sender.toLowerCase() && transaction.nonce === nonce,
  )
  if (!found && !(await isUsedWithout(client, { address, nonce, height: taken }, block)))
    throw new Error(`Block ${taken} should hold transaction ${nonce} of ${sender}, and does not.`)
  return { hash: found?.hash ?? null, blockHeight: taken, nonce }
}

/**
 * Whether a block used an account's nonce without a transaction of that nonce: by an authorization
 * of EIP-7702, sent by any account, or by a contract that the account's own code made. A node that has
 * lost its history shows neither.
 */
async function isUsedWithout(
  client: PublicClient,
  { address, nonce, height }: { address: Address; nonce: number; height: number },
  { transactions }: Block<bigint, true>,
): Promise<boolean> {
  if (await isUsedByAuthorization(transactions, { address, nonce })) return true
  const [code, before] = await Promise.all([
    client.getCode({ address, blockNumber: BigInt(height) }),
    client.getTransactionCount({ address, blockNumber: BigInt(Math.max(0, height - 1)) }),
  ])
  return code !== undefined && before <= nonce
}
