import { eq } from 'drizzle-orm'
import { parseAddress, type Family } from '#contract/address.ts'
import { createId } from '#contract/payment.ts'
import { familyOf, type NetworkId } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import type { OwnershipProof, WalletKind } from '#contract/wallet.ts'
import type { Database } from '#postgres/open.ts'
import { account } from '../db/schema/access.ts'
import {
  endOwner,
  findOwners,
  insertOwner,
  isFamilyScope,
  lockAddress,
  lockDirections,
  makeClaimsExclusive,
  updateDirections,
  type OwnedWallet,
  type WalletOwnerRecord,
} from '../db/wallet-owners.ts'

/** The rules of who owns a wallet: what decides the direction of its payments, and who may consume proofs that pay it. */

export const WALLET_OWNED = 'wallet_owned'
export const WALLET_MANAGED = 'wallet_managed'

export type Registration = {
  accountId: string
  /** In its normal form. */
  address: string
  /** The chain of a contract; null for an address that a key controls, which is one owner's on every chain of its family. */
  network: NetworkId | null
  proof: OwnershipProof
  /** What the wallet signed, and its signature, where it did. */
  signed?: { message: string; signature: string }
  /** The networks of this service: on the others of them, an operator's registration of another account stays. */
  networks?: readonly NetworkId[]
}

/** `created`: false where the account owned the wallet with this proof or a stronger one. */
export type Registered = { owner: WalletOwnerRecord; created: boolean }

/** What the account's own registration is replaced by. Between accounts, only an operator's registration gives way. */
const STRENGTH: Readonly<Record<OwnershipProof, number>> = { operator: 0, signature: 1, managed: 2 }

/**
 * Registers a wallet for an account, in one commit with the directions of the account's payments of it. A signature and a managed key outrank an operator's
 * registration: the wallet moves. Nothing outranks a signature or a managed key of another account.
 * @throws `NOT_FOUND` for an unknown account; `FORBIDDEN`, `wallet_owned`
 */
export async function registerWallet(
  { db, now }: { db: Database; now: Date },
  registration: Registration,
): Promise<Registered> {
  const { accountId, address, network, proof, signed } = registration
  const scope = network ?? familyOfAddress(address)
  return db.transaction(async (tx) => {
    const [known] = await tx
      .select({ id: account.id })
      .from(account)
      .where(eq(account.id, accountId))
    if (!known)
      throw new ProblemError('NOT_FOUND', { message: `There is no account ${accountId}.` })
    await lockAddress(tx, address)
    const overlapping = (await findOwners(tx, address)).filter((row) => overlaps(row.scope, scope))
    const foreign = overlapping.filter((row) => row.accountId !== accountId)
    const blocking = foreign.find((row) => proof === 'operator' || row.proof !== 'operator')
    if (blocking) throw refuseOwned(blocking, proof)
    const own = overlapping.filter((row) => row.accountId === accountId)
    const covering = own.find(
      (row) =>
        (row.scope === scope || isFamilyScope(row.scope)) && STRENGTH[row.proof] >= STRENGTH[proof],
    )
    if (covering) return { owner: covering, created: false }
    for (const row of foreign) await handOver(tx, row, { registration, now })
    const replaced = own.find((row) => row.scope === scope)
    if (replaced) await endOwner(tx, replaced.id, now)
    const kind: WalletKind = proof === 'managed' ? 'managed' : 'payout'
    const owner = await insertOwner(tx, {
      id: createId('own'),
      scope,
      address,
      accountId,
      kind,
      proof,
      ...signed,
      createdAt: now,
    })
    await adjustPast(tx, { accountId, address, scope })
    // New payments wait from here on: for a moment, however many there were before. What was recorded meanwhile is adjusted too.
    await lockDirections(tx, accountId)
    await adjustPast(tx, { accountId, address, scope })
    return { owner, created: true }
  })
}

/** Past payments of a wallet, for the account that owns it now. */
async function adjustPast(tx: Database, wallet: OwnedWallet): Promise<void> {
  await updateDirections(tx, wallet)
  await makeClaimsExclusive(tx, wallet)
}

