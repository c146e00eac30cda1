import { ProblemError } from '#contract/problem.ts'
import type { Chain, SenderFunds } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { isUniqueViolation } from '../db/unique-violation.ts'
import { findByIdempotencyKey, type PaymentRecord } from '../db/payments.ts'
import { readSenderFunds } from './nonce-queue.ts'
import { runInQueue } from './serialize.ts'
import { refuseBuilt } from '../payments/refuse-built.ts'
import { reserve, type TransferOrder } from './reserve.ts'
import { recoverCommit, type PersistedPayment } from './recover-commit.ts'

/** How often a wallet is looked at before a payment is refused that would fit beside fewer others. */
const LOOKS = 5
const MAX_PAUSE_MS = 1_000

/**
 * Keeps a payment once its wallet bears it. What other payments of the nonce queue have left of the balance is certain a moment after they landed, so a refusal
 * that depends on it is looked at again.
 * @throws `INSUFFICIENT_BALANCE` when the wallet does not bear it beside what is under way; `SERVICE_UNAVAILABLE` when it is not known whether it was kept
 */
export async function persist(
  context: Context,
  chain: Chain,
  { order, funds, secret }: { order: TransferOrder; funds: SenderFunds; secret: Uint8Array },
): Promise<PersistedPayment> {
  const { paymentId, network, sender, recipient } = order.intent
  let seen = funds
  for (let look = 1; ; look++) {
    const funded = { funds: seen, secret }
    const outcome = await runInQueue(context, { network, sender }, () =>
      reserve(context, order, funded),
    ).catch(async (error: unknown) => {
      const kept = await recoverCommit(context, {
        paymentId,
        nonceQueue: { network, sender },
        error,
      })
      return { ok: true as const, ...kept }
    })
    if (outcome.ok) return outcome
    if (!outcome.uncertain || look === LOOKS) throw refuseBuilt(outcome.shortage, recipient)
    await new Promise((resolve) =>
      setTimeout(resolve, Math.min(chain.network.blockTimeMs, MAX_PAUSE_MS)),
    )
    seen = await readSenderFunds(context, chain, sender)
  }
}

type Idempotency = { key: string; fingerprint: string }

/**
 * The payment that a request under this key has made already, if any.
 * @throws `IDEMPOTENCY_CONFLICT` when that was another request
 */
export async function findEarlier(
  context: Context,
  accountId: string,
  idempotency: Idempotency | undefined,
): Promise<PaymentRecord | undefined> {
  const earlier =
    idempotency && (await findByIdempotencyKey(context.db, accountId, idempotency.key))
  if (earlier && earlier.idempotencyFingerprint !== idempotency?.fingerprint)
    throw new ProblemError('IDEMPOTENCY_CONFLICT')
  return earlier
}

/** Whether a payment was refused because another request under its key had just been kept. */
export function isSecondOfKey(error: unknown): boolean {
  return isUniqueViolation(error, 'payment_idempotency')
}
