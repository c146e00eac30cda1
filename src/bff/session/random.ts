import { createHash, randomBytes } from 'node:crypto'
import bs58 from 'bs58'

/** 256 random bits for a cookie. */
export function createCookieValue(): string {
  return randomBytes(32).toString('base64url')
}

const COOKIE_VALUE = /^[A-Za-z0-9_-]{43}$/

export function isCookieValue(text: string | undefined): text is string {
  return text !== undefined && COOKIE_VALUE.test(text)
}

/** The stored form of a cookie: it cannot be used by anyone who reads the table. */
export function hashCookieValue(value: string): string {
  return createHash('sha256').update(value).digest('hex')
}

/** 128 random bits with a prefix for what they identify. */
export function createId(prefix: 'ses' | 'sic' | 'apr' | 'inv' | 'req'): string {
  return `${prefix}_${bs58.encode(randomBytes(16))}`
}

/** 128 random bits in the alphabet that both sign-in texts allow. */
export function createNonce(): string {
  return randomBytes(16).toString('hex')
}
