import { fact } from '#contract/facts.ts'
import { containsNul, JsonError, parsePayment, stringifyJson } from '#contract/json.ts'
import type { DecodeProblem } from '#contract/reasons.ts'

/** The header values of x402: standard base64 of JSON, in both directions. */

/** The largest header value that is read, in characters. */
export const MAX_HEADER_LENGTH = 8 * 1024

export type DecodedHeader = { ok: true; value: unknown } | { ok: false; problem: DecodeProblem }

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/**
 * Reads a header value. Only the canonical spelling counts: padded, standard alphabet, no bits left over, at most 8 KiB, valid UTF-8, strict JSON
 * (`parsePayment`), no NUL character in it.
 * One value therefore has one spelling up to its JSON, and nothing here throws on foreign text.
 */
export function decodeHeader(text: string): DecodedHeader {
  if (text.length > MAX_HEADER_LENGTH)
    return {
      ok: false,
      problem: { code: 'header_too_long', params: { maxCharacters: MAX_HEADER_LENGTH } },
    }
  const bytes = decodeBase64(text)
  if (!bytes) return { ok: false, problem: fact('not_base64') }
  try {
    const value = parsePayment(
      new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes),
    )
    return containsNul(value) ? { ok: false, problem: fact('nul_character') } : { ok: true, value }
  } catch (error) {
    if (error instanceof JsonError) return { ok: false, problem: error.problem }
    if (error instanceof TypeError) return { ok: false, problem: fact('not_utf8') }
    throw error
  }
}

export function encodeHeader(value: unknown): string {
  return encodeBase64(new TextEncoder().encode(stringifyJson(value)))
}

/** Bytes of canonical base64; undefined for any other spelling, and for nothing. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (text === '' || !BASE64.test(text)) return undefined
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  return encodeBase64(bytes) === text ? bytes : undefined
}

export function encodeBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}
