import { fact, textFact } from '#contract/facts.ts'
import { isPaid } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import type { ProofCheck } from '#contract/proof.ts'
import type { Caller } from '../context/context.ts'
import type { Claimant } from '../db/claims.ts'
import type { PaymentRecord } from '../db/payments.ts'
import { undecided, type VerificationReport } from '../verification/verification-report.ts'
import { DeadlineExceededError, type Deadline } from '../verification/proof-time.ts'
import type { ProofUnderCheck } from '../verification/validate-transfer.ts'

/** Another party that verifies and settles before the chain is asked; both throw when it does not agree. `settle`: the transaction it names. */
export type Remote = { verify: () => Promise<void>; settle: () => Promise<string | null> }

export type Job = ProofUnderCheck & {
  claimant: Claimant
  fingerprint: string
  deadline: Deadline
  remote?: Remote
  /** Names this call among those that settle the same payment. */
  attempt?: string
  /** Undefined where an answer that was not written can be fetched later. */
  caller?: Caller | undefined
  /** Whether the caller has no account: it settles only what nobody has broadcast yet. */
  keyless?: boolean
}

export type Settled = {
  state: 'paid' | 'pending'
  /** Null while nothing is recorded: the payer's own transaction has not landed yet. */
  payment: PaymentRecord | null
  /** Whether an earlier call was told already that this payment is there. */
  alreadyProcessed: boolean
  /** Whether somebody had been told so before this call began to look. */
  reportedBefore?: boolean
  checks: readonly ProofCheck[]
}

type ReportedFacts = Pick<Settled, 'alreadyProcessed' | 'reportedBefore' | 'checks'>

/** @throws ProofRefusedError when the payment is over and has failed */
export function outcome(
  { report }: { report: VerificationReport },
  payment: PaymentRecord,
  facts: ReportedFacts,
): Settled {
  const over = payment.status === 'failed' || payment.status === 'expired'
  if (over)
    report.check('transaction_failed', {
      name: 'transaction',
      source: 'chain',
      ok: false,
      expected: fact('landed_and_succeeded'),
      got:
        payment.failure === null
          ? { code: 'status', params: { status: payment.status } }
          : textFact(payment.failure),
    })
  return { state: isPaid(payment.status) ? 'paid' : 'pending', payment, ...facts }
}

export function pending({ report }: Job): Settled {
  return { state: 'pending', payment: null, alreadyProcessed: false, checks: report.checks }
}

export async function orUndecided<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof DeadlineExceededError)
      throw undecided('The network did not answer in time. Nothing is decided.')
    throw error
  }
}

/** A look at what is recorded already: undefined when the time is up or the network is away. The payment is on its way all the same. */
export async function seenOr<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look
  } catch (error) {
    if (
      error instanceof DeadlineExceededError ||
      (error instanceof ProblemError && error.code === 'CHAIN_UNAVAILABLE')
    )
      return undefined
    throw error
  }
}

/** The payee has settled this very question itself while it was looked at: nothing is refused, and the next look finds it. */
export class ClaimSupersededError extends Error {
  override name = 'ClaimSupersededError'
}
