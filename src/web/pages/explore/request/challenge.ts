import { fieldProblemOf } from '#contract/explain-issue.ts'
import { fact } from '#contract/facts.ts'
import { JsonError, parseJson } from '#contract/json.ts'
import type { DecodeProblem } from '#contract/reasons.ts'
import { readPaymentOption, type ClientPayment as Terms } from '#x402/client/order.ts'
import { decodeBase64 } from '#x402/header.ts'
import { ResourceInfo } from '#x402/requirements.ts'
import * as v from 'valibot'
import type { ResourceResponse } from './send-request.ts'

/**
 * What a server asks in a 402: version 2 in a header, version 1 in the body, often both. All of it
 * is untrusted text.
 */

export type Version = 1 | 2

/** One way to pay, in the versions in which the server lists it. */
export type PaymentOption = {
  terms: Terms
  /** The entry of `accepts` as received, by version: the paid one is echoed exactly. */
  entries: Partial<Record<Version, unknown>>
}

/** An entry of `accepts` that cannot be used, and why. */
export type Unreadable = { version: Version; problem: DecodeProblem }

export type PaymentChallenge = {
  versions: readonly Version[]
  /** The server's own error text. */
  error: string | null
  resource: ResourceInfo | null
  offers: readonly PaymentOption[]
  unreadable: readonly Unreadable[]
  /** As received, for readers who want to inspect it. */
  raw: Partial<Record<Version, unknown>>
}

/** Where a 402's terms should be, and what was found instead. */
export type NoChallenge = {
  problems: readonly {
    version: Version
    problem: 'absent' | 'unreadable'
    detail?: DecodeProblem
  }[]
}

const MAX_CHALLENGE = 64 * 1024

const Body = v.object({ error: v.optional(v.string()), accepts: v.array(v.unknown()) })
const V1 = v.object({ ...Body.entries, x402Version: v.literal(1) })
const V2 = v.object({
  ...Body.entries,
  x402Version: v.literal(2),
  resource: v.optional(ResourceInfo),
})

/** `meant`: it contains a list of offers, so it is meant to be a challenge. */
type Read =
  | { value: v.InferOutput<typeof V1> | v.InferOutput<typeof V2> }
  | { problem: 'absent' | 'unreadable'; detail?: DecodeProblem; meant?: boolean }

export function readChallenge(answer: ResourceResponse): PaymentChallenge | NoChallenge {
  const read: Record<Version, Read> = { 2: readHeader(answer), 1: readBody(answer) }
  const versions = ([2, 1] as const).filter((version) => 'value' in read[version])
  if (versions.length === 0) {
    return { problems: ([2, 1] as const).flatMap((version) => toProblem(version, read[version])) }
  }
  const offers: PaymentOption[] = []
  const unreadable: Unreadable[] = []
  const raw: Partial<Record<Version, unknown>> = {}
  let error: string | null = null
  let resource: ResourceInfo | null = null
  for (const version of versions) {
    const one = read[version]
    if (!('value' in one)) continue
    raw[version] = one.value
    error ??= one.value.error ?? null
    if ('resource' in one.value) resource ??= one.value.resource ?? null
    for (const entry of one.value.accepts)
      addPaymentOption({ offers, unreadable }, { version, entry, resource })
  }
  return {
    versions,
    error,
    resource: resource ?? offers[0]?.terms.resource ?? null,
    offers,
    unreadable,
    raw,
  }
}

export function isChallenge(read: PaymentChallenge | NoChallenge): read is PaymentChallenge {
  return 'offers' in read
}

/** The value of a header; several are joined into one, as HTTP defines. */
export function headerOf(
  answer: Pick<ResourceResponse, 'headers'>,
  name: string,
): string | undefined {
  const values = answer.headers
    .filter(([each]) => each.toLowerCase() === name)
    .map(([, value]) => value)
  return values.length === 0 ? undefined : values.join(', ')
}

function readHeader(answer: ResourceResponse): Read {
  const text = headerOf(answer, 'payment-required')
  if (text === undefined) return { problem: 'absent' }
  const bytes = text.length > MAX_CHALLENGE ? undefined : decodeBase64(text)
  if (!bytes) return { problem: 'unreadable', detail: fact('not_base64') }
  return parse(bytes, V2)
}

function readBody({ body }: ResourceResponse): Read {
  if (body.length === 0) return { problem: 'absent' }
  const read = parse(body, V1)
  // A body that is something else altogether is not a broken challenge.
  return 'problem' in read && !read.meant ? { problem: 'absent' } : read
}

function parse(bytes: Uint8Array, schema: typeof V1 | typeof V2): Read {
  let value: unknown
  try {
    value = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    if (error instanceof JsonError) return { problem: 'unreadable', detail: error.problem }
    if (error instanceof TypeError) return { problem: 'unreadable', detail: fact('not_utf8') }
    throw error
  }
  const result = v.safeParse(schema, value)
  if (result.success) return { value: result.output }
  const meant = typeof value === 'object' && value !== null && 'accepts' in value
  const params = {
    field: v.getDotPath(result.issues[0]),
    problem: fieldProblemOf(result.issues[0]),
  }
  return { problem: 'unreadable', detail: { code: 'offer_field', params }, meant }
}

function toProblem(version: Version, read: Read): NoChallenge['problems'] {
  return 'value' in read
    ? []
    : [
        {
          version,
          problem: read.problem,
          ...(read.detail !== undefined && { detail: read.detail }),
        },
      ]
}

type Found = { offers: PaymentOption[]; unreadable: Unreadable[] }

function addPaymentOption(
  { offers, unreadable }: Found,
  { version, entry, resource }: { version: Version; entry: unknown; resource: ResourceInfo | null },
): void {
  const read = readPaymentOption(
    version,
    entry,
    version === 2 ? (resource ?? undefined) : undefined,
  )
  if (!read.ok) {
    unreadable.push({ version, problem: read.problem })
    return
  }
  const { payment: terms } = read
  const known = offers.find((option) => !(version in option.entries) && isSame(option.terms, terms))
  if (known) known.entries[version] = entry
  else offers.push({ terms, entries: { [version]: entry } })
}

/** The same way to pay, expressed in another version. */
export function isSame(a: Terms, b: Terms): boolean {
  return (
    isSameWay(a, b) &&
    a.amountAtomic === b.amountAtomic &&
    a.memo === b.memo &&
    a.resource.url === b.resource.url
  )
}

/** The same way to pay, at any price. */
export function isSameWay(a: Terms, b: Terms): boolean {
  return (
    a.network === b.network &&
    a.asset.toLowerCase() === b.asset.toLowerCase() &&
    a.payTo === b.payTo &&
    a.method === b.method
  )
}
