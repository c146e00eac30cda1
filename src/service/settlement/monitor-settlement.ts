import type { Authorization } from '#chains/evm/authorization.ts'
import { PERMIT2 } from '#chains/evm/signed-types.ts'
import type { EventSource } from '#contract/payment.ts'
import type { Chain, Observation } from '../chains/chain.ts'
import type { TokenMovement } from '../chains/contracts.ts'
import type { Context } from '../context/context.ts'
import { readAttempts, type AttemptRecord } from '../db/attempts.ts'
import { findClaim, findClaimKey } from '../db/claims.ts'
import { isFeeOpen, recordFeePaid, refusePayer, releaseFee } from '../db/settlement-fees.ts'
import { lockPayment, type MonitoredRecord } from '../db/payments.ts'
import { applyObservation, isRecorded } from '../payments/apply-observation.ts'
import { asPaymentResult, asTaken, isNonceTaken } from '../payments/payment-result.ts'
import {
  readSignedAuthorization,
  authorizationEndReason,
  type SignedAuthorization,
} from '../payments/signed-authorization.ts'
import { failPayment } from '../payments/expire.ts'
import { noteUnmatched } from '../payments/unmatched.ts'
import { ensureInclusion } from '../hosted/fee-bump.ts'

type Following = {
  payment: MonitoredRecord
  chain: Chain
  /** What was signed for it, the newest first, where it was read a moment ago. */
  attempts?: readonly AttemptRecord[] | undefined
  source?: EventSource
}
type Seen = { signature: string; observation: Observation }

/**
 * Checks everything that may execute a payment whose proof was presented: what the service
 * broadcast for it, which is sent again until it lands, and, for an authorization, what anybody
 * else broadcast.
 */
export async function monitorSettlement(
  context: Context,
  { payment, chain, attempts: read, source = 'service' }: Following,
): Promise<void> {
  const { id: paymentId } = payment
  const attempts = read ?? (await readAttempts(context.db, paymentId))
  const apply = async ({ signature, observation }: Seen, authorization?: Authorization) => {
    if (isRecorded(payment, { observation })) return
    const seen = { paymentId, signature, observation, source, read: payment }
    const applied = await applyObservation(context, seen)
    if (applied !== 'taken' || observation.state !== 'landed' || !observation.finalized) return
    const taken = await chain.observe(signature, (seen) =>
      asTaken(asPaymentResult(payment, seen, authorization)),
    )
    await applyObservation(context, { paymentId, signature, observation: taken, source })
  }
  const ours = await lookAtOurs(chain, payment, attempts)
  if (ours.landed) return apply(ours.landed)
  const [newest] = attempts
  const isOpen =
    newest &&
    !ours.reverted &&
    (ours.pooled.length > 0 || !(await isVoid(context, { payment, chain }, attempts)))
  if (isOpen)
    return ensureInclusion(
      context,
      { payment, newest, chain },
      ours.pooled.includes(newest.signature),
    )

  if (newest && !ours.reverted) await releaseFee(context.db, payment.id)
  const key = await findClaimKey(context.db, payment.id)
  const authorized = key === undefined ? undefined : readSignedAuthorization(chain, key, payment)
  if (!authorized) return ours.reverted && apply(ours.reverted)
  // A revert of ours shows only that it came too late, or could not be executed at that moment.
  const use = await authorized.contracts.findUse(authorized.authorization, payment.builtHeight)
  if (ours.reverted)
    await recordRevert(
      context,
      { payment, chain, ...authorized },
      { ...ours.reverted, used: use.used },
    )
  if (use.used && use.signature !== null) {
    const observation = await chain.observe(use.signature, (seen) =>
      asPaymentResult(payment, seen, authorized.authorization),
    )
    // A token that kept a part of it moved the rest.
    if (observation.state === 'landed' && !observation.succeeded && key !== undefined)
      await notePossible(context, chain, {
        payment,
        key,
        use: { possible: [use.signature] },
        ...authorized,
      })
    return apply({ signature: use.signature, observation }, authorized.authorization)
  }
  if (use.used && use.signature === null && key !== undefined)
    await notePossible(context, chain, { payment, key, use, ...authorized })
  const failure = await authorizationEndReason(context, payment, { ...authorized, used: use.used })
  if (failure === undefined) return
  await (ours.reverted ? apply(ours.reverted) : fail(context, payment, failure))
}

/**
 * Follows what the service broadcast for a payment that another transaction has paid. Ours has its place among the nonces of its wallet: what is signed after
 * it lands only once it has landed, reverted or not, so it is sent again until that is final.
 * @returns whether nothing is left to follow
 */
