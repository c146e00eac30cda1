import type { Address, Hash, PublicClient } from 'viem'

/** A transaction of a sender, found on the chain itself. */
export type FoundTransaction = { hash: Hash; blockHeight: number; nonce: number }

/**
 * The transaction that took a sender's nonce: a binary search over the account's nonce by block, from a block at which it was
 * still free. `undefined` when the nonce is free now. Throws when the node does not keep enough history to tell.
 */
export async function findByNonce(
  client: PublicClient,
  { sender, nonce }: { sender: string; nonce: number },
  from: number,
): Promise<FoundTransaction | undefined> {
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
  if (!found)
    throw new Error(`Block ${taken} should hold transaction ${nonce} of ${sender}, and does not.`)
  return { hash: found.hash, blockHeight: taken, nonce }
}
