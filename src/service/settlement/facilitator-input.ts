import * as v from 'valibot'
import { parseAddress } from '#contract/address.ts'
import type { FacilitatorInput } from '#contract/facilitator.ts'
import { fieldProblemOf } from '#contract/explain-issue.ts'
import { describe } from '#contract/fields.ts'
import { familyOf, findAsset } from '#contract/network.ts'
import { renderDecodeProblem } from '#contract/render-en.ts'
import { EXACT_SCHEME } from '#x402/methods.ts'
import { readNetwork } from '#x402/networks.ts'
import { readPayload, type PaymentPayload } from '#x402/payload.ts'
import { fromV1, Requirements, RequirementsV1, ResourceInfo } from '#x402/requirements.ts'
import type { Context } from '../context/context.ts'
import { facilitatorWallets } from './facilitator-wallet.ts'
import { InputRefusedError } from '../verification/input-refused.ts'
import { readIdentifier } from './payment-identifier.ts'
import type { ExpectedTerms } from '../verification/terms.ts'

/** What a resource server asks of the facilitator, and the payment it got for it. */
export type FacilitatorQuestion = {
  payment: PaymentPayload
  terms: ExpectedTerms
  identifier: string | null
}

/** @throws InputRefusedError */
export function readInput(
  context: Context,
  { x402Version, paymentPayload, paymentRequirements }: FacilitatorInput,
): FacilitatorQuestion {
  // The specification's own examples name the version in the payment alone.
  const version = x402Version ?? paymentPayload.x402Version
  if (version !== 1 && version !== 2)
    throw new InputRefusedError(
      'invalid_x402_version',
      `x402Version: Expected 1 or 2, received ${describe(version)}.`,
    )
  if (paymentPayload.x402Version !== version)
    throw new InputRefusedError(
      'invalid_x402_version',
      `x402Version: Expected the version of the payment, ${describe(paymentPayload.x402Version)}, received ${version}.`,
    )
  const payload = readPayload(paymentPayload)
  if (!payload.ok)
    throw new InputRefusedError(
      'invalid_payload',
      `paymentPayload: ${renderDecodeProblem(payload.problem)}`,
    )
  const identifier = readIdentifier(paymentPayload)
  return {
    payment: payload.payload,
    terms: toTerms(context, { ...readRequirements(version, paymentRequirements), version }),
    identifier,
  }
}

type Asked = { requirements: Requirements; resource: ResourceInfo | null }

/** v1 says the resource within; in v2 a server may say it in `extra`, as a URL or with its description and type. */
function readRequirements(version: 1 | 2, value: unknown): Asked {
  const result =
    version === 1 ? v.safeParse(RequirementsV1, value) : v.safeParse(Requirements, value)
  if (!result.success)
    throw refuseRequirements(
      v.getDotPath(result.issues[0]) ?? 'the root',
      renderDecodeProblem(fieldProblemOf(result.issues[0])),
    )
  if ('maxAmountRequired' in result.output) return fromV1(result.output)
  const requirements = result.output
  const { resource } = requirements.extra
  if (resource === undefined) return { requirements, resource: null }
  const told = v.safeParse(
    ResourceInfo,
    typeof resource === 'string' ? { url: resource } : resource,
  )
  if (!told.success)
    throw refuseRequirements('extra.resource', renderDecodeProblem(fieldProblemOf(told.issues[0])))
  return { requirements, resource: told.output }
}

function refuseRequirements(field: string, problem: string): InputRefusedError {
  return new InputRefusedError(
    'invalid_payment_requirements',
    `paymentRequirements, at ${field}: ${problem}`,
  )
}

function toTerms(
  context: Context,
  { requirements, resource, version }: Asked & { version: 1 | 2 },
): ExpectedTerms {
  const { extra, payTo: payee, amount } = requirements
  if (requirements.scheme !== EXACT_SCHEME)
    throw new InputRefusedError(
      'unsupported_scheme',
      `paymentRequirements, at scheme: Expected ${EXACT_SCHEME}, received ${describe(requirements.scheme)}.`,
    )
  const id = readNetwork(requirements.network, version)
  const network = context.config.networks.find((candidate) => candidate.network === id)
  if (!network) {
    const expected = 'Expected a network this service is configured for'
    throw new InputRefusedError(
      'invalid_network',
      `paymentRequirements, at network: ${expected}, received ${describe(requirements.network)}.`,
    )
  }
  const asset = findAsset(network, requirements.asset)
  if (!asset)
    throw refuseRequirements(
      'asset',
      `Expected an asset of ${network.network} that this service is configured for, received ${describe(requirements.asset)}.`,
    )
  const payTo = parseAddress(payee)
  if (!payTo.ok || payTo.family !== familyOf(network.network))
    throw refuseRequirements(
      'payTo',
      `Expected an address of ${network.network}, received ${describe(payee)}.`,
    )
  if (BigInt(amount) === 0n)
    throw refuseRequirements('amount', 'Expected an amount above 0, received 0.')
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
    feePayers: facilitatorWallets(context, 'solana'),
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** Unix seconds on the wire, milliseconds inside. */
function secondsOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value * 1000 : null
}
