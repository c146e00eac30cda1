import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import bs58 from 'bs58'
import type { Database } from '#postgres/open.ts'
import { findLinkKey, insertLinkKey, newestLinkKey } from '../db/links.ts'

/** A key signs for this long; links signed before stay good, each names its key. */
const SIGNS_FOR_MS = 90 * 24 * 3_600_000

export type LinkKey = { id: string; secret: string }

/** The key that signs now. Two processes that make one at the same moment make two, and either is good. */
export async function signingKey(db: Database, now: Date): Promise<LinkKey> {
  const newest = await newestLinkKey(db)
  if (newest && now.getTime() - newest.createdAt.getTime() < SIGNS_FOR_MS) return newest
  const made = {
    id: bs58.encode(randomBytes(4)),
    secret: randomBytes(32).toString('base64url'),
    createdAt: now,
  }
  await insertLinkKey(db, made)
  return made
}

export function macOf(payload: string, secret: string): string {
  return createHmac('sha256', Buffer.from(secret, 'base64url')).update(payload).digest('base64url')
}

/** Whether the text of the signature is, to the last character, the one this proxy makes over the payload. In constant time. */
export async function isGenuine(
  db: Database,
  link: { mac: string; payload: string; keyId: string },
): Promise<boolean> {
  const key = await findLinkKey(db, link.keyId)
  const [given, made] = [Buffer.from(link.mac), Buffer.from(macOf(link.payload, key?.secret ?? ''))]
  return given.length === made.length && timingSafeEqual(given, made) && key !== undefined
}
