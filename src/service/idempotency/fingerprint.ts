import { createHash } from 'node:crypto'
import { LosslessNumber, stringifyJson } from '#contract/json.ts'

/** Equal for two requests that ask the same of the same endpoint: the order of an object's fields does not count, the digits of a number do. */
export function fingerprint(endpoint: string, body: unknown): string {
  return createHash('sha256')
    .update(`${endpoint}\n${stringifyJson(sorted(body))}`)
    .digest('hex')
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null || value instanceof LosslessNumber) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, entry]) => [key, sorted(entry)]),
  )
}
