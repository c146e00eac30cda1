import { parseJson } from '#contract/json.ts'

/** Metadata from its stored source text; numbers keep their digits. */
export function readMetadata(text: string | null): Record<string, unknown> | null {
  if (text === null) return null
  const value = parseJson(text)
  if (!isRecord(value)) throw new Error('Stored metadata is not an object.')
  return value
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