export async function monitorOutpaced(
  context: Context,
  { payment, chain, attempts: read }: Following,
): Promise<boolean> {
  const attempts = read ?? (await readAttempts(context.db, payment.id))
  const [newest] = attempts
  // What the payer signed takes no nonce of ours.
  if (!newest || newest.signer === null) return true
  const { landed, reverted, pooled } = await lookAtOurs(chain, payment, attempts)
  const seen = landed ?? reverted
  if (seen?.observation.state === 'landed') {
    const { feeAtomic, finalized } = seen.observation
    // In another block than before it may have cost another fee.
    await recordFeePaid(context.db, {
      paymentId: payment.id,
      signature: seen.signature,
      feeAtomic,
    })
    return finalized
  }
  if (pooled.length === 0 && (await isVoid(context, { payment, chain }, attempts))) return true
  await ensureInclusion(context, { payment, newest, chain }, pooled.includes(newest.signature))
  return false
}

type Undecided = SignedAuthorization & {
  payment: MonitoredRecord
  key: string
  use: { possible: readonly string[] }
}

/** Lists what may have paid it, or paid a part of it, as unmatched: the money has arrived, and only its payee can decide. */
async function notePossible(
  context: Context,
  chain: Chain,
  { payment: { network, accountId }, key, use, authorization }: Undecided,
): Promise<void> {
  if (use.possible.length === 0) return
  // What a caller without a key settles is listed for an owner of the payee alone.
  const own = await findClaim(context.db, { network, key, scope: accountId })
  const executed = { key, authorization, waits: true }
  for (const signature of use.possible)
    await noteUnmatched(context, chain, { signature, accountIds: own ? [accountId] : [], executed })
}

type Reverted = SignedAuthorization & { payment: MonitoredRecord; chain: Chain }

/** Counts what a settlement of ours cost that was reverted, once, and whose code reverted it. */
async function recordRevert(
  context: Context,
  reverted: Reverted,
  { signature, observation, used }: Seen & { used: boolean },
): Promise<void> {
  const { payment } = reverted
  if (observation.state !== 'landed' || !(await isFeeOpen(context.db, payment.id))) return
  const { feeAtomic } = observation
  const refused = !used && (await isRevertOfPayer(reverted, observation))
  await context.db.transaction(async (tx) => {
    await recordFeePaid(tx, { paymentId: payment.id, signature, feeAtomic })
    if (!refused) return
    const { id: paymentId, network, sender: payer } = payment
    await refusePayer(tx, { network, payer, paymentId, transaction: signature })
  })
  if (refused)
    context.log.warn(
      { paymentId: payment.id, payer: payment.sender, transaction: signature },
      'the code of a payer reverted a settlement; it is refused for a day',
    )
}

/**
 * Whether nothing but the payer's own code can have reverted a settlement whose simulation was good.
 * Anybody can execute an authorization first, and a payer may spend its funds elsewhere: neither
 * says anything about its code. What is left when the authorization is unused and in time, and the
 * token would have moved the funds before and after that block, is the check of the signature.
 */
async function isRevertOfPayer(
  { payment, contracts, authorization }: Reverted,
  { height, blockTime }: Extract<Observation, { state: 'landed' }>,
): Promise<boolean> {
  const { token, from, to, amountAtomic, method } = authorization
  const inTime = blockTime !== null && payment.expiresAt !== null && blockTime < payment.expiresAt
  if (!inTime || (await contracts.code(from)) === undefined) return false
  const movement: Omit<TokenMovement, 'height'> = {
    token,
    owner: from,
    recipient: to,
    amountAtomic,
    spender: method === 'permit2' ? PERMIT2 : null,
  }
  return (
    (await contracts.couldMove({ ...movement, height: height - 1 })) &&
    (await contracts.couldMove({ ...movement, height }))
  )
}

type Ours = { landed?: Seen; reverted?: Seen; pooled: string[] }

async function lookAtOurs(
  chain: Chain,
  payment: MonitoredRecord,
  attempts: readonly AttemptRecord[],
): Promise<Ours> {
  const ours: Ours = { pooled: [] }
  for (const { signature } of attempts) {
    const observation = await chain.observe(signature, (seen) => asPaymentResult(payment, seen))
    if (observation.state === 'pending') ours.pooled.push(signature)
    if (observation.state !== 'landed') continue
    if (observation.succeeded) return { ...ours, landed: { signature, observation } }
    ours.reverted = { signature, observation }
  }
  return ours
}

/**
 * Whether another transaction permanently took the nonce of ours in the nonce queue of the wallet that
 * signed them. One of ours that was signed since they were read may be that transaction.
 */
async function isVoid(
  context: Context,
  { payment, chain }: Following,
  attempts: readonly AttemptRecord[],
): Promise<boolean> {
  const [newest] = attempts
  if (!newest || newest.signer === null || newest.nonce === null) return false
  const signatures = attempts.map(({ signature }) => signature)
  const { signer, nonce } = newest
  if (!(await isNonceTaken(chain, payment, { signer, nonce, signatures }))) return false
  const [last] = await readAttempts(context.db, payment.id)
  return last?.number === newest.number
}

async function fail(context: Context, { id }: MonitoredRecord, failure: string): Promise<void> {
  await context.db.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    if (row?.status === 'pending' || row?.status === 'rolled_back')
      await failPayment(tx, row, { failure, at: context.now() })
  })
}
