import * as v from 'valibot'
import { parseAddress } from '#contract/address.ts'
import type { FacilitatorInput } from '#contract/facilitator.ts'
import { explainIssue } from '#contract/explain-issue.ts'
import { describe } from '#contract/fields.ts'
import { familyOf, findAsset } from '#contract/network.ts'
import { EXACT_SCHEME } from '#x402/methods.ts'
import { readNetwork } from '#x402/networks.ts'
import { readPayload, type PaymentPayload } from '#x402/payload.ts'
import { fromV1, Requirements, RequirementsV1, ResourceInfo } from '#x402/requirements.ts'
import type { Context } from '../context.ts'
import { refuseParameters } from '../payments/network.ts'
import { facilitatorWallets } from './facilitator-wallet.ts'
import type { Terms } from './terms.ts'

/** What a resource server asks of the facilitator, and the payment it got for it. */
export type FacilitatorQuestion = { payment: PaymentPayload; terms: Terms }

/** What is asked, with every problem of it in one answer. @throws `INVALID_PARAMETERS` */
export function readInput(context: Context, { x402Version, paymentPayload, paymentRequirements }: FacilitatorInput): FacilitatorQuestion {
  const details: Record<string, string> = {}
  const payload = readPayload(paymentPayload)
  if (!payload.ok) details.paymentPayload = payload.problem
  else if (payload.payload.x402Version !== x402Version) details.x402Version = 'Expected the version of the payment.'
  const asked = readRequirements(x402Version, paymentRequirements)
  if (typeof asked === 'string') details.paymentRequirements = asked
  if (!payload.ok || typeof asked === 'string' || Object.keys(details).length > 0) throw refuseParameters(details)
  return { payment: payload.payload, terms: toTerms(context, { ...asked, version: x402Version }) }
}

type Asked = { requirements: Requirements; resource: ResourceInfo | null }

/** v1 says the resource within; in v2 a server may say it in `extra`, as a URL or with its description and type. */
function readRequirements(version: 1 | 2, value: unknown): Asked | string {
  const result = version === 1 ? v.safeParse(RequirementsV1, value) : v.safeParse(Requirements, value)
  if (!result.success) return `At ${v.getDotPath(result.issues[0]) ?? 'the root'}: ${explainIssue(result.issues[0])}`
  if ('maxAmountRequired' in result.output) return fromV1(result.output)
  const requirements = result.output
  const { resource } = requirements.extra
  if (resource === undefined) return { requirements, resource: null }
  const told = v.safeParse(ResourceInfo, typeof resource === 'string' ? { url: resource } : resource)
  return told.success ? { requirements, resource: told.output } : `At extra.resource: ${explainIssue(told.issues[0])}`
}

function toTerms(context: Context, { requirements, resource, version }: Asked & { version: 1 | 2 }): Terms {
  const { extra, payTo: payee, amount } = requirements
  const id = readNetwork(requirements.network, version)
  const network = context.config.networks.find((candidate) => candidate.network === id)
  if (!network)
    throw refuseParameters({ paymentRequirements: `Expected a network this service is configured for, received ${describe(requirements.network)}.` })
  const asset = findAsset(network, requirements.asset)
  const payTo = parseAddress(payee)
  const details: Record<string, string> = {}
  if (!asset) details.asset = `Expected an asset of ${network.network} that this service is configured for, received ${describe(requirements.asset)}.`
  if (!payTo.ok || payTo.family !== familyOf(network.network)) details.payTo = `Expected an address of ${network.network}, received ${describe(payee)}.`
  if (BigInt(amount) === 0n) details.amount = 'Expected an amount above 0, received 0.'
  if (requirements.scheme !== EXACT_SCHEME) details.scheme = `Expected ${EXACT_SCHEME}, received ${describe(requirements.scheme)}.`
  if (!asset || !payTo.ok || Object.keys(details).length > 0) throw refuseParameters(details)
  return {
    network,
    asset,
    payTo: payTo.address,
    amountAtomic: BigInt(amount),
    resource: resource?.url ?? null,
    resourceInfo: resource,
    memo: textOf(extra.memo) ?? textOf(extra.paymentId),
    notBefore: secondsOf(extra.notBefore),
    expiresAt: secondsOf(extra.expiresAt),
    sponsors: facilitatorWallets(context, 'solana'),
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** Unix seconds on the wire, milliseconds inside. */
function secondsOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value * 1000 : null
}
