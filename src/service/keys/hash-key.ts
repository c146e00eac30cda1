import { createHash } from 'node:crypto'

/**
 * The form in which a key is stored and looked up. The timing of a look-up reveals something about
 * hashes, not about keys, so the comparison need not take constant time.
 */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}
