import { SYSTEM_PROGRAM } from './programs.ts'
import type { SolanaFacts } from './decode.ts'
import type { Operation } from './operations.ts'
import { verifySignature } from './signature.ts'

/** The rules of a native SOL transfer that one party signs and another broadcasts, in the order they are checked. */
export const TRANSFER_RULES = [
  'fee_payer',
  'signers',
  'signatures',
  'programs',
  'compute_units',
  'compute_price',
  'one_transfer',
  'destination',
  'lamports',
  'source',
  'sponsor_isolated',
  'memo',
] as const
export type TransferRule = (typeof TRANSFER_RULES)[number]

export type TransferTerms = {
  payTo: string
  lamports: bigint
  memo: string
  /** Who pays the network for the payer, and signs last; null when the payer does. */
  sponsor: string | null
}

/** What a transaction that others broadcast may ask of the cluster. */
export type ComputeCaps = { units: number; microLamports: bigint }

export const DEFAULT_COMPUTE_CAPS: ComputeCaps = { units: 60_000, microLamports: 50_000n }

const MAX_SIGNERS = 2
const MAX_GUARDS = 3

export type RuleRow = { rule: TransferRule; ok: boolean; expected: string; got: string }

/** Holds a transaction against every rule. All must hold: one that does not may cost the sponsor, or pay somebody else. */
export function checkNativeTransfer(facts: SolanaFacts, terms: TransferTerms, caps: ComputeCaps = DEFAULT_COMPUTE_CAPS): RuleRow[] {
  const { operations } = facts
  const transfers = operations.filter((operation) => operation.kind === 'transfer')
  const memos = operations.filter((operation) => operation.kind === 'memo')
  const units = operations.filter((operation) => operation.kind === 'fee_limit').map((operation) => operation.units)
  const prices = operations.filter((operation) => operation.kind === 'fee_price').map((operation) => operation.microLamports)
  const guards = operations.filter(({ kind }) => kind === 'guard').length
  const strangers = operations.flatMap((operation) => (isStrange(operation) ? [operation.program] : []))
  const otherSystem = operations.filter((operation) => operation.kind === 'unknown' && operation.program === SYSTEM_PROGRAM).length
  const [transfer] = transfers
  const payer = transfer?.from ?? 'nobody'
  const feePayer = terms.sponsor ?? payer
  const isolated = isIsolated(facts, terms)
  const unsigned = missingSigners(facts, terms.sponsor)
  const row = (rule: TransferRule, ok: boolean, [expected, got]: readonly [string, string]): RuleRow => ({ rule, ok, expected, got })
  return [
    row('fee_payer', facts.feePayer === feePayer, [feePayer, facts.feePayer]),
    row('signers', facts.signers.length <= MAX_SIGNERS, [`at most ${MAX_SIGNERS} signers`, facts.signers.length.toString()]),
    row('signatures', unsigned.length === 0, [
      'a valid signature of every signer but the sponsor',
      unsigned.length === 0 ? 'all of them' : `none of ${unsigned.join(', ')}`,
    ]),
    row('programs', strangers.length === 0 && guards <= MAX_GUARDS, [
      `only a transfer, a memo, compute limits and at most ${MAX_GUARDS} wallet guards`,
      strangers.length > 0 ? strangers.join(', ') : `${guards} wallet guards`,
    ]),
    row('compute_units', units.length === 1 && units.every((limit) => limit > 0 && limit <= caps.units), [
      `one limit of at most ${caps.units}`,
      units.join(', ') || 'none',
    ]),
    row('compute_price', prices.length <= 1 && prices.every((price) => price <= caps.microLamports), [
      `at most ${caps.microLamports} micro-lamports`,
      prices.join(', ') || 'none',
    ]),
    row('one_transfer', transfers.length === 1 && otherSystem === 0, [
      'one transfer',
      `${transfers.length} transfers and ${otherSystem} other system instructions`,
    ]),
    row('destination', transfer?.to === terms.payTo, [terms.payTo, transfer?.to ?? 'nobody']),
    row('lamports', transfer?.lamports === terms.lamports, [`${terms.lamports} lamports`, `${transfer?.lamports ?? 0n} lamports`]),
    row('source', payer !== terms.sponsor && payer !== terms.payTo, ['the payer', payer]),
    row('sponsor_isolated', isolated, ['the sponsor in no instruction', isolated ? 'in none' : 'it is named by one']),
    row('memo', memos.length === 1 && memos[0]?.text === terms.memo, [terms.memo, memos.map(({ text }) => text).join(', ') || 'none']),
  ]
}

/** Of a program that has no part in a transfer of SOL; the token programs are among them, however well they are understood elsewhere. */
function isStrange(operation: Operation): operation is Extract<Operation, { kind: 'unknown' | 'token_transfer' | 'account_opened' }> {
  if (operation.kind === 'token_transfer' || operation.kind === 'account_opened') return true
  return operation.kind === 'unknown' && operation.program !== SYSTEM_PROGRAM
}

function missingSigners({ signers, signatures, message }: SolanaFacts, sponsor: string | null): string[] {
  return signers.filter((signer, index) => signer !== sponsor && !verifySignature(signatures[index] ?? new Uint8Array(64), message, signer))
}

/** The sponsor signs whatever stands here, so no instruction may name it; only as a payee may it be paid. */
function isIsolated({ operations }: SolanaFacts, { sponsor, payTo }: TransferTerms): boolean {
  if (sponsor === null) return true
  return operations.every((operation) => {
    switch (operation.kind) {
      case 'transfer':
        return operation.from !== sponsor && (operation.to !== sponsor || sponsor === payTo)
      case 'memo':
        return !operation.signers.includes(sponsor)
      case 'guard':
      case 'unknown':
        return !operation.accounts.includes(sponsor)
      case 'token_transfer':
      case 'account_opened':
        return !Object.values(operation).includes(sponsor)
      default:
        return true
    }
  })
}
