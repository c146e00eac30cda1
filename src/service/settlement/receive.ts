import { createHash } from 'node:crypto'
import { describeAmountProblem, formatAmount, parseAmount } from '#contract/amount.ts'
import type { EndpointReply } from '#contract/endpoints.ts'
import { fact, type CheckFact } from '#contract/facts.ts'
import { describe } from '#contract/fields.ts'
import { LosslessNumber, stringifyJson } from '#contract/json.ts'
import { findAsset, nativeAsset } from '#contract/network.ts'
import type { ReceiveInput } from '#contract/receive.ts'
import { methodsOf } from '#x402/methods.ts'
import { decodePayload, type PaymentPayload } from '#x402/payload.ts'
import type { Actor, Context } from '../context/context.ts'
import { claimantOf } from '../payments/attribution.ts'
import { chooseNetwork, refuseParameters } from '../context/network.ts'
import { VerificationReport } from '../verification/verification-report.ts'
import { Deadline } from '../verification/proof-time.ts'
import { verifyProof } from '../verification/verify-proof.ts'
import { facilitatorWallets, withOwnFacilitators } from './facilitator-wallet.ts'
import type { Settled } from './outcome.ts'
import { defaultFacilitator, openRemote, readFacilitator } from './remote.ts'
import { settle } from './settle.ts'
import type { VerifiedProof, ExpectedTerms } from '../verification/terms.ts'

/**
 * Checks a payment proof against what the seller expects and against the chain itself, and uses it
 * up.
 * @throws `INVALID_PARAMETERS`; `INVALID_PAYMENT_PROOF` only for a proof that is proven bad;
 * `PAYMENT_VERIFICATION_FAILED`, `CHAIN_UNAVAILABLE` when nothing is decided
 */
export async function receivePayment(
  service: Context,
  actor: Actor,
  body: ReceiveInput,
): Promise<EndpointReply<'paymentReceive'>> {
  const startedAt = performance.now()
  const context = await withOwnFacilitators(service, actor.accountId)
  const deadline = new Deadline(body.timeout * 1000)
  // Where the payee pays the network fee, it settles itself (`/transaction/receive`); its proof is
  // recognized here too.
  const terms = readTerms(context, body, [
    ...facilitatorWallets(context, 'solana'),
    body.walletAddress,
  ])
  const facilitator = chooseFacilitator(context, body, terms)
  const claimant = await claimantOf(context.db, actor, {
    network: terms.network.network,
    address: terms.payTo,
  })
  const report = new VerificationReport()
  const payment = readProof(body.paymentProof, report)
  const verifiedProof = await verifyProof({ payment, terms, report })
  const remote =
    facilitator && openRemote(context, { url: facilitator, payment, terms, report, deadline })
  const fingerprint = fingerprintOf(terms, facilitator?.href ?? null)
  const settled = await settle(context, {
    accountId: actor.accountId,
    claimant,
    terms,
    verifiedProof,
    report,
    deadline,
    fingerprint,
    remote,
    caller: actor.caller,
  })
  return reply({
    context,
    terms,
    verifiedProof,
    settled,
    startedAt,
    verifiedBy: facilitator?.href ?? 'in-process',
  })
}

/** @throws ProofRefusedError `malformed` */
export function readProof(text: string, report: VerificationReport): PaymentPayload {
  const decoded = decodePayload(text)
  const got: CheckFact = decoded.ok
    ? fact('such_payment')
    : { code: 'unreadable', params: { problem: decoded.problem } }
  report.check('malformed', {
    name: 'format',
    source: 'proof',
    ok: decoded.ok,
    expected: fact('base64_payment'),
    got,
  })
  if (!decoded.ok) throw new TypeError('The check above has refused this.')
  return decoded.payload
}

type Expected = Omit<ReceiveInput, 'timeout'>

/**
 * Who verifies besides the service: the one that is named, or the one configured where the service
 * does not settle the asset.
 */
export function chooseFacilitator(
  context: Context,
  { facilitatorUrl }: Expected,
  terms: ExpectedTerms,
): URL | undefined {
  return facilitatorUrl === undefined
    ? defaultFacilitator(context, terms)
    : readFacilitator(context, facilitatorUrl)
}

