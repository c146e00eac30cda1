import { fact } from '#contract/facts.ts'
import type { Context } from '../context/context.ts'
import {
  extendClaim,
  ASSIGNED,
  releaseClaim,
  takeClaim,
  wasGranted,
  type Claimant,
  type ClaimRecord,
  type OpenClaim,
  type TransferKey,
} from '../db/claims.ts'
import { whileBeating } from '../db/lease.ts'
import { undecided, type VerificationReport } from '../verification/verification-report.ts'
import type { Deadline } from '../verification/proof-time.ts'

export type TransferClaim = TransferKey & {
  claimant: Claimant
  fingerprint: string
  deadline: Deadline
  report: VerificationReport
  attempt?: string | undefined
}

const POLL_MS = 100

/** The check that a transfer does not pass which another caller settles, and of which nobody was told success yet. */
export const IN_SETTLEMENT = 'in_settlement'

/**
 * Holds a payment for this attempt, or finds what it was used for by the same question of the same account. While another attempt looks at it, this one waits.
 * @throws ProofRefused `already_used`; `PAYMENT_VERIFICATION_FAILED` when the other attempt outlasts this call
 */
export async function claimTransfer(
  context: Context,
  { network, key, claimant, fingerprint, deadline, report, attempt }: TransferClaim,
): Promise<{ held: OpenClaim } | { used: ClaimRecord }> {
  while (!deadline.passed) {
    const answer = await takeClaim(context.db, {
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
      return { held: answer.held }
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
    await deadline.sleep(POLL_MS)
  }
  throw undecided(
    'Another request is looking at this proof. Nothing is decided; send the same request again.',
  )
}

/** `waits`: whether the caller still waits for the outcome. */
type Holding = { held: OpenClaim; waits?: () => boolean }

/** Works on a payment that is held, and gives it back unless it was used up. */
export async function withClaim<T>(
  { db }: Context,
  { held, waits = () => true }: Holding,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await whileBeating(() => extendClaim(db, held, waits()), work)
  } finally {
    await releaseClaim(db, held)
  }
}
