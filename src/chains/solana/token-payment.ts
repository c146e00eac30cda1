import type { SolanaFacts } from './decode.ts'
import { DEFAULT_COMPUTE_CAPS, holdSigners, holdUnits, MAX_GUARDS, readSurroundings, type ComputeCaps } from './signed-rules.ts'
import { associatedTokenAccount } from './token-account.ts'

/** The rules of a token's transfer that the payer signs and others broadcast, in the order they are checked. */
export const TOKEN_RULES = [
  'fee_payer',
  'signers',
  'signatures',
  'programs',
  'compute_units',
  'compute_price',
  'order',
  'one_transfer',
  'mint',
  'destination',
  'amount',
  'source',
  'sponsor_isolated',
  'memo',
] as const
export type TokenRule = (typeof TOKEN_RULES)[number]

export type TokenTerms = {
  payTo: string
  mint: string
  amountAtomic: bigint
  /** Null: any, and at most one. */
  memo: string | null
  /** Who pays the network for the payer, and signs last; null when the payer does. */
  sponsor: string | null
}

export type TokenRuleRow = { rule: TokenRule; ok: boolean; expected: string; got: string }

const KNOWN: readonly string[] = ['fee_limit', 'fee_price', 'token_transfer', 'memo', 'guard']

/**
 * Holds a transaction against every rule. All must hold: one that does not may cost the sponsor, or pay somebody else.
 * @see scheme_exact_svm.md, "Facilitator Verification Rules (MUST)"
 */
export function checkTokenPayment(facts: SolanaFacts, terms: TokenTerms, caps: ComputeCaps = DEFAULT_COMPUTE_CAPS): TokenRuleRow[] {
  const { operations } = facts
  const transfers = operations.filter((operation) => operation.kind === 'token_transfer')
  const { memos, units, prices, guards } = readSurroundings(facts)
  const strangers = operations.filter(({ kind }) => !KNOWN.includes(kind))
  const [transfer] = transfers
  const payer = transfer?.authority ?? 'nobody'
  const accountOf = (owner: string) => (transfer ? associatedTokenAccount({ owner, mint: terms.mint, program: transfer.program }).address : 'none')
  const signed = holdSigners(facts, { feePayer: terms.sponsor ?? payer, sponsor: terms.sponsor })
  const isolated = isIsolated(facts, terms.sponsor)
  const order = operations.slice(0, 3).map(({ kind }) => kind)
  const row = (rule: TokenRule, ok: boolean, [expected, got]: readonly [string, string]): TokenRuleRow => ({ rule, ok, expected, got })
  return [
    { rule: 'fee_payer', ...signed.fee_payer },
    { rule: 'signers', ...signed.signers },
    { rule: 'signatures', ...signed.signatures },
    row('programs', strangers.length === 0 && guards <= MAX_GUARDS, [
      `only a token transfer, a memo, compute limits and at most ${MAX_GUARDS} wallet guards`,
      strangers.length > 0 ? `${strangers.length} other instructions` : `${guards} wallet guards`,
    ]),
    { rule: 'compute_units', ...holdUnits(units, caps) },
    row('compute_price', prices.length === 1 && prices.every((price) => price <= caps.microLamports), [
      `one price of at most ${caps.microLamports} micro-lamports`,
      prices.join(', ') || 'none',
    ]),
    row('order', order.join() === 'fee_limit,fee_price,token_transfer', ['compute limit, compute price, transfer', order.join(', ')]),
    row('one_transfer', transfers.length === 1, ['one transfer', transfers.length.toString()]),
    row('mint', transfer?.mint === terms.mint, [terms.mint, transfer?.mint ?? 'none']),
    row('destination', transfer?.destination === accountOf(terms.payTo), [accountOf(terms.payTo), transfer?.destination ?? 'none']),
    row('amount', transfer?.amountAtomic === terms.amountAtomic, [terms.amountAtomic.toString(), transfer?.amountAtomic.toString() ?? 'none']),
    // Whoever signs pays from an account of its own, and neither sponsor nor payee pays the payee.
    row('source', transfer?.source === accountOf(payer) && payer !== terms.sponsor && payer !== terms.payTo, [
      'the own token account of a payer',
      transfer?.source ?? 'none',
    ]),
    row('sponsor_isolated', isolated, ['the sponsor in no instruction', isolated ? 'in none' : 'it is named by one']),
    row('memo', memos.length <= 1 && (terms.memo === null || memos[0]?.text === terms.memo), [
      terms.memo ?? 'at most one',
      memos.map(({ text }) => text).join(', ') || 'none',
    ]),
  ]
}

/** The sponsor signs whatever stands here, so no instruction names it, not even to be paid. */
function isIsolated({ accounts }: SolanaFacts, sponsor: string | null): boolean {
  return sponsor === null || accounts.every(({ address, named, called }) => address !== sponsor || (!named && !called))
}
