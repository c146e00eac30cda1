import { VersionedTransaction, type Connection } from '@solana/web3.js'

/** `accounts`: those that were asked for, as they are afterwards; undefined where there is none. */
export type Simulated = { ok: true; accounts: ({ owner: string; data: Uint8Array } | undefined)[] } | { ok: false; reason: string }

/** Whether the cluster would take the transaction now, and what is in some accounts then. Throws when the node cannot tell. */
export async function simulate(connection: Connection, bytes: Uint8Array, addresses: readonly string[] = []): Promise<Simulated> {
  const transaction = VersionedTransaction.deserialize(bytes)
  const { value } = await connection.simulateTransaction(transaction, {
    sigVerify: false,
    replaceRecentBlockhash: false,
    commitment: 'confirmed',
    ...(addresses.length > 0 && { accounts: { encoding: 'base64', addresses: [...addresses] } }),
  })
  if (value.err === null) {
    const accounts = addresses.map((_, index) => {
      const account = value.accounts?.[index]
      return account ? { owner: account.owner, data: Buffer.from(account.data[0] ?? '', 'base64') } : undefined
    })
    return { ok: true, accounts }
  }
  // The blockhash is of this moment: a node that does not know it is behind the one that gave it.
  if (value.err === 'BlockhashNotFound') throw new Error('The node does not know the blockhash it gave.')
  const reason = typeof value.err === 'string' ? value.err : JSON.stringify(value.err)
  return { ok: false, reason: reason.slice(0, 200) }
}
