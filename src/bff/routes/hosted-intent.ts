import { parseAddress, readRecipient } from '#contract/address.ts'
import { describeAmountProblem, formatAmount, parseAmount } from '#contract/amount.ts'
import { hostedLimitReason } from '#contract/hosted-intent.ts'
import { familyOf, findAsset, nativeAsset } from '#contract/network.ts'
import { refundableOf } from '#contract/payment.ts'
import { hasRole } from '#contract/role.ts'
import { limitProblem, recipientProblem } from '#contract/reason-problems.ts'
import type { OpenSession } from '../db/sessions.ts'
import { costOf, insertIntent, outflowToday } from '../db/hosted.ts'
import { refuseHosted, refuseOverLimit } from '../hosted/execute.ts'
import { findRule, type HostedRule } from '../config/hosted-rules.ts'
import { roleOf } from '../session/open-session.ts'
import { createNonce } from '../session/random.ts'
import { type OwnCall, type OwnRule, requireRole } from '../session/rule.ts'
import { refuseField } from '../http/parse.ts'
import { readRefundable, requireSameTerms } from './refund.ts'

/** Long enough to read and sign it, short enough that a signature found later is worth nothing. */
const VALID_MS = 5 * 60_000

export const hostedIntent: OwnRule<'hostedIntent'> = async (call) => {
  const { context, visitor, body } = call
  const session = requireRole(visitor, 'operator')
  context.budgets.spendSignIn(visitor.address)
  const rule = ruleOf(context.config.hosted, body)
  const signer = parseAddress(body.signer)
  const maySign =
    session.wallets.includes(body.signer) && hasRole(await roleOf(context, body.signer), 'operator')
  if (!maySign || !signer.ok || signer.family !== familyOf(body.network))
    throw refuseHosted('hosted_signer')
  const amount = readAmount(body, rule)
  const priorityFee = readPriorityFee(body, rule)
  if (body.refundOf !== undefined) await requireRefund(call, session, amount)
  const now = context.now()
  // Looked at again when it is signed; here so that nobody signs in vain.
  const left =
    rule.maxPerDay -
    (await outflowToday(
      context.db,
      { sender: body.from, network: body.network, asset: rule.asset },
      now,
    ))
  const cost = costOf({ amount, priorityFee }, rule.asset)
  if (cost > left) throw refuseOverLimit('hosted_over_day', left - (cost - amount), rule.asset)
  const row = {
    id: createNonce(),
    sessionId: session.id,
    signer: body.signer,
    network: body.network,
    sender: body.from,
    recipient: body.to,
    asset: rule.asset.address,
    amount,
    priorityFee,
    resource: body.resource ?? null,
    description: body.description ?? null,
    reference: body.reference ?? null,
    refundOf: body.refundOf ?? null,
    createdAt: now,
    // Whole seconds: what is signed names it in seconds.
    expiresAt: new Date(Math.floor((now.getTime() + VALID_MS) / 1000) * 1000),
    state: 'open' as const,
    signatureHash: null,
    takenAt: null,
    paymentId: null,
  }
  await insertIntent(context.db, row)
  return {
    value: {
      nonce: row.id,
      amountAtomic: amount.toString(),
      expiresAt: row.expiresAt.getTime() / 1000,
    },
  }
}

/** Before anybody signs; the service looks at all of it again, with the original locked. */
async function requireRefund(
  { context, visitor, body, requestId }: OwnCall<'hostedIntent'>,
  session: OpenSession,
  amount: bigint,
): Promise<void> {
  const { refundOf = '', from, to, network, asset, resource, reference } = body
  if (reference !== undefined)
    throw refuseField('reference', 'Expected none: a refund has the reference of its payment.')
  const original = await readRefundable(
    { context, visitor, session, requestId },
    refundOf,
    'refundOf',
  )
  // Who writes a payment between wallets of their own is not paid back by the merchant's.
  if (from !== original.recipient && original.direction !== 'received')
    throw refuseField('refundOf', 'Expected a payment that a wallet of the account received.')
  requireSameTerms(context, original, {
    recipientAddress: to,
    field: 'to',
    network,
    asset,
    resource,
  })
  const left = refundableOf(original)
  if (amount > left)
    throw refuseField(
      'amount',
      `Expected at most ${formatAmount(left, original.decimals)} ${original.symbol}, what is left of the payment to refund, received ${formatAmount(amount, original.decimals)}.`,
    )
}

type Body = OwnCall<'hostedIntent'>['body']

function ruleOf(rules: readonly HostedRule[], body: Body): HostedRule {
  if (rules.length === 0) throw refuseHosted('hosted_off')
  const network = rules.find((rule) => rule.network.network === body.network)?.network
  const asset = network && findAsset(network, body.asset)
  const rule =
    asset && findRule(rules, { network: body.network, sender: body.from, asset: asset.address })
  if (!rule) throw refuseHosted('hosted_wallet')
  return rule
}

/** As the page spells it: a decimal without zeros at its end. */
function readPriorityFee({ priorityFee }: Body, { network }: HostedRule): string | null {
  if (priorityFee === undefined) return null
  const native = nativeAsset(network)
  const parsed = parseAmount(priorityFee, native.decimals)
  if (!parsed.ok && parsed.problem !== 'not_positive') {
    const problem = describeAmountProblem(parsed.problem, priorityFee, native.decimals)
    throw refuseField('priorityFee', problem)
  }
  const atomic = parsed.ok ? parsed.atomic : 0n
  const limit = hostedLimitReason('priorityFee', atomic, native)
  const text = formatAmount(atomic, native.decimals)
  if (limit) throw limitProblem(limit, text)
  return text
}

function readAmount(body: Body, { asset, maxPerPayment }: HostedRule): bigint {
  const parsed = parseAmount(body.amount, asset.decimals)
  if (!parsed.ok) {
    throw refuseField('amount', describeAmountProblem(parsed.problem, body.amount, asset.decimals))
  }
  if (parsed.atomic > maxPerPayment)
    throw refuseOverLimit('hosted_over_payment', maxPerPayment, asset)
  // The service would refuse it after it is signed.
  const bounded = asset.native && body.refundOf === undefined
  const limit = bounded ? hostedLimitReason('amount', parsed.atomic, asset) : undefined
  if (limit) throw limitProblem(limit, formatAmount(parsed.atomic, asset.decimals))
  const to = readRecipient(body.to, familyOf(body.network))
  if (!to.ok) throw recipientProblem(to.reason, { received: body.to, field: 'to' })
  return parsed.atomic
}
