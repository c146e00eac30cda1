import type { SolanaFacts } from './decode.ts'
import { verifySignature } from './signature.ts'

/** What any transaction must hold to that a payer signs and others broadcast, of SOL or of a token. */

/** What such a transaction may ask of the cluster. */
export type ComputeCaps = { units: number; microLamports: bigint }

export const DEFAULT_COMPUTE_CAPS: ComputeCaps = { units: 60_000, microLamports: 50_000n }

/** The payer, and who pays the network for it. */
const MAX_SIGNERS = 2
/** Instructions by which wallets guard their owners. */
export const MAX_GUARDS = 3

/** What a transaction asks of the cluster, and what stands beside the transfer. */
export function readSurroundings({ operations }: SolanaFacts) {
  return {
    memos: operations.filter((operation) => operation.kind === 'memo'),
    units: operations.flatMap((operation) => (operation.kind === 'fee_limit' ? [operation.units] : [])),
    prices: operations.flatMap((operation) => (operation.kind === 'fee_price' ? [operation.microLamports] : [])),
    guards: operations.filter(({ kind }) => kind === 'guard').length,
  }
}

type Held = { ok: boolean; expected: string; got: string }

/** Who pays the network, and that everybody has signed but who pays it for the payer. `feePayer`: who must be. */
export function holdSigners(facts: SolanaFacts, { feePayer, sponsor }: { feePayer: string; sponsor: string | null }) {
  const { signers, signatures, message } = facts
  const missing = signers.filter((signer, index) => signer !== sponsor && !verifySignature(signatures[index] ?? new Uint8Array(64), message, signer))
  return {
    fee_payer: { ok: facts.feePayer === feePayer, expected: feePayer, got: facts.feePayer },
    signers: { ok: signers.length <= MAX_SIGNERS, expected: `at most ${MAX_SIGNERS} signers`, got: signers.length.toString() },
    signatures: {
      ok: missing.length === 0,
      expected: 'a valid signature of every signer but the sponsor',
      got: missing.length === 0 ? 'all of them' : `none of ${missing.join(', ')}`,
    },
  } satisfies Record<string, Held>
}

export function holdUnits(units: readonly number[], caps: ComputeCaps): Held {
  return {
    ok: units.length === 1 && units.every((limit) => limit > 0 && limit <= caps.units),
    expected: `one limit of at most ${caps.units}`,
    got: units.join(', ') || 'none',
  }
}
