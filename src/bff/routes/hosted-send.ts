import { findIntent, takeIntent } from '../db/hosted.ts'
import type { HostedRow } from '../db/hosted.ts'
import type { ProxyContext } from '../context/context.ts'
import { insertSessionPayment } from '../db/sessions.ts'
import { carryOut, reconcile } from '../hosted/execute.ts'
import type { SendOutcome } from '../hosted/execute.ts'
import { intentOf } from '../hosted/intent-of.ts'
import { isIntentSigned } from '../hosted/is-signed.ts'
import { refuseHosted } from '../hosted/refuse.ts'
import { findRule } from '../config/hosted-rules.ts'
import { hashCookieValue } from '../session/random.ts'
import type { OpenSession } from '../db/sessions.ts'
import type { OwnCall, OwnRule } from '../session/own-rule.ts'
import { requireOperator } from '../session/rule.ts'

/**
 * Pays from a managed wallet: an operator's session, and a fresh signature over exactly this payment. It is taken once; the same request
 * again is answered with what became of it, and any other signature for it is refused.
 */
export const hostedSend: OwnRule<'hostedSend'> = async (call) => {
  const { context, visitor, body } = call
  const session = requireOperator(visitor)
  context.budgets.spendSignIn(visitor.address)
  if (context.config.hosted.length === 0) throw refuseHosted('hosted_off')
  const row = await findIntent(context.db, body.nonce)
  if (!row || row.sessionId !== session.id) throw refuseHosted('hosted_intent')
  const signatureHash = hashCookieValue(body.signature)
  const outcome =
    row.state === 'open'
      ? await take(call, session, { row, signatureHash })
      : await repeat(call, row, signatureHash)
  if (outcome.paymentId !== null)
    await insertSessionPayment(context.db, { sessionId: session.id, paymentId: outcome.paymentId })
  return { value: outcome }
}

type SendCall = OwnCall<'hostedSend'>

async function take(
  call: SendCall,
  session: OpenSession,
  { row, signatureHash }: { row: HostedRow; signatureHash: string },
): Promise<SendOutcome> {
  const { context, body } = call
  const now = context.now()
  if (row.expiresAt <= now) throw refuseHosted('hosted_expired')
  // What was allowed when it was prepared may not be any more.
  const rule = findRule(context.config.hosted, row)
  if (!rule) throw refuseHosted('hosted_wallet')
  if (!mayOperate(context, session, row.signer)) throw refuseHosted('hosted_signer')
  if (!isIntentSigned(row.signer, intentOf(row, rule), body.signature))
    throw refuseHosted('hosted_signature')
  if (row.amount > rule.maxPerPayment) throw refuseHosted('hosted_over_payment')
  const taken = await takeIntent(context.db, row, { signatureHash, maxPerDay: rule.maxPerDay, now })
  if (taken.kind === 'over_day') throw refuseHosted('hosted_over_day')
  if (taken.kind === 'taken') return carryOut(call, taken.row, rule)
  const again = await findIntent(context.db, row.id)
  if (!again) throw refuseHosted('hosted_intent')
  return repeat(call, again, signatureHash)
}

async function repeat(call: SendCall, row: HostedRow, signatureHash: string): Promise<SendOutcome> {
  if (row.signatureHash !== signatureHash) throw refuseHosted('hosted_used')
  if (row.state === 'sent') return { state: 'sent', paymentId: row.paymentId }
  if (row.state === 'refused') throw refuseHosted('hosted_not_sent')
  return reconcile(call, row)
}

function mayOperate({ config }: ProxyContext, { wallets }: OpenSession, signer: string): boolean {
  return wallets.includes(signer) && config.operatorWallets.includes(signer)
}
