import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { addressFact, fact, type MatchFact } from '#contract/facts.ts'
import type { DecodeProblem } from '#contract/reasons.ts'
import type { Match, MatchRow } from './match.ts'

/** Helpers of both chains' comparisons: rows, their order, and the digest. */

/** A row that holds when two texts are the same. `factOf`: what they are, addresses where it is left out. */
export function equalRow(
  field: MatchRow['field'],
  [expected, got]: readonly [string, string],
  factOf: (value: string) => MatchFact = addressFact,
): MatchRow {
  return { field, ok: expected === got, expected: factOf(expected), got: factOf(got) }
}

/** Puts a second judgement of a field in its row's place; a row that already failed stays as it is. */
export function withRow(rows: readonly MatchRow[], row: MatchRow): MatchRow[] {
  return rows.map((first) => (first.field === row.field && first.ok ? row : first))
}

/** The outcome for bytes that nobody could read. Their digest names the bytes themselves, so it equals that of no payment. */
export function refuse(
  problem: DecodeProblem,
  bytes: Uint8Array,
  code: 'unreadable' | 'reviewed_unreadable' = 'unreadable',
): Match {
  return {
    ok: false,
    rows: [
      {
        field: 'instructions',
        ok: false,
        expected: fact('readable_payment'),
        got: { code, params: { problem } },
      },
    ],
    digest: digestOf(['unread', bytesToHex(bytes)]),
  }
}

/** The outcome of rows that are all there. */
export function conclude(rows: MatchRow[], meaning: readonly string[]): Match {
  return { ok: rows.every((row) => row.ok), rows, digest: digestOf(meaning) }
}

/** SHA-256 over the parts of a meaning; JSON keeps the borders between them. */
function digestOf(meaning: readonly string[]): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(meaning))))
}
