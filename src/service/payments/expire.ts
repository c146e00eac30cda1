import type { Database } from '#postgres/open.ts'
import type { Chain, Head, Observation, MonitoredTransaction } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { findClaimKey } from '../db/claims.ts'
import {
  findFinalReceived,
  lockPayment,
  movePayment,
  NOT_IN_BLOCK,
  type MonitoredRecord,
} from '../db/payments.ts'
import { recordEvent } from '../db/record-event.ts'
import { releaseFee } from '../db/settlement-fees.ts'
import { applyObservation } from './apply-observation.ts'

type Expiring = Pick<Context, 'db' | 'now'>
type Late = { payment: MonitoredRecord; monitored: MonitoredTransaction; chain: Chain; head: Head }

/**
 * Ends a payment that can no longer land: `expired` when nothing of it was ever seen, `failed` when it had been broadcast.
 * Past the deadline alone proves nothing. Where the chain may never give the proof (EVM, an unused nonce), an unseen payment expires after
 * a grace, and the chain can still undo that. A refund does not: what it holds would be free while a wallet may still send it. Until it is seen,
 * reported or not, a person releases it (`releaseRefund`); that its nonce was used proves nothing, as wallets choose nonces when they sign.
 */
export async function expire(
  context: Expiring,
  { payment, monitored, chain, head }: Late,
): Promise<boolean> {
  if (payment.lastValidBlockHeight === null || head.blockHeight <= payment.lastValidBlockHeight)
    return false
  const unseen = payment.status === 'created'
  const holds = payment.refundOf !== null && chain.graceBlocks !== null && unseen
  if (holds) return false
  const known = payment.signature ?? payment.reportedSignature
  const seen: Observation = known === null ? { state: 'not_found' } : await chain.observe(known)
  // What the chain shows may still confirm; its own nonce says nothing against it.
  if (mayConfirm(payment, seen)) return false
  const graceIsOver =
    chain.graceBlocks !== null &&
    head.blockHeight > payment.lastValidBlockHeight + chain.graceBlocks
  if (!(unseen && graceIsOver) && !(await canNeverLand(context, { payment, monitored, chain })))
    return false
  if (payment.mode === 'received' && (await mayHaveLandedOtherwise(context, payment, chain)))
    return false

  return context.db.transaction(async (tx) => {
    const row = await lockPayment(tx, payment.id)
    // What was reported or signed for it meanwhile may still land.
    const isSame =
      row !== undefined &&
      (['status', 'signature', 'reportedSignature', 'lastValidBlockHeight'] as const).every(
        (fact) => row[fact] === payment[fact],
      )
    if (!isSame) return false
    const at = context.now()
    const to = unseen ? 'expired' : 'failed'
    const failure =
      (seen.state === 'landed' && seen.failure) ||
      'The transaction was broadcast, did not land, and can no longer land: nothing was paid.'
    const facts = unseen ? {} : { failure, ...NOT_IN_BLOCK }
    await movePayment(tx, { id: row.id, from: row.status, to, at, facts })
    if (row.mode === 'received') await releaseFee(tx, row.id)
    await recordEvent(tx, {
      accountId: row.accountId,
      paymentId: row.id,
      status: to,
      source: 'watcher',
      blockHeight: head.height,
      at,
    })
    return true
  })
}

/** A transaction that names the order, and is final as another payment, keeps it open no longer. */
async function canNeverLand(
  { db }: Expiring,
  { payment, monitored, chain }: Omit<Late, 'head'>,
): Promise<boolean> {
  if (await chain.canNeverLand(monitored)) return true
  if (payment.mode !== 'local' || chain.graceBlocks !== null) return false
  const taken = await findFinalReceived(db, payment)
  return taken.length > 0 && chain.canNeverLand({ ...monitored, taken })
}

/**
 * A transfer that landed and that nothing ties to this order keeps no order open: the payer's signature revives it. Nor does a final
 * failure that moved nothing (Solana).
 */
function mayConfirm({ mode, evidence }: MonitoredRecord, seen: Observation): boolean {
  if (seen.state === 'not_found') return false
  if (seen.state === 'landed' && seen.finalized && seen.failedBlockhash !== undefined)
    return mode !== 'local'
  return mode !== 'local' || evidence !== null || seen.state !== 'landed' || !seen.finalized
}

const MESSAGE = 'message:'

/** Whether a payer has signed the message of a proof once more and broadcast that, or may have: it is this payment, under another signature. */
async function mayHaveLandedOtherwise(
  context: Expiring,
  payment: MonitoredRecord,
  chain: Chain,
): Promise<boolean> {
  const key = await findClaimKey(context.db, payment.id)
  if (!key?.startsWith(MESSAGE)) return false
  const { id: paymentId, asset, sender, recipient, builtHeight } = payment
  const signature = await chain.findByMessage({
    asset,
    sender,
    recipient,
    builtHeight,
    messageHash: key.slice(MESSAGE.length),
  })
  if (signature === null) return false
  if (signature === undefined) return true
  await applyObservation(context, {
    paymentId,
    signature,
    observation: await chain.observe(signature),
    source: 'watcher',
  })
  return true
}

/** Ends a hosted payment that can no longer land, in the transaction that has locked it; what it reserved is free again. */
export async function failPayment(
  tx: Database,
  row: MonitoredRecord,
  { failure, at }: { failure: string; at: Date },
): Promise<void> {
  await movePayment(tx, {
    id: row.id,
    from: row.status,
    to: 'failed',
    at,
    facts: { failure, ...NOT_IN_BLOCK },
  })
  await recordEvent(tx, {
    accountId: row.accountId,
    paymentId: row.id,
    status: 'failed',
    source: 'watcher',
    blockHeight: null,
    at,
  })
}
