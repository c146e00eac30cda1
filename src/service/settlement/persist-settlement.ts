import type { Chain, ObservedTransfer } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import type { OpenClaim } from '../db/claims.ts'
import { budgetLock, requireBudget } from '../db/settlement-fees.ts'
import type { PaymentRecord } from '../db/payments.ts'
import { readSenderFunds, allocateNonce, runInQueue } from '../hosted/nonce-queue.ts'
import { requireKnownHistory, requireSending } from '../hosted/require-sending.ts'
import type { Signed } from '../wallets/sign.ts'
import { undecided } from '../verification/verification-report.ts'
import { dailyFees, orNotSigned } from './facilitator-wallet.ts'
import { orUndecided, type Job } from './outcome.ts'
import { recordBroadcastIn, type ValidityLimits, type OutgoingSettlement } from './record.ts'

/**
 * How often a wallet is checked before deferring a settlement that would fit beside fewer others.
 */
const LOOKS = 5
const MAX_PAUSE_MS = 1_000

type Keeping = {
  chain: Chain
  lease: OpenClaim
  transfer: ObservedTransfer
  /** The wallet that pays the network fee, and the most it may be charged. */
  wallet: string
  feeAtomic: bigint
  limits: ValidityLimits
  /** @param nonce its place in the nonce queue of the wallet, where the chain has nonces */
  sign: (nonce: number | null) => Promise<Signed>
}

/**
 * Takes a place in the nonce queue of the wallet that pays the network fee for a settlement, on top of
 * everything it has promised before, has it sign, and stores payment and signed bytes: all in one
 * commit, and nothing when the wallet cannot cover it.
 * @throws `PAYMENT_VERIFICATION_FAILED` when it cannot, or the signer refuses; `RATE_LIMIT` when a
 * budget of network fees is spent; `SERVICE_UNAVAILABLE` when the wallet is stopped or the signer away
 */
export async function persistSettlement(
  context: Context,
  job: Job,
  keeping: Keeping,
): Promise<{ payment: PaymentRecord; signed: OutgoingSettlement }> {
  const { chain, wallet } = keeping
  for (let look = 1; ; look++) {
    const funds = await orUndecided(job.deadline.within(readSenderFunds(context, chain, wallet)))
    await requireKnownHistory(context, chain, { sender: wallet, funds })
    const persisted = await runInQueue(
      context,
      { network: chain.network.network, sender: wallet },
      () => keep(context, job, { ...keeping, funds }),
    )
    if (persisted.ok) {
      context.atPoint?.('settle:persisted')
      return persisted
    }
    // What others have left of the balance is certain a moment after they landed.
    if (!persisted.uncertain || look === LOOKS || job.deadline.passed)
      throw undecided('The fee payer for settlements has too little balance. Nothing is decided.')
    await job.deadline.sleep(Math.min(chain.network.blockTimeMs, MAX_PAUSE_MS))
  }
}

async function keep(
  context: Context,
  job: Job,
  keeping: Keeping & { funds: Awaited<ReturnType<typeof readSenderFunds>> },
) {
  const { chain, lease, transfer, wallet, feeAtomic, limits, funds } = keeping
  const { network } = chain
  const { checks } = job.report
  const made = checks.length
  return context.db.transaction(async (tx) => {
    checks.length = made
    const spending = {
      network: network.network,
      wallet,
      accountId: job.keyless ? null : job.accountId,
      feeAtomic,
    }
    const place = await allocateNonce(tx, {
      network,
      sender: wallet,
      funds,
      amountAtomic: 0n,
      feeAtomic,
      budget: budgetLock(spending),
    })
    if (!place.ok) return place
    await requireSending(tx, { network: network.network, sender: wallet })
    await requireBudget(tx, { ...spending, limits: dailyFees(context, network) })
    const { bytes, signature } = await orNotSigned(context, keeping.sign(place.nonce))
    context.atPoint?.('settle:signed')
    const signed: OutgoingSettlement = {
      bytes,
      signature,
      signer: wallet,
      nonce: place.nonce,
      maxFee: feeAtomic,
      budgetOf: spending.accountId,
    }
    const payment = await recordBroadcastIn(
      { ...context, db: tx },
      { ...job, lease, transfer },
      { limits, signed },
    )
    return { ok: true as const, payment, signed }
  })
}