/**
 * What is expected, with every problem of it in one answer. `feePayers`: who may pay the network fee
 * for the payer.
 */
export function readTerms(
  context: Context,
  body: Expected,
  feePayers: readonly string[],
): ExpectedTerms {
  const choice = chooseNetwork(context.config.networks, body.walletAddress, body.network)
  if (!choice.ok)
    throw refuseParameters({
      [body.network === undefined ? 'walletAddress' : 'network']: choice.problem,
    })
  const { network } = choice
  const native = nativeAsset(network)
  const details: Record<string, string> = {}
  const asset = findAsset(network, body.asset)
  if (!asset)
    details.asset = `Expected ${network.assets.map(({ symbol }) => symbol).join(' or ')}, or the address of one, received ${describe(body.asset)}.`
  const amount = parseAmount(body.expectedAmount, (asset ?? native).decimals)
  if (!amount.ok)
    details.expectedAmount = describeAmountProblem(
      amount.problem,
      body.expectedAmount,
      (asset ?? native).decimals,
    )
  if (body.facilitatorUrl !== undefined && !readFacilitator(context, body.facilitatorUrl)) {
    details.facilitatorUrl = `Expected a facilitator that this service is configured for, received ${describe(body.facilitatorUrl)}.`
  }
  const method = body.assetTransferMethod
  if (asset && method !== undefined && !methodsOf(network.network, asset).includes(method))
    details.assetTransferMethod = `Expected ${methodsOf(network.network, asset).join(' or ')}, received ${describe(method)}.`
  if (body.resource?.includes('\0')) details.resource = 'Expected a URL without a null character.'
  if (!asset || !amount.ok || Object.keys(details).length > 0) throw refuseParameters(details)
  return {
    network,
    asset,
    payTo: body.walletAddress,
    amountAtomic: amount.atomic,
    resource: body.resource ?? null,
    memo: body.memo ?? null,
    method: method ?? null,
    notBefore: body.notBefore ?? null,
    expiresAt: body.expiresAt ?? null,
    resourceInfo: null,
    feePayers,
  }
}

/**
 * The question that is asked of a proof; how long to wait is not part of it. Each caller without an
 * account asks only for itself.
 */
export function fingerprintOf(
  { network, asset, payTo, amountAtomic, resource, memo }: ExpectedTerms,
  facilitator: string | null,
  { keyless = false, address = '' }: Pick<Actor, 'keyless' | 'address'> = {},
): string {
  const question = [
    network.network,
    asset.address,
    payTo,
    amountAtomic.toString(),
    resource,
    memo,
    facilitator,
    ...(keyless ? [address] : []),
  ]
  return createHash('sha256').update(stringifyJson(question)).digest('hex')
}

type Answer = {
  context: Context
  terms: ExpectedTerms
  verifiedProof: VerifiedProof
  settled: Settled
  startedAt: number
  verifiedBy: string
}

function reply({
  context,
  terms,
  verifiedProof,
  settled,
  startedAt,
  verifiedBy,
}: Answer): EndpointReply<'paymentReceive'> {
  const { payment, state, alreadyProcessed, checks } = settled
  const { network, asset, payTo, amountAtomic, resource } = terms
  return {
    success: true,
    verified: state === 'paid',
    alreadyProcessed,
    paymentId: payment?.id ?? null,
    signature: payment?.signature ?? payment?.reportedSignature ?? verifiedProof.signature ?? '',
    status: payment?.status ?? 'pending',
    network: network.network,
    asset: asset.address,
    symbol: asset.symbol,
    decimals: asset.decimals,
    amountReceived: new LosslessNumber(
      formatAmount(payment?.amount ?? amountAtomic, asset.decimals),
    ),
    amountAtomic: (payment?.amount ?? amountAtomic).toString(),
    sender: payment?.sender ?? verifiedProof.payer,
    recipient: payTo,
    resource: resource ?? payment?.resource ?? verifiedProof.resource,
    blockHeight: payment?.blockHeight ?? null,
    timestamp: (payment?.createdAt ?? context.now()).getTime(),
    verificationTime: `${Math.round(performance.now() - startedAt)}ms`,
    verifiedBy,
    checks: [...checks],
  }
}
