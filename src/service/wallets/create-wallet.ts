import { randomBytes } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import bs58 from 'bs58'
import { eq } from 'drizzle-orm'
import { type Family, checksumAddress } from '#contract/address.ts'
import { createId } from '#contract/id.ts'
import { ProblemError } from '#contract/problem.ts'
import { MOST_WALLETS } from '#contract/wallet.ts'
import type { Database } from '#postgres/open.ts'
import type { KeyVault } from '../context/vault.ts'
import { lockAccount } from '../db/lock-account.ts'
import { account } from '../db/schema/access.ts'
import { wallet } from '../db/schema/wallet.ts'
import { insertWallet } from '../db/wallets.ts'
import { registerWallet } from './ownership.ts'
import { seal } from './seal.ts'

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
 * Takes a wallet under management. Its key is sealed before anything else happens to it, and overwritten here.
 * Its account owns it from the same commit on.
 * @throws `NOT_FOUND` for an unknown account, `INVALID_PARAMETERS` for an address that is managed already, `FORBIDDEN` for a wallet beyond the most
 *   that an account has (the operator's own commands are bounded like the API), and (`wallet_owned`) for one that another account owns
 */
export async function createWallet(
  { db, vault, now }: { db: Database; vault: KeyVault; now: Date },
  input: NewWallet,
): Promise<WalletFacts> {
  const { accountId, family, name } = input
  const secret = input.secret ?? createSecret(family)
  try {
    await requireRoom(db, accountId)
    const facts = {
      id: createId('wal'),
      address: addressOf(family, secret),
      family,
      name,
      createdAt: now,
    }
    const sealed = await seal(vault, { ...facts, accountId }, secret)
    // The vault may be far away, so the account is locked after it, and its wallets are counted once more.
    await db.transaction(async (tx) => {
      await lockAccount(tx, accountId)
      await requireRoom(tx, accountId)
      if (!(await insertWallet(tx, { ...facts, ...sealed, accountId })))
        throw refuseManagedTwice(facts.address)
      await registerWallet(
        { db: tx, now },
        { accountId, address: facts.address, network: null, proof: 'managed' },
      )
    })
    return facts
  } finally {
    secret.fill(0)
  }
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

function createSecret(family: Family): Uint8Array {
  return family === 'evm' ? secp256k1.utils.randomSecretKey() : randomBytes(32)
}

/** The address a secret of 32 bytes signs for. */
export function addressOf(family: Family, secret: Uint8Array): string {
  if (family === 'solana') return bs58.encode(ed25519.getPublicKey(secret))
  const point = secp256k1.getPublicKey(secret, false)
  return checksumAddress(`0x${bytesToHex(keccak_256(point.subarray(1)).subarray(12))}`)
}
