import type { NetworkId } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import type { ProofCheck, ProofReason } from '#contract/proof.ts'
import { readDatabaseClock } from '#postgres/open.ts'
import type { Context } from '../context/context.ts'
import { chainOf } from '../context/network.ts'
import type { VerificationReport, NewCheck } from './verification-report.ts'

/** The times by which proofs are judged. The clock of this process is none of them: a wrong one must not call a good proof bad. */
export type ProofTime = {
  /** The later of the newest block's time and the database's clock: what is valid by it is accepted. */
  latest: Date
  /** The newest final block's time: what is over by it is over on every fork. */
  finalized: Date
}

/** @throws `CHAIN_UNAVAILABLE` */
export async function readProofTime(context: Context, network: NetworkId): Promise<ProofTime> {
  const [{ head, finalized }, ours] = await Promise.all([
    chainOf(context, network).clock(),
    readDatabaseClock(context.db),
  ])
  return { latest: new Date(Math.max(head.getTime(), ours.getTime())), finalized }
}

/** The proof is not valid at this moment, and not proven to be over: it is not accepted, and nothing is decided. */
export class NotValidNowError extends ProblemError {
  override name = 'NotValidNowError'
  readonly reason: ProofReason
  readonly check: string

  constructor(reason: ProofReason, { name, expected, got, expectedFact, gotFact }: ProofCheck) {
    super('PAYMENT_VERIFICATION_FAILED', {
      message: `The payment proof is not valid now: ${name}. Expected ${expected}, received ${got}. It may still be settled, so nothing is decided.`,
      details: { retryable: true, check: name, expected, got, expectedFact, gotFact },
    })
    this.reason = reason
    this.check = name
  }
}

/**
 * A check of time. Only what is over by the final chain is refused as bad.
 * @throws ProofRefusedError `outside_window`; NotValidNowError
 */
export function checkTime(report: VerificationReport, check: NewCheck, isOver: boolean): void {
  if (check.ok || isOver) return report.check('outside_window', check)
  throw new NotValidNowError('outside_window', report.record(check))
}

/** The moment by which a call has answered, even if the networks have not. */
export class Deadline {
  readonly at: number

  constructor(ms: number) {
    this.at = performance.now() + ms
  }

  get leftMs(): number {
    return Math.max(0, this.at - performance.now())
  }

  get passed(): boolean {
    return this.leftMs === 0
  }

  /** @throws DeadlineExceededError; the pending work is abandoned, so it must be a read, or already recorded */
  async within<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new DeadlineExceededError()), this.leftMs)
    })
    try {
      return await Promise.race([work, late])
    } finally {
      clearTimeout(timer)
    }
  }

  async sleep(ms: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, Math.min(ms, this.leftMs)))
  }
}

export class DeadlineExceededError extends Error {
  override name = 'DeadlineExceededError'
}
