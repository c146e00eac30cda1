import { VersionedTransaction, type Connection } from '@solana/web3.js'

/** Why the cluster would refuse the transaction now; undefined when it would take it. Throws when the node cannot tell. */
export async function simulate(connection: Connection, bytes: Uint8Array): Promise<string | undefined> {
  const transaction = VersionedTransaction.deserialize(bytes)
  const { value } = await connection.simulateTransaction(transaction, { sigVerify: false, replaceRecentBlockhash: false, commitment: 'confirmed' })
  if (value.err === null) return undefined
  // The blockhash is of this moment: a node that does not know it is behind the one that gave it.
  if (value.err === 'BlockhashNotFound') throw new Error('The node does not know the blockhash it gave.')
  const reason = typeof value.err === 'string' ? value.err : JSON.stringify(value.err)
  return reason.slice(0, 200)
}
