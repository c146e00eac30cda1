import { addressFact, fact, listFact, textFact, type CheckFact } from '#contract/facts.ts'
import { SYSTEM_PROGRAM } from './programs.ts'
import type { SolanaFacts } from './decode.ts'
import type { Operation } from './operations.ts'
import {
  DEFAULT_COMPUTE_CAPS,
  requireSigners,
  requireComputeUnits,
  MAX_GUARDS,
  memoTexts,
  pricesFact,
  readSurroundings,
  type ComputeCaps,
} from './signed-rules.ts'

/**
 * The rules of a native SOL transfer that one party signs and another broadcasts, in the order they
 * are checked.
 */
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
  /**
   * The account that pays the network fee for the payer, and signs last; null when the payer does.
   */
  feePayer: string | null
}

export type RuleRow = { rule: TransferRule; ok: boolean; expected: CheckFact; got: CheckFact }

/**
 * Checks a transaction against every rule. All must hold: a violation may cost the fee payer, or pay
 * another account.
 */
export function checkNativeTransfer(
  facts: SolanaFacts,
  terms: TransferTerms,
  caps: ComputeCaps = DEFAULT_COMPUTE_CAPS,
): RuleRow[] {
  const { operations } = facts
  const transfers = operations.filter((operation) => operation.kind === 'transfer')
  const { memos, units, prices, guards } = readSurroundings(facts)
  const strangers = operations.flatMap((operation) =>
    isStrange(operation) ? [operation.program] : [],
  )
  const otherSystem = operations.filter(
    (operation) => operation.kind === 'unknown' && operation.program === SYSTEM_PROGRAM,
  ).length
  const [transfer] = transfers
  const payer = transfer?.from ?? null
  const isolated = isIsolated(facts, terms)
  const signed = requireSigners(facts, {
    feePayer: terms.feePayer ?? payer,
    signsLater: terms.feePayer,
  })
  const row = (
    rule: TransferRule,
    ok: boolean,
    [expected, got]: readonly [CheckFact, CheckFact],
  ): RuleRow => ({ rule, ok, expected, got })
  return [
    { rule: 'fee_payer', ...signed.fee_payer },
    { rule: 'signers', ...signed.signers },
    { rule: 'signatures', ...signed.signatures },
    row('programs', strangers.length === 0 && guards <= MAX_GUARDS, [
      { code: 'only_transfer', params: { guards: MAX_GUARDS } },
      listFact(strangers.map(addressFact), {
        code: 'wallet_guards',
        params: { count: guards },
      } as const),
    ]),
    { rule: 'compute_units', ...requireComputeUnits(units, caps) },
    row(
      'compute_price',
      prices.length <= 1 && prices.every((price) => price <= caps.microLamports),
      [
        { code: 'price_at_most', params: { microLamports: caps.microLamports.toString() } },
        pricesFact(prices),
      ],
    ),
    row('one_transfer', transfers.length === 1 && otherSystem === 0, [
      fact('one_transfer'),
      {
        code: 'transfers_and_others',
        params: { transfers: transfers.length, others: otherSystem },
      },
    ]),
    row('destination', transfer?.to === terms.payTo, [
      addressFact(terms.payTo),
      transfer ? addressFact(transfer.to) : fact('nobody'),
    ]),
    row('lamports', transfer?.lamports === terms.lamports, [
      lamportsFact(terms.lamports),
      lamportsFact(transfer?.lamports ?? 0n),
    ]),
    row('source', payer !== null && payer !== terms.feePayer && payer !== terms.payTo, [
      fact('payer'),
      payer === null ? fact('nobody') : addressFact(payer),
    ]),
    row('sponsor_isolated', isolated, [
      fact('fee_payer_unnamed'),
      fact(isolated ? 'in_no_instruction' : 'in_an_instruction'),
    ]),
    row('memo', memos.length === 1 && memos[0]?.text === terms.memo, [
      textFact(terms.memo),
      memoTexts(memos),
    ]),
  ]
}

function lamportsFact(lamports: bigint): CheckFact {
  return { code: 'lamports', params: { amountAtomic: lamports.toString() } }
}

/**
 * Whether an operation belongs to a program that has no part in a SOL transfer. This includes the
 * token programs, although they are understood elsewhere.
 */
function isStrange(
  operation: Operation,
): operation is Extract<Operation, { kind: 'unknown' | 'token_transfer' | 'account_opened' }> {
  if (operation.kind === 'token_transfer' || operation.kind === 'account_opened') return true
  return operation.kind === 'unknown' && operation.program !== SYSTEM_PROGRAM
}

/**
 * The fee payer signs the whole transaction, so no instruction may name it, except to pay it as the
 * payee.
 */
function isIsolated({ operations }: SolanaFacts, { feePayer, payTo }: TransferTerms): boolean {
  if (feePayer === null) return true
  return operations.every((operation) => {
    switch (operation.kind) {
      case 'transfer':
        return operation.from !== feePayer && (operation.to !== feePayer || feePayer === payTo)
      case 'memo':
        return !operation.signers.includes(feePayer)
      case 'guard':
      case 'unknown':
        return !operation.accounts.includes(feePayer)
      case 'token_transfer':
      case 'account_opened':
        return !Object.values(operation).includes(feePayer)
      default:
        return true
    }
  })
}
