import { PublicKey, type Connection } from '@solana/web3.js'
import type { Funds } from '../chain.ts'
import type { SolanaEndpoints } from './client.ts'

/** The most signatures a node tells of in one answer. */
const STATUSES = 256

/** The balance of one slot, and which of the transactions that were open after it was read are in it. */
export function readFunds(endpoints: SolanaEndpoints, wallet: string, openSignatures: () => Promise<readonly string[]>): Promise<Funds> {
  return endpoints.ask(async (connection): Promise<Funds> => {
    const [{ context, value }, rent] = await Promise.all([
      connection.getBalanceAndContext(new PublicKey(wallet), 'confirmed'),
      connection.getMinimumBalanceForRentExemption(0),
    ])
    // Read after the balance: what is signed from here on cannot be in it.
    const signatures = await openSignatures()
    const landed = new Set<string>()
    for (let start = 0; start < signatures.length; start += STATUSES) {
      for (const signature of await readLanded(connection, signatures.slice(start, start + STATUSES), context.slot)) landed.add(signature)
    }
    return { height: context.slot, balanceAtomic: BigInt(value), nonce: null, landed, minimumAtomic: BigInt(rent) }
  })
}

async function readLanded(connection: Connection, signatures: readonly string[], slot: number): Promise<string[]> {
  const { context, value } = await connection.getSignatureStatuses([...signatures], { searchTransactionHistory: true })
  if (context.slot < slot) throw new Error('The node answers from a slot before the one it told the balance of.')
  return signatures.filter((_, index) => {
    const status = value[index]
    // A node may tell a balance from the middle of a slot: what landed in that very slot counts as still to be paid.
    return status && status.confirmationStatus !== 'processed' && status.slot < slot
  })
}
