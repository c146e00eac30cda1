import * as v from 'valibot'
import { plainNumber } from '#contract/fields.ts'
import type { FieldFormat } from '#contract/reasons.ts'
import { encodeHeader } from './header.ts'
import { formatNetworkV1, isKnownToV1Clients } from './networks.ts'

/** What a seller asks for, in both versions. As in the official schemas, what may be absent may be null. */

const seconds = v.pipe(plainNumber, v.safeInteger(), v.minValue(1))
const word = v.pipe(v.string(), v.minLength(1), v.maxLength(128))
const atomic = v.pipe(
  v.string(),
  v.regex(/^(0|[1-9][0-9]{0,77})$/, 'atomic_units' satisfies FieldFormat),
)
const extra = v.nullish(v.record(v.string(), v.unknown()), {})

export const Requirements = v.object({
  scheme: word,
  /** CAIP-2. */
  network: word,
  amount: atomic,
  asset: word,
  payTo: word,
  maxTimeoutSeconds: seconds,
  extra,
})
export type Requirements = v.InferOutput<typeof Requirements>

export const RequirementsV1 = v.object({
  scheme: word,
  network: word,
  maxAmountRequired: atomic,
  asset: word,
  payTo: word,
  resource: v.string(),
  description: v.nullish(v.string(), ''),
  mimeType: v.nullish(v.string(), ''),
  maxTimeoutSeconds: seconds,
  extra,
})
export type RequirementsV1 = v.InferOutput<typeof RequirementsV1>

/** Undefined for null. */
function absent(most: number) {
  const text = v.pipe(v.string(), v.maxLength(most))
  return v.optional(
    v.pipe(
      v.nullable(text),
      v.transform((value) => value ?? undefined),
    ),
  )
}

/** The official packages bound none of these: a payer may have paid before a facilitator reads them. */
export const ResourceInfo = v.object({
  url: v.pipe(v.string(), v.minLength(1), v.maxLength(8_192)),
  description: absent(16_384),
  mimeType: absent(1_024),
})
export type ResourceInfo = v.InferOutput<typeof ResourceInfo>

export type Challenge = { error: string; resource: ResourceInfo; accepts: readonly Requirements[] }

/**
 * A 402: v2 in the header `PAYMENT-REQUIRED`, v1 as the body. Where the clients of version 1 can read some of the offers, they are told those alone:
 * one that they cannot read keeps them from paying any.
 */
export function writeChallenge({ error, resource, accepts }: Challenge): {
  header: string
  body: { x402Version: 1; error: string; accepts: RequirementsV1[] }
} {
  const offers = accepts.map((entry) => toV1(entry, resource))
  const known = offers.filter(({ network }) => isKnownToV1Clients(network))
  return {
    header: encodeHeader({ x402Version: 2, error, resource, accepts }),
    body: { x402Version: 1, error, accepts: known.length > 0 ? known : offers },
  }
}

export function toV1(
  { network, amount, ...entry }: Requirements,
  resource: ResourceInfo,
): RequirementsV1 {
  return {
    ...entry,
    network: formatNetworkV1(network),
    maxAmountRequired: amount,
    resource: resource.url,
    description: resource.description ?? '',
    mimeType: resource.mimeType ?? '',
  }
}

/** One form for both versions; the resource stands beside the requirements in v2 and within them in v1. */
export function fromV1({
  maxAmountRequired,
  resource,
  description,
  mimeType,
  ...entry
}: RequirementsV1): {
  requirements: Requirements
  resource: ResourceInfo
} {
  return {
    requirements: { ...entry, amount: maxAmountRequired },
    resource: { url: resource, description, mimeType },
  }
}
