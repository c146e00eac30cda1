import {
  addressFact,
  countFact,
  fact,
  listFact,
  textFact,
  type CheckFact,
} from '#contract/facts.ts'
import type { SolanaFacts } from './decode.ts'
import { verifySignature } from './signature.ts'

/** The rules for any transaction, of SOL or of a token, that a payer signs and others broadcast. */

/** The most that such a transaction may request from the cluster. */
export type ComputeCaps = { units: number; microLamports: bigint }

export const DEFAULT_COMPUTE_CAPS: ComputeCaps = { units: 60_000, microLamports: 50_000n }

/** The payer, and the account that pays its network fee. */
const MAX_SIGNERS = 2
/** Instructions that wallets add to protect their owners. */
export const MAX_GUARDS = 3

/** What a transaction requests from the cluster, and what it contains beside the transfer. */
export function readSurroundings({ operations }: SolanaFacts) {
  return {
    memos: operations.filter((operation) => operation.kind === 'memo'),
    units: operations.flatMap((operation) =>
      operation.kind === 'fee_limit' ? [operation.units] : [],
    ),
    prices: operations.flatMap((operation) =>
      operation.kind === 'fee_price' ? [operation.microLamports] : [],
    ),
    guards: operations.filter(({ kind }) => kind === 'guard').length,
  }
}

type RuleResult = { ok: boolean; expected: CheckFact; got: CheckFact }

/**
 * Checks who pays the network fee, and that everyone but `signsLater` has signed. `feePayer`: who
 * must pay.
 */
export function requireSigners(
  facts: SolanaFacts,
  { feePayer, signsLater }: { feePayer: string | null; signsLater: string | null },
) {
  const { signers, signatures, message } = facts
  const missing = signers.filter(
    (signer, index) =>
      signer !== signsLater &&
      !verifySignature(signatures[index] ?? new Uint8Array(64), message, signer),
  )
  return {
    fee_payer: {
      ok: facts.feePayer === feePayer,
      expected: feePayer === null ? fact('nobody') : addressFact(feePayer),
      got: addressFact(facts.feePayer),
    },
    signers: {
      ok: signers.length <= MAX_SIGNERS,
      expected: { code: 'signers_at_most', params: { count: MAX_SIGNERS } },
      got: countFact(signers.length),
    },
    signatures: {
      ok: missing.length === 0,
      expected: fact('all_signatures'),
      got:
        missing.length === 0
          ? fact('all_signed')
          : { code: 'signatures_missing', params: { signers: missing } },
    },
  } satisfies Record<string, RuleResult>
}

export function memoTexts(memos: readonly { text: string }[]): CheckFact {
  return listFact(
    memos.map(({ text }) => textFact(text)),
    fact('none'),
  )
}

/** Micro-lamports for a compute unit, as a transaction states them. */
export function pricesFact(prices: readonly bigint[]): CheckFact {
  return listFact(
    prices.map((price) => ({
      code: 'price' as const,
      params: { microLamports: price.toString() },
    })),
    fact('none'),
  )
}

export function requireComputeUnits(units: readonly number[], caps: ComputeCaps): RuleResult {
  return {
    ok: units.length === 1 && units.every((limit) => limit > 0 && limit <= caps.units),
    expected: { code: 'one_limit_at_most', params: { units: caps.units } },
    got: listFact(units.map(countFact), fact('none')),
  }
}
