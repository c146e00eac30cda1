import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import type { Database } from '#postgres/open.ts'
import type { Actor, Context } from '../context/context.ts'
import { readStopped, type LedgerRecord } from '../db/wallet-ledger.ts'
import { readWallets } from '../db/wallets.ts'
import { createWallet, type WalletFacts } from './create-wallet.ts'

/** Makes a wallet for the caller's account. */
export async function createOwnWallet(
  context: Context,
  actor: Actor,
  { family, name }: EndpointInput<'walletCreate'>['body'],
): Promise<EndpointReply<'walletCreate'>> {
  const { db, signer, now } = context
  const wallet = await createWallet(
    { db, signer, now: now() },
    { accountId: actor.accountId, family, name },
  )
  return { success: true, ...describeWallet(wallet, []) }
}

export async function listOwnWallets(
  context: Context,
  actor: Actor,
): Promise<EndpointReply<'walletList'>> {
  const [wallets, stopped] = await Promise.all([
    listWallets(context.db, actor.accountId),
    readStopped(context.db),
  ])
  return { success: true, wallets: wallets.map((wallet) => describeWallet(wallet, stopped)) }
}

function describeWallet(
  { id, address, family, name, createdAt }: WalletFacts,
  stops: readonly LedgerRecord[],
) {
  const stopped = stops
    .filter((books) => books.address === address)
    .map(({ network, stopReason, stoppedAt }) => ({
      network,
      reason: stopReason ?? '',
      timestamp: stoppedAt?.getTime() ?? 0,
    }))
  return {
    walletId: id,
    walletAddress: address,
    family,
    name,
    timestamp: createdAt.getTime(),
    stopped,
  }
}

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
