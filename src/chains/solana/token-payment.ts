import {
  addressFact,
  amountFact,
  countFact,
  fact,
  listFact,
  textFact,
  type CheckFact,
  type MoneyAsset,
} from '#contract/facts.ts'
import type { SolanaFacts } from './decode.ts'
import { operationKind } from './operations.ts'
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
import { associatedTokenAccount } from './token-account.ts'

/**
 * The rules of a token transfer that the payer signs and others broadcast, in the order they are
 * checked.
 */
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

/** `symbol` and `decimals`: for displaying the amounts. */
export type TokenTerms = MoneyAsset & {
  payTo: string
  mint: string
  amountAtomic: bigint
  /** Null: any memo, and at most one. */
  memo: string | null
  /**
   * The account that pays the network fee for the payer, and signs last; null when the payer does.
   */
  feePayer: string | null
}

export type TokenRuleRow = { rule: TokenRule; ok: boolean; expected: CheckFact; got: CheckFact }

const KNOWN: readonly string[] = ['fee_limit', 'fee_price', 'token_transfer', 'memo', 'guard']

/**
 * Checks a transaction against every rule. All must hold: a violation may cost the fee payer, or pay
 * another account.
 * @see scheme_exact_svm.md, "Facilitator Verification Rules (MUST)"
 */
export function checkTokenPayment(
  facts: SolanaFacts,
  terms: TokenTerms,
  caps: ComputeCaps = DEFAULT_COMPUTE_CAPS,
): TokenRuleRow[] {
  const { operations } = facts
  const transfers = operations.filter((operation) => operation.kind === 'token_transfer')
  const { memos, units, prices, guards } = readSurroundings(facts)
  const strangers = operations.filter(({ kind }) => !KNOWN.includes(kind))
  const [transfer] = transfers
  const payer = transfer?.authority ?? null
  const accountOf = (owner: string) =>
    transfer
      ? associatedTokenAccount({ owner, mint: terms.mint, program: transfer.program }).address
      : null
  const signed = requireSigners(facts, {
    feePayer: terms.feePayer ?? payer,
    signsLater: terms.feePayer,
  })
  const payee = accountOf(terms.payTo)
  const isolated = isIsolated(facts, terms.feePayer)
  const first = operations.slice(0, 3)
  const inOrder = first.map(({ kind }) => kind).join() === 'fee_limit,fee_price,token_transfer'
  const row = (
    rule: TokenRule,
    ok: boolean,
    [expected, got]: readonly [CheckFact, CheckFact],
  ): TokenRuleRow => ({ rule, ok, expected, got })
  return [
    { rule: 'fee_payer', ...signed.fee_payer },
    { rule: 'signers', ...signed.signers },
    { rule: 'signatures', ...signed.signatures },
    row('programs', strangers.length === 0 && guards <= MAX_GUARDS, [
      { code: 'only_token_transfer', params: { guards: MAX_GUARDS } },
      strangers.length > 0
        ? { code: 'other_instructions', params: { count: strangers.length } }
        : { code: 'wallet_guards', params: { count: guards } },
    ]),
    { rule: 'compute_units', ...requireComputeUnits(units, caps) },
    row(
      'compute_price',
      prices.length === 1 && prices.every((price) => price <= caps.microLamports),
      [
        { code: 'one_price_at_most', params: { microLamports: caps.microLamports.toString() } },
        pricesFact(prices),
      ],
    ),
    row('order', inOrder, [
      {
        code: 'list',
        params: { facts: [fact('compute_limit'), fact('compute_price'), fact('token_transfer')] },
      },
      listFact(first.map(operationKind), fact('nothing')),
    ]),
    row('one_transfer', transfers.length === 1, [
      fact('one_transfer'),
      countFact(transfers.length),
    ]),
    row('mint', transfer?.mint === terms.mint, [addressFact(terms.mint), orNone(transfer?.mint)]),
    row('destination', transfer !== undefined && transfer.destination === payee, [
      orNone(payee),
      orNone(transfer?.destination),
    ]),
    row('amount', transfer?.amountAtomic === terms.amountAtomic, [
      amountFact(terms.amountAtomic, terms),
      transfer ? amountFact(transfer.amountAtomic, terms) : fact('none'),
    ]),
    // The signer pays from its own account, and is neither the fee payer nor the payee.
    row(
      'source',
      transfer !== undefined &&
        transfer.source === accountOf(transfer.authority) &&
        payer !== terms.feePayer &&
        payer !== terms.payTo,
      [fact('own_token_account'), orNone(transfer?.source)],
    ),
    row('sponsor_isolated', isolated, [
      fact('fee_payer_unnamed'),
      fact(isolated ? 'in_no_instruction' : 'in_an_instruction'),
    ]),
    row('memo', memos.length <= 1 && (terms.memo === null || memos[0]?.text === terms.memo), [
      terms.memo === null ? fact('at_most_one') : textFact(terms.memo),
      memoTexts(memos),
    ]),
  ]
}

function orNone(address: string | null | undefined): CheckFact {
  return address === null || address === undefined ? fact('none') : addressFact(address)
}

/** The fee payer signs the whole transaction, so no instruction may name it, not even to pay it. */
function isIsolated({ accounts }: SolanaFacts, feePayer: string | null): boolean {
  return (
    feePayer === null ||
    accounts.every(({ address, named, called }) => address !== feePayer || (!named && !called))
  )
}
