import { eq } from 'drizzle-orm'
import type { Family } from '#contract/address.ts'
import { createId } from '#contract/id.ts'
import { ProblemError } from '#contract/problem.ts'
import { MOST_WALLETS } from '#contract/wallet.ts'
import type { Database } from '#postgres/open.ts'
import type { Signer } from '#signer/protocol.ts'
import { lockAccount } from '../db/lock-account.ts'
import { account } from '../db/schema/access.ts'
import { wallet } from '../db/schema/wallet.ts'
import { insertWallet } from '../db/wallets.ts'
import { registerWallet } from './ownership.ts'

export type NewWallet = {
  accountId: string
  family: Family
  name: string
  /** An existing key of 32 bytes, overwritten here; a new one otherwise. */
  secret?: Uint8Array
}

/** What may be told of a wallet: never its key. */
export type WalletFacts = {
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
  { db, signer, now }: { db: Database; signer: Signer; now: Date },
  input: NewWallet,
): Promise<WalletFacts> {
  const { accountId, family, name, secret } = input
  try {
    await requireRoom(db, accountId)
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
