import { eq } from 'drizzle-orm'
import type { Family } from '#contract/address.ts'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { createId } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import { MOST_WALLETS } from '#contract/wallet.ts'
import type { Database } from '#postgres/open.ts'
import type { Signer } from '#signer/protocol.ts'
import type { Actor, Context } from '../context/context.ts'
import { lockAccount } from '../db/lease.ts'
import { account } from '../db/schema/access.ts'
import { wallet } from '../db/schema/wallet.ts'
import { readStopped, type LedgerRecord, insertWallet, readWallets } from '../db/wallet-ledger.ts'
import { registerWallet } from './ownership.ts'
import { ensureVaultKey, requireVaultKey } from './vault-key.ts'

export type NewWallet = {
  accountId: string
  family: Family
  name: string
  /** An existing key of 32 bytes, overwritten here; a new one otherwise. */
  secret?: Uint8Array
}

/** What may be told of a wallet: never its key. */
type WalletFacts = {
  id: string
  address: string
  family: Family
  name: string
  createdAt: Date
}

/**
 * Takes a wallet under management. The signer makes its key, or takes the one that is brought, and hands it out sealed only.
 * Its account owns it from the same commit on.
 * @throws `NOT_FOUND` for an unknown account, `INVALID_PARAMETERS` for an address that is managed already, `FORBIDDEN` for a wallet beyond the most
 *   that an account has (the operator's own commands are bounded like the API), and (`wallet_owned`) for one that another account owns
 */
export async function createWallet(
  parts: {
    db: Database
    signer: Signer
    lostKeys?: readonly string[] | undefined
    now: Date
  },
  input: NewWallet,
): Promise<WalletFacts> {
  const { db, signer, now } = parts
  const { accountId, family, name, secret } = input
  try {
    await requireRoom(db, accountId)
    await ensureVaultKey(parts)
  } catch (error) {
    secret?.fill(0)
    throw error
  }
  const sealed = await signer.seal({ id: createId('wal'), accountId, family, secret })
  const { id, address } = sealed
  const facts = { id, address, family, name, createdAt: now }
  // The vault may be far away, so the account is locked after it, and its wallets are counted once more.
  await db.transaction(async (tx) => {
    await lockAccount(tx, accountId)
    await requireRoom(tx, accountId)
    if (!(await insertWallet(tx, { ...facts, ...sealed }))) throw refuseManagedTwice(address)
    await registerWallet({ db: tx, now }, { accountId, address, network: null, proof: 'managed' })
  })
  return facts
}

function refuseManagedTwice(address: string): ProblemError {
  return new ProblemError('INVALID_PARAMETERS', {
    message: `The wallet ${address} is managed already.`,
    details: { walletAddress: 'Expected a wallet that is not managed yet.' },
  })
}

/** @throws `FORBIDDEN`, `NOT_FOUND` */
async function requireRoom(db: Database, accountId: string): Promise<void> {
  const [owner] = await db.select({ id: account.id }).from(account).where(eq(account.id, accountId))
  if (!owner) throw new ProblemError('NOT_FOUND', { message: `There is no account ${accountId}.` })
  if ((await db.$count(wallet, eq(wallet.accountId, accountId))) < MOST_WALLETS) return
  throw new ProblemError('FORBIDDEN', {
    message: `This account has ${MOST_WALLETS} managed wallets, the most there can be.`,
    details: { wallets: `Expected at most ${MOST_WALLETS} managed wallets.` },
  })
}

/** Makes a wallet for the caller's account. */
export async function createOwnWallet(
  context: Context,
  actor: Actor,
  { family, name }: EndpointInput<'walletCreate'>['body'],
): Promise<EndpointReply<'walletCreate'>> {
  const { db, signer, now, config } = context
  await requireVaultKey(context)
  const wallet = await createWallet(
    { db, signer, lostKeys: config.lostVaultKeys, now: now() },
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
    .filter((ledger) => ledger.address === address)
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

/**
 * Registers the wallets of `PAYOUT_WALLETS` for their accounts, by the operator's authority. What cannot be registered is logged and left: a wrong line of
 * the configuration does not stop payments.
 */
export async function registerConfiguredWallets({ config, db, log, now }: Context): Promise<void> {
  for (const { accountId, address } of config.payoutWallets ?? []) {
    try {
      const { created } = await registerWallet(
        { db, now: now() },
        { accountId, address, network: null, proof: 'operator' },
      )
      if (created) log.info({ accountId, wallet: address }, 'payout wallet registered')
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      log.error(
        { accountId, wallet: address, reason: error.message },
        'PAYOUT_WALLETS: this wallet is not registered',
      )
    }
  }
}
