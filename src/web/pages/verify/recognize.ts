import { t } from '@lingui/core/macro'
import bs58 from 'bs58'
import * as v from 'valibot'
import type { Family } from '#contract/address.ts'
import { fieldProblemOf } from '#contract/explain-issue.ts'
import { JsonError, parseJson } from '#contract/json.ts'
import { isPaymentId } from '#contract/payment.ts'
import { Receipt } from '#contract/receipt.ts'
import { decodeHeader, encodeHeader, MAX_HEADER_LENGTH } from '#x402/header.ts'
import { readPayload, type PaymentPayload } from '#x402/payload.ts'
import { formatNumber } from '../../locales/formats.ts'
import { formatDecodeProblem } from '../../payment-intent/fact-values.ts'

/** What a pasted text is, read in this browser alone. */
export type Recognized =
  | { kind: 'empty' }
  /** `header`: the value as it is sent. `url`: where a curl command would send it. */
  | { kind: 'proof'; header: string; payment: PaymentPayload; url: string | null }
  | { kind: 'payment_id'; id: string }
  | { kind: 'transaction'; family: Family; id: string }
  | { kind: 'receipt'; receipt: Receipt }
  /** `at`: the field it is about. */
  | { kind: 'problem'; text: string; at: string | null }

const BASE64ISH = /^[A-Za-z0-9+/_=-]+$/

export function recognize(text: string): Recognized {
  const trimmed = text.trim()
  if (trimmed === '') return { kind: 'empty' }
  if (isCurl(trimmed)) return fromCurl(trimmed)
  if (isPaymentId(trimmed)) return { kind: 'payment_id', id: trimmed }
  if (trimmed.startsWith('pay_')) return problem(t`Mistyped payment ID.`, null)
  if (/^0x[0-9a-fA-F]{64}$/.test(trimmed))
    return { kind: 'transaction', family: 'evm', id: trimmed.toLowerCase() }
  if (/^0x[0-9a-fA-F]*$/.test(trimmed))
    return problem(t`Expected 64 hex digits after 0x, found ${trimmed.length - 2}.`, null)
  if (/^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(trimmed) && bs58.decodeUnsafe(trimmed)?.length === 64)
    return { kind: 'transaction', family: 'solana', id: trimmed }
  if (trimmed.startsWith('{')) return fromJson(trimmed)
  // A whole header line is what people copy from a log.
  const line = /^(?:x-payment|payment-signature)\s*:\s*(\S+)$/i.exec(trimmed)
  return fromHeader(line?.[1] ?? trimmed.replace(/\s+/g, ''), null)
}

function fromCurl(text: string): Recognized {
  const curl = readCurl(text)
  if ('problem' in curl) return problem(t`Unclosed quote.`, null)
  const header = curl.headers.find(
    ([name]) => name === 'payment-signature' || name === 'x-payment',
  )?.[1]
  if (header === undefined) return problem(t`No X-PAYMENT or PAYMENT-SIGNATURE header found.`, null)
  return fromHeader(header, curl.url)
}

function fromHeader(text: string, url: string | null): Recognized {
  if (!BASE64ISH.test(text)) return nothingKnown()
  if (text.length > MAX_HEADER_LENGTH)
    return problem(t`Maximum: ${{ count: formatNumber(MAX_HEADER_LENGTH) }} characters.`, null)
  if (/[_-]/.test(text)) return problem(t`Use standard base64 (+ and /), not base64url.`, null)
  const decoded = decodeHeader(text)
  // JSON in base64 begins so; anything else was never meant as a header.
  if (!decoded.ok && !/^e[ywz]/.test(text)) return nothingKnown()
  if (!decoded.ok)
    return problem(
      isCutOff(text) ? t`Incomplete header. Copy it again.` : formatDecodeProblem(decoded.problem),
      null,
    )
  return fromValue(decoded.value, text, url)
}

function nothingKnown(): Recognized {
  return problem(t`Not recognised.`, null)
}

