import type { Checklist } from './checklist.ts'

/**
 * Refuses a transaction that the network shows already, for a caller without an account: it is public, and nobody can tell whose it is.
 * @throws ProofRefused `already_used`
 */
export function refuseBroadcast(checklist: Checklist, got: string): void {
  checklist.check('already_used', { name: 'fresh', source: 'chain', ok: false, expected: 'never broadcast before it is presented without a key', got })
}
