import { fact } from '#contract/facts.ts'
import { isDatabaseUnavailable, type Database } from '#postgres/open.ts'
import type { Caller, Context } from '../context/context.ts'
import {
  consumeOnce,
  extendClaims,
  ASSIGNED,
  isClaimed,
  releaseClaim,
  revokeGrant,
  takeClaim,
  wasGranted,
  type Claimant,
  type ClaimRecord,
  type ClaimInUse,
  type OpenClaim,
  type SettlingCall,
  type TransferKey,
} from '../db/claims.ts'
import { LEASE_RENEWAL_MS } from '../db/lease.ts'
import { undecided, type VerificationReport } from '../verification/verification-report.ts'
import type { Deadline } from '../verification/proof-time.ts'
import { orUndecided, type Job } from './outcome.ts'

export type TransferClaim = TransferKey & {
  claimant: Claimant
  fingerprint: string
  deadline: Deadline
  report: VerificationReport
  attempt?: string | undefined
}

const POLL_MS = 100
/**
 * A call that waits for another attempt looks less and less often, down to this: it learns of the
 * end of that attempt at most a second late.
 */
const MAX_POLL_MS = 1_000

/** The check that a transfer does not pass which another caller settles, and of which nobody was told success yet. */
export const IN_SETTLEMENT = 'in_settlement'

/**
 * Holds a payment for this attempt, or finds what it was used for by the same question of the same account. While another attempt looks at it, this one waits,
 * and only reads.
 * @throws ProofRefusedError `already_used`; `PAYMENT_VERIFICATION_FAILED` when the other attempt outlasts this call
 */
export async function claimTransfer(
  { db }: Pick<Context, 'db'>,
  { network, key, claimant, fingerprint, deadline, report, attempt }: TransferClaim,
): Promise<{ lease: OpenClaim } | { used: ClaimRecord }> {
  let pause = POLL_MS
  while (!deadline.passed) {
    const answer = await takeClaim(db, {
      network,
      key,
      ...claimant,
      fingerprint,
      ...(attempt !== undefined && { attempt }),
    })
    if (answer.taken) {
      report.check('already_used', {
        name: 'single_use',
        source: 'record',
        ok: true,
        expected: fact('never_used'),
        got: fact('never_used'),
      })
      return { lease: answer.lease }
    }
    const { claim } = answer
    if (claim?.consumedAt) {
      const same = claim.scope === claimant.scope && claim.fingerprint === fingerprint
      report.check('already_used', {
        name:
          same || wasGranted(claim) || claim.attempt === ASSIGNED ? 'single_use' : IN_SETTLEMENT,
        source: 'record',
        ok: same,
        expected: fact('unused_or_same_question'),
        got: fact(same ? 'same_question' : 'used'),
      })
      return { used: claim }
    }
    do {
      await deadline.sleep(pause)
      pause = Math.min(2 * pause, MAX_POLL_MS)
    } while (!deadline.passed && (await isClaimed(db, { network, key, scope: claimant.scope })))
  }
  throw undecided(
    'Another request is looking at this proof. Nothing is decided; send the same request again.',
  )
}

/** What this process works on, by its database, and what extends it. */
const working = new WeakMap<Database, { claims: Set<ClaimInUse>; heartbeat: NodeJS.Timeout }>()

/**
 * Works on a payment that is claimed, and gives it back unless it was used up. All that are claimed at one time are extended by one
 * statement. A failed heartbeat costs the lease at most: later writes under it are refused.
 */
export async function withClaim<T>(
  { db }: Pick<Context, 'db'>,
  { lease, waits = () => true }: Pick<ClaimInUse, 'lease'> & Partial<ClaimInUse>,
  work: () => Promise<T>,
): Promise<T> {
  const { claims, heartbeat } = working.get(db) ?? startHeartbeat(db)
  const claim = { lease, waits }
  claims.add(claim)
  try {
    return await work()
  } finally {
    claims.delete(claim)
    if (claims.size === 0) {
      clearInterval(heartbeat)
      working.delete(db)
    }
    if (!lease.consumed) await releaseClaim(db, lease)
  }
}

function startHeartbeat(db: Database) {
  const claims = new Set<ClaimInUse>()
  const heartbeat = setInterval(
    () => void extendClaims(db, claims).catch(() => {}),
    LEASE_RENEWAL_MS,
  )
  const started = { claims, heartbeat }
  working.set(db, started)
  return started
}

type Granting = Pick<Context, 'db' | 'log'>

/** How long a call looks whether it was granted, after the database was lost. */
const LOOK_FOR_MS = 15_000
const LOOK_PAUSE_MS = 500

/**
 * Whether this call may report that the payment is there. Another call that settles it takes
 * precedence while it lives.
 */
export async function isGranted(
  context: Granting,
  { caller, deadline }: Pick<Job, 'caller' | 'deadline'>,
  call: SettlingCall,
): Promise<boolean> {
  const revoking = revocations.get(call.paymentId)
  if (revoking) await orUndecided(deadline.within(revoking))
  for (;;) {
    const answer = await recoverGrant(context, caller, call)
    if (answer === 'granted') caller?.ifUnanswered(() => revoke(context, call))
    if (answer !== 'waiting' || deadline.passed) return answer === 'granted'
    await deadline.sleep(POLL_MS)
  }
}

/**
 * Consumes the payment for this call. Where the database is lost before it answers, the grant may be
 * committed: the call asks again, and otherwise has the grant revoked once the database is back.
 * @throws the database's error when it stays unknown
 */
async function recoverGrant(
  context: Granting,
  caller: Caller | undefined,
  call: SettlingCall,
): ReturnType<typeof consumeOnce> {
  const until = performance.now() + LOOK_FOR_MS
  let lost = false
  for (;;) {
    try {
      return await consumeOnce(context.db, call)
    } catch (error) {
      const unavailable = isDatabaseUnavailable(error)
      lost ||= unavailable
      if (!lost) throw error
      if (!unavailable || caller?.gone || performance.now() > until) {
        revoke(context, call).catch((failed: unknown) =>
          context.log.error({ err: failed, ...call }, 'a grant that nobody was told of is left'),
        )
        throw error
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_PAUSE_MS))
    }
  }
}

/** Grants of this process that nobody was told of, by payment, until they are revoked. */
const revocations = new Map<string, Promise<void>>()

/** Revokes the grant of a call, however long the database is away. Further calls wait for it. */
async function revoke({ db }: Granting, call: SettlingCall): Promise<void> {
  const revoking = untilAvailable(() => revokeGrant(db, call))
  const earlier = revocations.get(call.paymentId)
  const over = Promise.allSettled([earlier, revoking]).then(() => {})
  revocations.set(call.paymentId, over)
  // Only once the earlier ones have ended too: a call that comes between waits for all.
  void over.then(() => {
    if (revocations.get(call.paymentId) === over) revocations.delete(call.paymentId)
  })
  await revoking
}

async function untilAvailable(work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error
      await new Promise((resolve) => setTimeout(resolve, LOOK_PAUSE_MS))
    }
  }
}
