import type { Database } from '#postgres/open.ts'
import type { EvmNode } from '../nodes/evm.ts'
import type { SolanaNode } from '../nodes/solana/node.ts'
import { devnetWallets, seedPayers } from '../nodes/wallets.ts'
import { makeEvmHistory } from './evm.ts'
import { planHistory, SEED_DAYS } from './plan.ts'
import { insertHistory } from './rows.ts'
import { makeSolanaHistory } from './solana.ts'

/** Where a new EVM chain must begin, Unix seconds, for the history to have room. */
export function genesisTime(now: number): number {
  return Math.floor(now / 1000) - (SEED_DAYS + 1) * 86_400
}

/**
 * Sixty days of payments to and from the demo seller. On the EVM chain they are real transactions in blocks of their day; on Solana they
 * are real transactions of today, and only the service's rows bear the day: the local node cannot make blocks of the past.
 * @returns how many
 */
export async function seedHistory(
  chains: { evm: EvmNode; solana: SolanaNode },
  db: Database,
  accountId: string,
): Promise<number> {
  const now = Date.now()
  const planned = planHistory(devnetWallets(), seedPayers(), now)
  const of = (family: 'evm' | 'solana') => planned.filter((payment) => payment.family === family)
  const [evm, solana] = await Promise.all([
    makeEvmHistory(chains.evm, of('evm'), now),
    makeSolanaHistory(chains.solana.connection, of('solana')),
  ])
  await insertHistory(db, accountId, [...evm, ...solana])
  return planned.length
}
