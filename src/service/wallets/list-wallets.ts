import type { Database } from '#postgres/open.ts'
import { readWallets } from '../db/wallets.ts'
import type { WalletFacts } from './create-wallet.ts'

/** The managed wallets of an account, or of all, the oldest first; of their keys nothing. */
export async function listWallets(
  db: Database,
  accountId?: string,
): Promise<(WalletFacts & { accountId: string })[]> {
  const rows = await readWallets(db, accountId)
  return rows.map(({ id, address, family, name, createdAt, accountId: owner }) => ({
    id,
    accountId: owner,
    address,
    family,
    name,
    createdAt,
  }))
}
