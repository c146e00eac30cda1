import { isAddressEqual, type Block, type Hex, type PublicClient } from 'viem'
import { isUsedByAuthorization } from '#chains/evm/landed.ts'
import type { MonitoredTransaction } from '../chain.ts'
import { inParallel } from '../endpoints.ts'
import type { EvmEndpoints } from './client.ts'
import { readTransfer } from './observe.ts'

/** How many blocks before a payment was built its nonce may have been used unseen: a node that is behind told a nonce too small. */
const BEHIND = 256
/** How many blocks are read one by one where a node has forgotten the states between. */
const MAX_BLOCKS = 1_000
const PARALLEL_BLOCKS = 8

/**
 * True when the nonce a payment was built with, or seen with, was used in a finalized block by another transaction or an authorization, which the node shows: one that has
 * forgotten the payment's own says the same as one that never saw it. Asked twice.
 */
export async function canNeverLand(
  endpoints: EvmEndpoints,
  monitored: Meant & Pick<MonitoredTransaction, 'sender' | 'nonce' | 'builtHeight'>,
): Promise<boolean> {
  const { sender, nonce, builtHeight } = monitored
  if (nonce === null) return false
  return endpoints.prove(async (client) => {
    const { number } = await client.getBlock({ blockTag: 'finalized' })
    const used = {
      address: sender as Hex,
      nonce,
      from: Math.max(0, (builtHeight ?? 0) - BEHIND),
      to: Number(number),
    }
    if ((await countAt(client, used.address, used.to)) <= nonce) return false
    const user = await findUser(client, used)
    return user === AUTHORIZATION || (user !== undefined && !isPayment(monitored, user))
  })
}

type Meant = Pick<
  MonitoredTransaction,
  'recipient' | 'asset' | 'amountAtomic' | 'signed' | 'mayLackSigned'
>

/**
 * What was handed to the service, or signed by it, is known by its name; what a wallet signed, by what it pays: wallets change fees.
 * A restored database may lack what the service signed: that is known by what it pays too.
 */
function isPayment(
  { signed, mayLackSigned = false, recipient, asset, amountAtomic }: Meant,
  user: UsedBy,
): boolean {
  if (signed?.includes(user.hash)) return true
  if (signed !== undefined && !mayLackSigned) return false
  const paid = readTransfer(user)
  return paid?.recipient === recipient && paid.asset === asset && paid.amountAtomic === amountAtomic
}

type Use = { address: Hex; nonce: number; from: number; to: number }
type UsedBy = Block<bigint, true>['transactions'][number]
/** EIP-7702: it raises its signer's nonce, sent by any account, and pays nothing. */
const AUTHORIZATION = 'authorization'

/** What used a nonce; undefined when the node cannot show it. */
async function findUser(
  client: PublicClient,
  use: Use,
): Promise<UsedBy | typeof AUTHORIZATION | undefined> {
  const height = await findHeight(client, use).catch(() => undefined)
  if (height !== undefined) return readUser(client, use, height)
  const heights = Array.from(
    { length: Math.min(MAX_BLOCKS, use.to - use.from + 1) },
    (_, index) => use.from + index,
  )
  const users = await inParallel(heights, PARALLEL_BLOCKS, (each) => readUser(client, use, each))
  // Authorizations of these blocks may have been skipped: a transaction that used the nonce says that they were.
  return users.find((user) => user !== AUTHORIZATION && user !== undefined) ?? users.find(Boolean)
}

/** The block that used a nonce, by the states of the blocks between, which not every node keeps. */
async function findHeight(
  client: PublicClient,
  { address, nonce, from, to }: Use,
): Promise<number> {
  let [before, at] = [from, to]
  while (at - before > 1) {
    const middle = Math.floor((before + at) / 2)
    if ((await countAt(client, address, middle)) > nonce) at = middle
    else before = middle
  }
  return at
}

async function readUser(
  client: PublicClient,
  { address, nonce }: Use,
  height: number,
): Promise<UsedBy | typeof AUTHORIZATION | undefined> {
  const { transactions } = await client.getBlock({
    blockNumber: BigInt(height),
    includeTransactions: true,
  })
  const user = transactions.find(
    (transaction) => transaction.nonce === nonce && isAddressEqual(transaction.from, address),
  )
  if (user) return user
  return (await isUsedByAuthorization(transactions, { address, nonce })) ? AUTHORIZATION : undefined
}

function countAt(client: PublicClient, address: Hex, height: number): Promise<number> {
  return client.getTransactionCount({ address, blockNumber: BigInt(height) })
}
