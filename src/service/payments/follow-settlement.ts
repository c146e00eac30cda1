import type { Hex } from 'viem'
import type { Authorization } from '#chains/evm/authorization.ts'
import type { EventSource } from '#contract/payment.ts'
import type { Chain, Observation, Transfer } from '../chains/chain.ts'
import type { Use } from '../chains/contracts.ts'
import type { Context } from '../context.ts'
import { readAttempts } from '../db/attempts.ts'
import { findClaimKey } from '../db/claims.ts'
import { lockPayment, type PaymentRecord } from '../db/payments.ts'
import { applyObservation } from './apply-observation.ts'
import { failPayment } from './fail.ts'
import { pays } from './pays.ts'
import { pushAgain } from './push.ts'

/** An authorization that nobody has carried out so long after its end never will be, even on a chain whose blocks are late. */
const OVER_AFTER_MS = 15 * 60 * 1000

type Landed = Extract<Observation, { state: 'landed' }>
type Following = { payment: PaymentRecord; chain: Chain; source?: EventSource }

/**
 * Looks at everything that may carry out a payment whose proof was handed in: what the service broadcast for it, which is sent again until it lands, and,
 * of an authorization, what anybody else broadcast.
 */
export async function followSettlement(context: Context, { payment, chain, source = 'service' }: Following): Promise<void> {
  const attempts = await readAttempts(context.db, payment.id)
  const apply = async (signature: string, observation: Observation) => {
    await applyObservation(context, { paymentId: payment.id, signature, observation: asOwn(payment, observation), source })
  }
  let reverted: { signature: string; observation: Landed } | undefined
  let pooled = false
  for (const { signature } of attempts) {
    const observation = await chain.observe(signature)
    if (observation.state === 'landed' && observation.succeeded) return apply(signature, observation)
    if (observation.state === 'landed') reverted = { signature, observation }
    if (observation.state === 'pending') pooled = true
  }
  const [newest] = attempts
  if (newest && !reverted) return pooled ? undefined : pushAgain(context, chain, newest)

  // That ours was reverted says only that it came too late, or that nobody could carry it out.
  const use = await findUse(context, payment, chain)
  if (use?.used && use.signature !== null && use.signature !== reverted?.signature) return apply(use.signature, await chain.observe(use.signature))
  if (reverted) return apply(reverted.signature, reverted.observation)
  if (use && !use.used) await failLate(context, payment)
}

/** A transaction that was broadcast for this payment and nothing else: what it moved instead is a failure of this payment. */
function asOwn(payment: PaymentRecord, observation: Observation): Observation {
  if (observation.state === 'not_found') return observation
  const { sender, recipient, asset, amount: amountAtomic } = payment
  const nonce = observation.transfer?.nonce ?? null
  const transfer: Transfer = { sender, recipient, asset, amountAtomic, memo: null, nonce }
  if (observation.state === 'pending') return { state: 'pending', transfer }
  const paid = [...(observation.moved ?? []), observation.transfer].some((moved) => pays(payment, moved, observation.height))
  if (!observation.succeeded || paid) return { ...observation, transfer }
  return { ...observation, transfer, succeeded: false, failure: 'The transaction landed and moved something else than was asked for.' }
}

async function findUse(context: Context, payment: PaymentRecord, { contracts }: Chain): Promise<Use | undefined> {
  const key = contracts && (await findClaimKey(context.db, payment.id))
  const authorization = key ? readKey(key, payment) : undefined
  return authorization && contracts ? contracts.findUse(authorization) : undefined
}

/** The key of an authorization's claim, `permit2:from:nonce` or `asset:from:nonce`; undefined for that of a transaction. */
function readKey(key: string, payment: PaymentRecord): Authorization | undefined {
  const [scope = '', from, nonce] = key.split(':')
  if (from === undefined || nonce === undefined) return undefined
  return {
    method: scope === 'permit2' ? 'permit2' : 'eip3009',
    token: payment.asset as Hex,
    from: from as Hex,
    to: payment.recipient as Hex,
    amountAtomic: payment.amount,
    nonce: nonce as Hex,
    validAfter: 0n,
    validBefore: 0n,
    signature: '0x',
  }
}

async function failLate(context: Context, { id, expiresAt }: PaymentRecord): Promise<void> {
  const at = context.now()
  if (expiresAt === null || at.getTime() < expiresAt.getTime() + OVER_AFTER_MS) return
  await context.db.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    if (row?.status === 'pending') await failPayment(tx, row, { failure: 'Nobody carried out what the payer signed before it ended: nothing was paid.', at })
  })
}
