import { describeAmountProblem, formatAmount, parseAmount } from '#contract/amount.ts'
import type { EndpointInput } from '#contract/endpoints.ts'
import { nativeAsset } from '#contract/network.ts'
import type { Actor, Context } from '../context/context.ts'
import { findWallet } from '../db/wallets.ts'
import { refuseParameters } from '../context/network.ts'
import { readIntent, type IntentReading } from '../payments/read-intent.ts'

type Body = EndpointInput<'paymentSend'>['body']

/** In the native currency, both ends included: specification, section 8. */
const BOUNDS = { amount: ['0.001', '100'], priorityFee: ['0.00001', '0.01'] } as const

/**
 * What a hosted payment asks for, and the wallet that pays it. `bounded`: its amount is; a refund is bounded by what arrived.
 * @throws `INVALID_PARAMETERS` with all that is wrong, in one answer
 */
export async function readSend(
  context: Context,
  actor: Actor,
  { body, bounded }: { body: Body; bounded: boolean },
) {
  const wish = readIntent(context.config.networks, body)
  const wallet = await findWallet(context.db, {
    accountId: actor.accountId,
    address: body.walletAddress,
  })
  const details = {
    ...(wish.ok ? {} : wish.details),
    ...outOfBounds(wish, bounded ? body : { priorityFee: body.priorityFee }),
  }
  if (wish.ok && !wish.asset.native)
    details.asset = `Expected the native currency: managed wallets do not pay tokens, received ${wish.asset.symbol}. Have the transaction built with /transaction/send.`
  if (!wallet)
    details.walletAddress ??=
      'Expected a wallet that the service manages for this account; GET /wallets lists them.'
  if (!wish.ok || !wallet || Object.keys(details).length > 0) throw refuseParameters(details)
  return { wish, wallet }
}

function outOfBounds(
  wish: IntentReading,
  body: { amount?: string | undefined; priorityFee?: string | undefined },
): Record<string, string> {
  const decimals = wish.ok ? nativeAsset(wish.network).decimals : 18
  const details: Record<string, string> = {}
  for (const field of ['amount', 'priorityFee'] as const) {
    const text = body[field]
    const problem = text === undefined ? undefined : boundProblem(text, decimals, BOUNDS[field])
    if (problem !== undefined) details[field] = problem
  }
  return details
}

function boundProblem(
  text: string,
  decimals: number,
  [least, most]: readonly [string, string],
): string | undefined {
  const [value, min, max] = [text, least, most].map((number) => parseAmount(number, decimals))
  if (!value || !min?.ok || !max?.ok) return undefined
  if (!value.ok)
    return value.problem === 'not_positive'
      ? `Expected at least ${least}, received ${text}.`
      : describeAmountProblem(value.problem, text, decimals)
  if (value.atomic < min.atomic)
    return `Expected at least ${least}, received ${formatAmount(value.atomic, decimals)}.`
  if (value.atomic > max.atomic)
    return `Expected at most ${most}, received ${formatAmount(value.atomic, decimals)}.`
  return undefined
}
