import { SendTransactionError, SolanaJSONRPCError, VersionedTransaction, type Connection } from '@solana/web3.js'
import type { Broadcast, Rehearsal } from '../chain.ts'
import { printableText } from '../printable-text.ts'
import type { SolanaEndpoints } from './client.ts'

/** The cluster's word for a transaction that has landed: no refusal. */
const LANDED = 'AlreadyProcessed'

/** Runs the transaction on the state of this moment, on its own blockhash. The fee payer's signature may still be missing. */
export async function rehearse(endpoints: SolanaEndpoints, bytes: Uint8Array): Promise<Rehearsal> {
  const transaction = VersionedTransaction.deserialize(bytes)
  const answers = await endpoints.askTwice((connection) => refusal(connection, transaction))
  // A node that is behind refuses what another one takes.
  if (answers.some((answer) => answer === undefined || answer === LANDED)) return { ok: true }
  return { ok: false, reason: printableText(answers[0] ?? '') ?? 'refused' }
}

async function refusal(connection: Connection, transaction: VersionedTransaction): Promise<string | undefined> {
  const { value } = await connection.simulateTransaction(transaction, { sigVerify: false, replaceRecentBlockhash: false, commitment: 'confirmed' })
  if (value.err === null) return undefined
  return typeof value.err === 'string' ? value.err : JSON.stringify(value.err)
}

/** Without the node's own rehearsal: ours has passed, and a node that is behind must not keep the bytes from the others. */
export function broadcast(endpoints: SolanaEndpoints, bytes: Uint8Array): Promise<Broadcast> {
  return endpoints.ask(async (connection): Promise<Broadcast> => {
    try {
      await connection.sendRawTransaction(bytes, { skipPreflight: true })
      return { accepted: true }
    } catch (error) {
      if (error instanceof SendTransactionError || error instanceof SolanaJSONRPCError)
        return { accepted: false, reason: printableText(error.message) ?? 'refused' }
      throw error
    }
  })
}
