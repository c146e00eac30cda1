import { LosslessNumber, stringifyJson } from '#contract/json.ts'
import { ProblemError } from '#contract/problem.ts'
import { readBody } from '#service/api/mount-endpoint.ts'

/** Valid JSON that our reader refuses on purpose, by the file's name in JSONTestSuite. */
export const REFUSED_ON_PURPOSE: Readonly<Record<string, string>> = {
  'y_object_duplicated_key.json': 'The body is not valid: The key "a" stands twice in one object.',
  'y_object_duplicated_key_and_value.json':
    'The body is not valid: The key "a" stands twice in one object.',
}

export type JsonReading =
  | { accepted: true; value: unknown; text: string }
  | { accepted: false; problem: string }

/** Reads bytes as the service reads a request's body. @throws whatever is not an answer to the client's mistake */
export async function readAsBody(bytes: Uint8Array<ArrayBuffer>): Promise<JsonReading> {
  const request = new Request('http://localhost/', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: bytes,
  })
  try {
    const value = await readBody(request)
    return { accepted: true, value, text: stringifyJson(value) }
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    if (error.code !== 'INVALID_PARAMETERS' && error.code !== 'PAYLOAD_TOO_LARGE') throw error
    return { accepted: false, problem: error.message }
  }
}

/** What the platform reads; undefined where it refuses. */
export function readByPlatform(bytes: Uint8Array): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown }
  } catch {
    return undefined
  }
}

/** The value as the platform would have read it: numbers in doubles. */
export function inDoubles(value: unknown): unknown {
  if (value instanceof LosslessNumber) return Number(value.value)
  if (Array.isArray(value)) return value.map(inDoubles)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inDoubles(inner)]))
}