/** JSON is a receipt, or a payment somebody has decoded already. */
function fromJson(text: string): Recognized {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    if (error instanceof JsonError) return problem(formatDecodeProblem(error.problem), null)
    throw error
  }
  if (typeof value === 'object' && value !== null && 'receipt' in value) return fromReceipt(value)
  return fromValue(value, encodeHeader(value), null)
}

function fromReceipt(value: object): Recognized {
  const read = v.safeParse(Receipt, value)
  if (read.success) return { kind: 'receipt', receipt: read.output }
  const [issue] = read.issues
  if ('receipt' in value && value.receipt === 'paydesk/1')
    return problem(t`No signed bytes. Check the transaction.`, 'receipt')
  return problem(formatDecodeProblem(fieldProblemOf(issue)), v.getDotPath(issue))
}

function fromValue(value: unknown, header: string, url: string | null): Recognized {
  if (typeof value === 'object' && value !== null && 'accepts' in value) {
    return problem(t`This is a payment request (PAYMENT-REQUIRED).`, 'accepts')
  }
  if (typeof value === 'object' && value !== null && 'success' in value && 'transaction' in value) {
    return problem(
      t`This PAYMENT-RESPONSE names transaction ${String(value.transaction)}`,
      'transaction',
    )
  }
  const read = readPayload(value)
  if (read.ok) return { kind: 'proof', header, payment: read.payload, url }
  if (read.problem.code !== 'payment_field') return problem(formatDecodeProblem(read.problem), null)
  const { field, problem: wrong } = read.problem.params
  return problem(formatDecodeProblem(wrong), field)
}

/** Whether the text would be fine with its end. */
function isCutOff(text: string): boolean {
  try {
    const whole = text.slice(0, text.length - (text.length % 4))
    return atob(whole).startsWith('{') && !atob(whole).trimEnd().endsWith('}')
  } catch {
    return false
  }
}

function problem(text: string, at: string | null): Recognized {
  return { kind: 'problem', text, at }
}

/** The parts of a curl command that matter here: its address and its headers. Quotes and line ends as shells have them. */
type Curl = {
  url: string | null
  headers: readonly (readonly [name: string, value: string])[]
}

function isCurl(text: string): boolean {
  return /^\s*\$?\s*curl\s/.test(text)
}

export function readCurl(text: string): Curl | { problem: 'quote' } {
  const words = splitWords(text.replace(/\\\r?\n/g, ' '))
  if (!words) return { problem: 'quote' }
  const headers: [string, string][] = []
  let url: string | null = null
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    const [name, inline] =
      word.startsWith('--') && word.includes('=')
        ? [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]
        : [word, undefined]
    if (name === '-H' || name === '--header') addHeader(headers, inline ?? words[++index] ?? '')
    else if (word.startsWith('-H') && word.length > 2) addHeader(headers, word.slice(2))
    else if (name === '--url') url = inline ?? words[++index] ?? null
    else if (/^https?:\/\//i.test(word)) url ??= word
  }
  return { url, headers }
}

function addHeader(headers: [string, string][], text: string): void {
  const colon = text.indexOf(':')
  if (colon > 0)
    headers.push([text.slice(0, colon).trim().toLowerCase(), text.slice(colon + 1).trim()])
}

/** Words of a shell command; nothing when a quote is left open. */
function splitWords(text: string): string[] | undefined {
  const words: string[] = []
  let word = ''
  let open = false
  let quote = ''
  for (let index = 0; index < text.length; index++) {
    const char = text[index] ?? ''
    if (quote) {
      if (char === quote) quote = ''
      else if (char === '\\' && quote === '"') word += text[++index] ?? ''
      else word += char
    } else if (char === "'" || char === '"') {
      quote = char
      open = true
    } else if (char === '\\') {
      word += text[++index] ?? ''
      open = true
    } else if (/\s/.test(char)) {
      if (open || word) words.push(word)
      word = ''
      open = false
    } else word += char
  }
  if (quote) return undefined
  if (open || word) words.push(word)
  return words
}
