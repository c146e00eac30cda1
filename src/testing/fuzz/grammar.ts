import { readFileSync } from 'node:fs'
import { changeBytes, type Rng } from '../tamper/rng.ts'
import type { JsonSchema } from '../described-responses.ts'

/** Requests that follow the description of an API, and ones that depart from it in single places. */

const NAUGHTY = JSON.parse(
  readFileSync(new URL('../vectors/naughty-strings/blns.json', import.meta.url), 'utf8'),
) as string[]
const ODD: readonly unknown[] = [
  null, true, false, 0, -1, 1e308, 2 ** 53, 0.1, [], [[]], {}, '', ' ', '\0', 'a\0b', '\ud800', '\u202e', 'a'.repeat(10_000),
  '0x', '1e-400', '0x10', '-0', '١', '__proto__', 'constructor', '../../etc/passwd', '%00', "' or 1=1 --",
] // prettier-ignore
const AMOUNTS: readonly unknown[] = [0.01, '0.01', 1, '1', 0.000001, '100', 1e-18, '1.5']
/** Source texts that no serializer writes. */
const RAW = [
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"a":1,"a":2}',
  `${'['.repeat(2_000)}${']'.repeat(2_000)}`,
  '{"amount":1e99999999}',
  '{"amount":00}',
  '\ufeff{}',
  '{} {}',
  '"text"',
  'null',
  '',
]

/** What requests refer to; ids that were returned are added. */
export type Pools = {
  addresses: string[]
  networks: string[]
  assets: string[]
  ids: Map<string, string[]>
  /** Ids that are not used: the keys of the callers. */
  spared: ReadonlySet<string>
  hashes: string[]
  proofs: string[]
  urls: string[]
}

const MOST_IDS = 200

/** Keeps the ids of an answer for later requests. */
export function learn(pools: Pools, text: string): void {
  for (const [, id = ''] of text.matchAll(
    /"((?:pay|key|wch|unm|lnk|sic)_[1-9A-HJ-NP-Za-km-z]{22})"/g,
  )) {
    const kind = id.slice(0, 3)
    const known = pools.ids.get(kind) ?? []
    pools.ids.set(kind, known)
    if (!pools.spared.has(id) && !known.includes(id) && known.length < MOST_IDS) known.push(id)
  }
  for (const [hash] of text.matchAll(/0x[0-9a-f]{64}\b/g))
    if (pools.hashes.length < MOST_IDS && !pools.hashes.includes(hash)) pools.hashes.push(hash)
}

function pick<T>(rng: Rng, list: readonly T[]): T | undefined {
  return list[rng.below(Math.max(1, list.length))]
}

/** A string for a field of this name. */
export function textFor(rng: Rng, name: string, pools: Pools): string {
  if (/address|recipient|sender|payee|signer|^(from|to|owner)$|wallets/i.test(name))
    return pick(rng, pools.addresses) ?? ''
  if (/network/i.test(name)) return pick(rng, pools.networks) ?? ''
  if (/asset|mint|token/i.test(name)) return pick(rng, pools.assets) ?? ''
  if (/proof/i.test(name)) return pick(rng, pools.proofs) ?? ''
  if (/payment(Ids?)?$/i.test(name)) return pick(rng, pools.ids.get('pay') ?? []) ?? ''
  if (/challenge/i.test(name)) return pick(rng, pools.ids.get('wch') ?? []) ?? ''
  if (/signature|hash|transfer/i.test(name)) return pick(rng, pools.hashes) ?? ''
  if (/url|resource/i.test(name)) return pick(rng, pools.urls) ?? ''
  if (/amount|fee/i.test(name)) return String(pick(rng, AMOUNTS))
  if (/^id$/.test(name)) return pick(rng, [...pools.ids.values()].flat()) ?? ''
  if (/since|until/.test(name)) return pick(rng, ['0', '1700000000000', '2026-01-01']) ?? ''
  return (
    pick(rng, ['native', 'a', 'Ana', 'sent', 'received', 'pending', '10', '1', ...NAUGHTY]) ?? ''
  )
}

/** A value that a schema allows, mostly. */
export function valueFor(rng: Rng, schema: JsonSchema, name: string, pools: Pools): unknown {
  const { enum: choices, anyOf, oneOf, type, properties, required, items, pattern } = schema
  if (Array.isArray(choices)) return pick(rng, choices)
  const either = anyOf ?? oneOf
  if (Array.isArray(either)) return valueFor(rng, Object(pick(rng, either)), name, pools)
  if (/amount/i.test(name)) return pick(rng, AMOUNTS)
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(Object(properties ?? {})).flatMap(([key, inner]): [string, unknown][] =>
          (Array.isArray(required) && required.includes(key)) || rng.below(3) === 0
            ? [[key, valueFor(rng, Object(inner), key, pools)]]
            : [],
        ),
      )
    case 'array':
      return Array.from({ length: rng.below(3) + 1 }, () =>
        valueFor(rng, Object(items ?? {}), name, pools),
      )
    case 'number':
    case 'integer':
      return pick(rng, [0, 1, 2, 10, 100, 3_600, 1.5, -1, 2 ** 31, 2 ** 53])
    case 'boolean':
      return rng.below(2) === 0
    case 'string': {
      const kind = /^\^(pay|key|wch|unm|lnk)_/.exec(String(pattern ?? ''))?.[1]
      if (kind !== undefined) {
        const known = pick(rng, pools.ids.get(kind) ?? [])
        if (known !== undefined && rng.below(10) > 0) return known
      }
      return textFor(rng, name, pools)
    }
    default:
      return textFor(rng, name, pools)
  }
}

/** Replaces one value somewhere inside. */
export function spoil(rng: Rng, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || rng.below(6) === 0)
    return rng.below(2) === 0 ? pick(rng, ODD) : pick(rng, NAUGHTY)
  const entries = Object.entries(value)
  if (Array.isArray(value)) {
    const at = rng.below(Math.max(1, value.length))
    return value.map((each: unknown, index) => (index === at ? spoil(rng, each) : each))
  }
  if (entries.length === 0 || rng.below(8) === 0)
    return { ...value, [String(pick(rng, NAUGHTY))]: pick(rng, ODD) }
  const at = rng.below(entries.length)
  if (rng.below(10) === 0) return Object.fromEntries(entries.toSpliced(at, 1))
  return Object.fromEntries(
    entries.map(([key, each], index) => [key, index === at ? spoil(rng, each) : each]),
  )
}

/** The source text of a body: as it should be, with a spoiled value, with changed bytes, or something else. */
export function bodyText(rng: Rng, value: unknown): string | Uint8Array<ArrayBuffer> {
  const choice = rng.below(100)
  if (choice < 45) return JSON.stringify(value)
  if (choice < 80) {
    let spoiled = spoil(rng, value)
    for (let more = rng.below(3); more > 0; more--) spoiled = spoil(rng, spoiled)
    return JSON.stringify(spoiled) ?? ''
  }
  if (choice < 96) {
    let bytes: Uint8Array = new TextEncoder().encode(JSON.stringify(value))
    for (let more = rng.below(3); more >= 0 && bytes.length > 0; more--)
      bytes = changeBytes(rng, bytes).bytes
    return Uint8Array.from(bytes)
  }
  return pick(rng, RAW) ?? ''
}

/** A parameter of a path or query. */
export function parameterText(rng: Rng, text: string): string {
  const choice = rng.below(10)
  const chosen = choice < 7 ? text : String(choice < 9 ? pick(rng, NAUGHTY) : pick(rng, ODD))
  try {
    return encodeURIComponent(chosen)
  } catch {
    return '%ED%A0%80'
  }
}
