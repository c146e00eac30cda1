import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'

export const SCOPES = [
  'payment:send',
  'payment:receive',
  'payment:read',
  'transaction:build',
  'token:read',
  'keys:manage',
  'wallets:manage',
] as const
export type Scope = (typeof SCOPES)[number]

/** `requestsPerMinute`: what passes in any 60 seconds, at once or spread; of one key, and of all keys of an account together. */
export const PLANS = {
  standard: { requestsPerMinute: 100, webSockets: 5, messagesPerSecond: 50 },
  premium: { requestsPerMinute: 1000, webSockets: 20, messagesPerSecond: 200 },
} as const
export type Plan = keyof typeof PLANS

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const KEY = /^pk_(live|test)_[0-9A-Za-z]{46}$/

/** A new key: `pk_live_` or `pk_test_`, 40 random base62 characters, 6 of checksum. */
export function createApiKey(environment: 'live' | 'test'): string {
  let secret = ''
  while (secret.length < 40) {
    for (const byte of crypto.getRandomValues(new Uint8Array(64))) {
      // 248 is the largest multiple of 62 in a byte: above it the choice would lean to the first characters.
      if (byte < 248 && secret.length < 40) secret += BASE62.charAt(byte % 62)
    }
  }
  const body = `pk_${environment}_${secret}`
  return body + checksum(body)
}

/** Whether the text can be a key at all: shape and checksum, no look-up. */
export function isApiKey(text: string): boolean {
  return KEY.test(text) && checksum(text.slice(0, -6)) === text.slice(-6)
}

/** What may be shown of a key: its first and last four characters. */
export function apiKeyHint(key: string): string {
  const secret = key.slice(8)
  return `${key.slice(0, 8)}${secret.slice(0, 4)}…${secret.slice(-4)}`
}

/** The last six characters of a key, over all before them. */
export function checksum(body: string): string {
  let value = 0n
  for (const byte of sha256(utf8ToBytes(body)).subarray(0, 6)) value = (value << 8n) | BigInt(byte)
  let text = ''
  for (let index = 0; index < 6; index++) {
    text = BASE62.charAt(Number(value % 62n)) + text
    value /= 62n
  }
  return text
}
