import type { EndpointReply } from '#contract/endpoints.ts'
import type { FacilitatorInput } from '#contract/facilitator.ts'
import { familyOf, nativeAsset, type Network } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import type { ProofCheck } from '#contract/proof.ts'
import { EXACT_SCHEME, methodsOf, TOKEN_TRANSFER_METHOD } from '#x402/methods.ts'
import { spellNetworkV1 } from '#x402/networks.ts'
import type { Actor, Context } from '../context.ts'
import { claimantOf, PAYEE_NOT_OWNED } from '../payments/claimant.ts'
import { Checklist, ProofRefused } from './checklist.ts'
import { Deadline, Late } from './deadline.ts'
import { examine } from './examine.ts'
import { readInput } from './facilitator-input.ts'
import { facilitatorWallets } from './facilitator-wallet.ts'
import { preview } from './preview.ts'
import { fingerprintOf } from './receive.ts'
import { settle } from './settle.ts'
import type { Examined, Terms } from './terms.ts'

/** The x402 facilitator, over the same code that `/payment/receive` runs on: the terms come from the resource server that asks. */

const VERIFY_WITHIN_MS = 10_000
const SETTLE_WITHIN_MS = 60_000
/** The word of x402 for an outcome that is still open. */
const PENDING = 'settlement_pending'

/** `extra.feePayer`: who pays the network on Solana for a payer who wants that, and for every token. */
export function describeSupported(context: Context): EndpointReply<'facilitatorSupported'> {
  const kinds = context.config.networks.flatMap((configured) => {
    const { network, confirmations } = configured
    const [feePayer] = familyOf(network) === 'solana' ? facilitatorWallets(context, 'solana') : []
    const extra = { assetTransferMethods: settledMethods(context, configured), confirmations, ...(feePayer !== undefined && { feePayer }) }
    return ([1, 2] as const).map((x402Version) => ({
      x402Version,
      scheme: EXACT_SCHEME,
      network: x402Version === 1 ? spellNetworkV1(network) : network,
      extra,
    }))
  })
  const signers = { 'eip155:*': facilitatorWallets(context, 'evm'), 'solana:*': facilitatorWallets(context, 'solana') }
  return { kinds, extensions: [], signers: Object.fromEntries(Object.entries(signers).filter(([, addresses]) => addresses.length > 0)) }
}

/** Tokens are settled where a wallet pays the network for that; native currency everywhere. */
function settledMethods(context: Context, network: Network): string[] {
  const ofTokens = facilitatorWallets(context, familyOf(network.network)).length > 0 && network.assets.some(({ native }) => !native)
  const named = ofTokens ? methodsOf(network.network, { native: false }).filter((method) => method !== TOKEN_TRANSFER_METHOD) : []
  return [...methodsOf(network.network, nativeAsset(network)), ...named]
}

/** Whether a payment could be settled now. Reads only: nothing is held, broadcast or recorded. */
export async function verifyPayment(context: Context, actor: Actor, input: FacilitatorInput): Promise<EndpointReply<'facilitatorVerify'>> {
  const { payment, terms } = readInput(context, input)
  const checklist = new Checklist()
  const deadline = new Deadline(VERIFY_WITHIN_MS)
  try {
    const examined = await examine({ payment, terms, checklist })
    const claimant = await claimantOf(context.db, actor, { network: terms.network.network, address: terms.payTo })
    const payer = await deadline.within(preview(context, { accountId: actor.accountId, claimant, terms, examined, checklist, deadline }))
    return { isValid: true, ...(payer !== null && { payer }), extra: checked(checklist) }
  } catch (error) {
    const extra = checked(checklist)
    if (error instanceof ProofRefused) return { isValid: false, invalidReason: error.reason, invalidMessage: error.message, extra }
    if (isForeignPayee(error)) return { isValid: false, invalidReason: PAYEE_NOT_OWNED, invalidMessage: error.message, extra }
    if (error instanceof Late || isOpen(error)) return { isValid: false, invalidReason: PENDING, invalidMessage: 'Nothing is decided yet; ask again.', extra }
    throw error
  }
}

function checked({ checks }: Checklist): { checks: ProofCheck[] } {
  return { checks: [...checks] }
}

/** Settles a payment. One payment settles once; a second try fails, whoever makes it. An `Idempotency-Key` gets the first answer again. */
export async function settlePayment(context: Context, actor: Actor, input: FacilitatorInput): Promise<EndpointReply<'facilitatorSettle'>> {
  const { payment, terms } = readInput(context, input)
  const { network } = terms.network
  const checklist = new Checklist()
  let examined: Examined | undefined
  try {
    examined = await examine({ payment, terms, checklist })
    const job = {
      accountId: actor.accountId,
      claimant: await claimantOf(context.db, actor, { network, address: terms.payTo }),
      terms,
      examined,
      checklist,
      deadline: new Deadline(settleMs(terms, context.now())),
      fingerprint: fingerprintOf(terms, null),
    }
    const settled = await settle(context, job)
    const payer = settled.payment?.sender ?? examined.payer
    const told = {
      ...(payer !== null && { payer }),
      transaction: settled.payment?.signature ?? settled.payment?.reportedSignature ?? examined.signature ?? '',
      network,
      ...(settled.payment && { paymentId: settled.payment.id }),
    }
    // An earlier settlement that was left open is brought to its end; one that was told is no second grant.
    if (settled.state === 'pending') return { success: false, errorReason: PENDING, ...told }
    return settled.alreadyProcessed ? { success: false, errorReason: 'already_used', ...told } : { success: true, ...told }
  } catch (error) {
    const told = { transaction: '', network }
    if (error instanceof ProofRefused) return { success: false, errorReason: error.reason, errorMessage: error.message, ...told }
    if (isForeignPayee(error)) return { success: false, errorReason: PAYEE_NOT_OWNED, errorMessage: error.message, ...told }
    if (isOpen(error)) return { success: false, errorReason: PENDING, ...told, transaction: examined?.signature ?? '' }
    throw error
  }
}

function isForeignPayee(error: unknown): error is ProblemError {
  return error instanceof ProblemError && error.facts.details?.reason === PAYEE_NOT_OWNED
}

function isOpen(error: unknown): boolean {
  return error instanceof ProblemError && (error.code === 'PAYMENT_VERIFICATION_FAILED' || error.code === 'CHAIN_UNAVAILABLE')
}

function settleMs({ expiresAt }: Terms, now: Date): number {
  return expiresAt === null ? SETTLE_WITHIN_MS : Math.min(SETTLE_WITHIN_MS, Math.max(1_000, expiresAt - now.getTime()))
}
