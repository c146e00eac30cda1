import { ProblemError } from '#contract/problem.ts'
import { isDatabaseUnavailable } from '#postgres/unavailable.ts'
import type { Context } from '../context/context.ts'
import { readAttempts, type AttemptRecord } from '../db/attempts.ts'
import { lockNonceQueue, type NonceQueue } from '../db/nonce-queue.ts'
import { findPayment, type PaymentRecord } from '../db/payments.ts'

export type PersistedPayment = { payment: PaymentRecord; attempt: AttemptRecord }

const LOOKS = 4
const PAUSE_MS = 500

/**
 * Finds out whether a payment was stored whose commit broke off. Locking its nonce queue waits for that
 * commit to end, either way.
 * @throws the error itself when nothing was stored; `SERVICE_UNAVAILABLE` that names the payment
 * when it stays unknown
 */
export async function recoverCommit(
  context: Context,
  { paymentId, nonceQueue, error }: { paymentId: string; nonceQueue: NonceQueue; error: unknown },
): Promise<PersistedPayment> {
  if (!isDatabaseUnavailable(error)) throw error
  for (let look = 1; ; look++) {
    try {
      const kept = await findKept(context, paymentId, nonceQueue)
      if (kept) return kept
      break
    } catch (again) {
      if (look === LOOKS) throw unknown(paymentId, again)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
  throw error
}

async function findKept(
  context: Context,
  paymentId: string,
  nonceQueue: NonceQueue,
): Promise<PersistedPayment | undefined> {
  return context.db.transaction(async (tx) => {
    await lockNonceQueue(tx, nonceQueue)
    const payment = await findPayment(tx, paymentId)
    const [attempt] = payment ? await readAttempts(tx, paymentId) : []
    return payment && attempt && { payment, attempt }
  })
}

function unknown(paymentId: string, cause: unknown): ProblemError {
  const message =
    'The database was lost while the payment was being kept: whether it is made is not known. ' +
    'GET /payment/status/:paymentId tells, and so does the same request under the same Idempotency-Key.'
  return new ProblemError(
    'SERVICE_UNAVAILABLE',
    { message, details: { paymentId, decided: false }, retryAfter: 2 },
    { cause },
  )
}
