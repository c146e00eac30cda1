import { PublicKey, type Connection } from '@solana/web3.js'
import type { Audit } from '../chain.ts'
import { inParallel } from '../in-parallel.ts'
import type { SolanaEndpoints } from './client.ts'
import { signaturesOf } from './find.ts'

const PARALLEL_TRANSACTIONS = 8
/** What a node calls a transaction that it would not run: no transaction has this signature. */
const NO_SIGNATURE = '1'.repeat(64)

/** The finalized balance, and of the transactions since a slot those that the wallet signed, each with what it took from that balance. */
export function audit(endpoints: SolanaEndpoints, wallet: string, since: number | null): Promise<Audit> {
  return endpoints.ask(async (connection): Promise<Audit> => {
    const { context, value } = await connection.getBalanceAndContext(new PublicKey(wallet), 'finalized')
    const exact = context.slot <= (await connection.getSlot('finalized'))
    const named = since === null ? [] : await signaturesOf(connection, wallet, { from: since + 1, knownTo: exact ? context.slot : undefined })
    const landed = await inParallel(
      named.filter(({ slot, signature }) => slot <= context.slot && signature !== NO_SIGNATURE),
      PARALLEL_TRANSACTIONS,
      ({ signature }) => readOwn(connection, wallet, signature),
    )
    return { height: context.slot, exact, balanceAtomic: BigInt(value), nonce: null, signed: landed.flatMap((each) => each ?? []) }
  })
}

/** What a transaction took from the balance of the wallet that signed it; undefined when it did not sign it, or the transaction never ran. */
async function readOwn(connection: Connection, wallet: string, signature: string): Promise<Audit['signed'][number] | undefined> {
  const landed = await connection.getTransaction(signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 })
  if (!landed?.meta) throw new Error('The node names a transaction that it does not serve.')
  const { header, staticAccountKeys } = landed.transaction.message
  const index = staticAccountKeys.slice(0, header.numRequiredSignatures).findIndex((key) => key.toBase58() === wallet)
  if (index === -1) return undefined
  const [before, after] = [landed.meta.preBalances[index], landed.meta.postBalances[index]]
  if (before === undefined || after === undefined || (landed.meta.err !== null && before === after)) return undefined
  return { signature, spentAtomic: BigInt(before) - BigInt(after) }
}
