import * as v from 'valibot'
import { ProblemError } from '#contract/problem.ts'
import type { Context } from '../context/context.ts'
import {
  bindIdentifier,
  readSettlements,
  rebindIdentifier,
  type IdentifiedPayment,
} from '../db/payment-identifiers.ts'
import { readSignedAuthorization } from '../payments/signed-authorization.ts'
import { chainOf } from '../context/network.ts'
import { InputRefusedError, type VerifiedProof, type ExpectedTerms } from '../verification/terms.ts'

/** The extension of x402 by which a payer names a payment, so that it is never paid by two signatures. */
export const PAYMENT_IDENTIFIER = 'payment-identifier'

const Extension = v.object({
  info: v.object({ id: v.optional(v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{16,128}$/))) }),
})

/** The id that a payload names; null where it names none. @throws InputRefusedError `invalid_payload` for one that is not 16 to 128 letters, digits, `-` and `_` */
export function readIdentifier({ extensions }: Readonly<Record<string, unknown>>): string | null {
  const extension =
    typeof extensions === 'object' && extensions !== null
      ? Reflect.get(extensions, PAYMENT_IDENTIFIER)
      : undefined
  if (extension === undefined) return null
  const result = v.safeParse(Extension, extension)
  if (result.success) return result.output.info.id ?? null
  throw new InputRefusedError(
    'invalid_payload',
    `extensions.${PAYMENT_IDENTIFIER}: Expected info.id of 16 to 128 letters, digits, hyphens and underscores.`,
  )
}

type Identified = { identifier: string; terms: ExpectedTerms; verifiedProof: VerifiedProof }

/**
 * Ties an id to a payment whose signature was checked, for the payee and payer of it. The same payment may be presented as often as wanted.
 * @throws `IDEMPOTENCY_CONFLICT` with the state of the payment that the id stands for, as long as that one may still land
 */
export async function tieIdentifier(
  context: Context,
  { identifier, terms, verifiedProof }: Identified,
): Promise<void> {
  const { network, asset, payTo, amountAtomic } = terms
  const { key, payer, authorization } = verifiedProof
  if (key === null || payer === null) return
  const { height } = await chainOf(context, network.network).head()
  const expiresAt =
    authorization && authorization.validBefore < LAST_SECOND
      ? new Date(Number(authorization.validBefore) * 1000)
      : null
  const row = {
    network: network.network,
    payee: payTo,
    payer,
    identifier,
    asset: asset.address,
    amount: amountAtomic,
    key,
    builtHeight: height,
    expiresAt,
  }
  const first = await bindIdentifier(context.db, row)
  if (first.key === key && first.network === network.network) return
  const state = await stateOf(context, first)
  if (state === null && (await rebindIdentifier(context.db, first, row))) return
  throw new ProblemError('IDEMPOTENCY_CONFLICT', {
    message: `Another payment was presented under this ${PAYMENT_IDENTIFIER}, and may still land. Present that one again.`,
    reason: PAYMENT_IDENTIFIER,
    details: { state: state ?? 'replaced' },
  })
}

/** The last second of the year 9999. */
const LAST_SECOND = 253_402_300_799n

/** The state of the payment that an id stands for; null once it can never land. */
async function stateOf(context: Context, first: IdentifiedPayment): Promise<string | null> {
  const settlements = await readSettlements(context.db, first)
  const alive = settlements.find(({ status }) => status !== 'failed' && status !== 'expired')
  if (alive) return alive.status
  if (settlements.length > 0) return null
  const chain = chainOf(context, first.network)
  const authorized = readSignedAuthorization(chain, first.key, {
    asset: first.asset,
    recipient: first.payee,
    amount: first.amount,
    expiresAt: first.expiresAt,
  })
  const ending = await authorized?.contracts.proveEnding(
    authorized.authorization,
    first.builtHeight,
  )
  return ending ? null : 'presented'
}