/** A contract that signed on one chain says nothing of the address on another: what the operator registered for all of them stays there. */
async function handOver(
  tx: Database,
  row: WalletOwnerRecord,
  { registration, now }: { registration: Registration; now: Date },
): Promise<void> {
  await endOwner(tx, row.id, now)
  const { network, networks = [] } = registration
  if (network === null || !isFamilyScope(row.scope)) return
  const { address, accountId, kind, proof } = row
  for (const other of networks.filter((id) => id !== network && familyOf(id) === row.scope))
    await insertOwner(tx, {
      id: createId('own'),
      scope: other,
      address,
      accountId,
      kind,
      proof,
      createdAt: now,
    })
}

/** Who asks for a release: the account that owns the wallet, or the operator. */
export type ReleasedBy = { accountId: string } | 'operator'

/**
 * Ends the ownership of a wallet. Past payments keep their directions, and what its owner consumed stays consumed. A managed wallet is never released: the
 * service holds its key. The operator releases what the operator registered.
 * @throws `NOT_FOUND` without an owner; `FORBIDDEN`, `wallet_managed` or `wallet_owned`
 */
export async function releaseWallet(
  { db, now }: { db: Database; now: Date },
  address: string,
  by: ReleasedBy,
): Promise<WalletOwnerRecord[]> {
  return db.transaction(async (tx) => {
    await lockAddress(tx, address)
    const rows = (await findOwners(tx, address)).filter(
      (row) => by === 'operator' || row.accountId === by.accountId,
    )
    if (rows.length === 0)
      throw new ProblemError('NOT_FOUND', {
        message: `No wallet ${address} is registered${by === 'operator' ? '' : ' for this account'}.`,
      })
    if (rows.some((row) => row.proof === 'managed')) throw refuseManaged(address)
    const signed = by === 'operator' ? rows.find((row) => row.proof === 'signature') : undefined
    if (signed) throw refuseOwned(signed, 'operator')
    for (const { id } of rows) await endOwner(tx, id, now)
    return rows
  })
}

/** Two ownerships of one address: both of its family, or of one chain, or one of each. */
function overlaps(one: string, other: string): boolean {
  return one === other || isFamilyScope(one) || isFamilyScope(other)
}

/** The family that the spelling of an address decides. */
export function familyOfAddress(address: string): Family {
  const parsed = parseAddress(address)
  if (!parsed.ok) throw new TypeError(`${address} is no address.`)
  return parsed.family
}

function refuseOwned(row: WalletOwnerRecord, proof: OwnershipProof): ProblemError {
  return new ProblemError('FORBIDDEN', {
    message: `${describeOwner(row, proof)} ${adviseOn(row, proof)}`,
    reason: WALLET_OWNED,
    details: { walletAddress: 'Expected a wallet that no other account owns.' },
  })
}

/** The account is named to the operator alone. */
function describeOwner(
  { address, scope, accountId, proof: ownerProof }: WalletOwnerRecord,
  proof: OwnershipProof,
): string {
  const where = isFamilyScope(scope) ? '' : ` on ${scope}`
  const who = proof === 'signature' ? 'another account' : `the account ${accountId}`
  const how = {
    managed: ': the service holds its key',
    signature: ', which proved it by a signature',
    operator: ', for which the operator registered it',
  }[ownerProof]
  return `The wallet ${address} belongs to ${who}${where}${how}.`
}

function adviseOn(
  { address, accountId, proof: ownerProof }: WalletOwnerRecord,
  proof: OwnershipProof,
): string {
  if (ownerProof === 'managed') return 'A managed wallet keeps its account.'
  const release = `DELETE /wallets/payout/${address}`
  if (proof === 'signature')
    return `That account must release it first, with ${release}. Ask the operator if you have no access to that account.`
  if (ownerProof === 'operator')
    return `Release it first: npm run admin -- wallet release --wallet ${address}`
  return `The operator does not override a signature. Release it with a key of the account ${accountId} first: ${release}`
}

function refuseManaged(address: string): ProblemError {
  return new ProblemError('FORBIDDEN', {
    message: `The wallet ${address} is managed: the service holds its key. It cannot be released.`,
    reason: WALLET_MANAGED,
    details: { walletAddress: 'Expected a wallet whose key the service does not hold.' },
  })
}
