import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import type { Actor } from '../context/context.ts'
import { KEYLESS_SCOPE, type Claimant } from '../db/claims.ts'
import type { PaymentRecord } from '../db/payments.ts'
import { findOwner } from '../db/wallet-owners.ts'

export const PAYEE_NOT_OWNED = 'payee_not_owned'

/**
 * Who uses up transfers to a payee for a caller. A payee without an owner may be used by any account, which binds only that account; one with an owner, by
 * its owner alone.
 * @throws `FORBIDDEN`, `payee_not_owned`
 */
export async function claimantOf(
  db: Database,
  actor: Pick<Actor, 'accountId' | 'keyless'>,
  payee: { network: string; address: string },
): Promise<Claimant> {
  const { accountId, keyless = false } = actor
  const owner = await findOwner(db, payee.network, payee.address)
  if (owner !== undefined && (keyless || owner !== accountId)) throw refusePayee(payee.address)
  return { scope: keyless ? KEYLESS_SCOPE : accountId, accountId, exclusive: owner !== undefined }
}

/** Who uses up the transfer that pays an order; null where the order is the bookkeeping of a payer, whose payee belongs to another account. */
export async function claimantOfOrder(
  tx: Database,
  { accountId, network, recipient }: PaymentRecord,
): Promise<Claimant | null> {
  const owner = await findOwner(tx, network, recipient)
  return owner === undefined || owner === accountId
    ? { scope: accountId, accountId, exclusive: owner !== undefined }
    : null
}

export function refusePayee(payee: string): ProblemError {
  const message = `The wallet ${payee} belongs to another account, which alone can receive payments to it. Use the key of that account.`
  return new ProblemError('FORBIDDEN', {
    message,
    reason: PAYEE_NOT_OWNED,
    details: { walletAddress: 'Expected a wallet of this account.' },
  })
}
