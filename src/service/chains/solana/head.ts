import { SYSVAR_CLOCK_PUBKEY, type Commitment, type Connection } from '@solana/web3.js'
import type { ChainClock, Head } from '../chain.ts'
import type { SolanaEndpoints } from './client.ts'

/** Slots, and beside them block heights: a skipped slot has no block. */
export function readHead(endpoints: SolanaEndpoints): Promise<Head> {
  return endpoints.ask(async (connection) => {
    const [height, finalizedHeight, blockHeight, finalizedBlockHeight] = await Promise.all([
      connection.getSlot('confirmed'),
      connection.getSlot('finalized'),
      connection.getBlockHeight('confirmed'),
      connection.getBlockHeight('finalized'),
    ])
    return { height, finalizedHeight, blockHeight, finalizedBlockHeight }
  })
}

/** The times of the newest confirmed and of the newest final slot, as the cluster's own clock tells them. */
export function readClock(endpoints: SolanaEndpoints): Promise<ChainClock> {
  return endpoints.ask(async (connection) => {
    const [head, finalized] = await Promise.all([
      readTime(connection, 'confirmed'),
      readTime(connection, 'finalized'),
    ])
    return { head, finalized }
  })
}

/** The clock account: slot, start of the epoch, epoch, next epoch, then Unix seconds, of 8 bytes each. */
const TIME_OFFSET = 32

async function readTime(connection: Connection, commitment: Commitment): Promise<Date> {
  const account = await connection.getAccountInfo(SYSVAR_CLOCK_PUBKEY, commitment)
  if (!account) throw new Error('The node does not show the clock of the cluster.')
  const bytes = new DataView(account.data.buffer, account.data.byteOffset, account.data.byteLength)
  return new Date(Number(bytes.getBigInt64(TIME_OFFSET, true)) * 1000)
}
