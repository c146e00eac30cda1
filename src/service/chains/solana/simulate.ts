import { VersionedTransaction, type Connection } from '@solana/web3.js'
import { MAX_RESPONSE_LENGTH } from '#contract/reasons.ts'

/** An account as it is afterwards; undefined where there is none. */
type After = { owner: string; data: Uint8Array } | undefined

/** `accounts`: those that were asked for. */
export type SolanaSimulated = { ok: true; accounts: After[] } | { ok: false; reason: string }

/** Whether the cluster would take the transaction now, and what is in some accounts then. Throws when the node cannot tell. */
export async function simulate(
  connection: Connection,
  bytes: Uint8Array,
  addresses: readonly string[] = [],
): Promise<SolanaSimulated> {
  const outcome = await run(connection, VersionedTransaction.deserialize(bytes), addresses)
  // The blockhash is of this moment: a node that does not know it is behind the one that gave it.
  if (!outcome.ok && outcome.reason === 'BlockhashNotFound')
    throw new Error('The node does not know the blockhash it gave.')
  return outcome
}

/** Runs a transaction as it is, on its own blockhash, on one node. */
export async function run(
  connection: Connection,
  transaction: VersionedTransaction,
  addresses: readonly string[] = [],
): Promise<SolanaSimulated> {
  const { value } = await connection.simulateTransaction(transaction, {
    sigVerify: false,
    replaceRecentBlockhash: false,
    commitment: 'confirmed',
    ...(addresses.length > 0 && { accounts: { encoding: 'base64', addresses: [...addresses] } }),
  })
  if (value.err !== null)
    return {
      ok: false,
      reason: (typeof value.err === 'string' ? value.err : JSON.stringify(value.err)).slice(
        0,
        MAX_RESPONSE_LENGTH,
      ),
    }
  const accounts = addresses.map((_, index): After => {
    const account = value.accounts?.[index]
    return account
      ? { owner: account.owner, data: Buffer.from(account.data[0] ?? '', 'base64') }
      : undefined
  })
  return { ok: true, accounts }
}
