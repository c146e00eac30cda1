import { t } from '@lingui/core/macro'
import { formatAmount } from '#contract/amount.ts'
import { i18n } from '../../locales/i18n.ts'
import { proofReasons } from '../../errors/proof-reasons.ts'
import type { BatchRow } from './batch.ts'
import { firstBad, verdictOf, type ProofVerdict } from '../../payment-view/check.ts'
import { factsOf } from './proof/facts.ts'
import type { Expected } from './proof/local-checks.ts'
import { recognize } from './recognize.ts'
import { checkOnly } from './run-checks.ts'

/** What became of one proof of many. */
export type ProofLine = {
  name: string
  verdict: ProofVerdict
  reason: string
  amount: string
  payer: string
  transaction: string
}

export type RowContext = {
  /** The service may be asked. */
  mine: boolean
  /** The proofs of earlier rows, and those rows' names. */
  seen: Map<string, string>
}

/** Checks one proof of many and uses nothing up. Each of two equal ones would read as good alone; together they pay once. */
export async function checkRow(
  { name, proof }: BatchRow,
  expected: Expected,
  { mine, seen }: RowContext,
): Promise<ProofLine> {
  const found = recognize(proof)
  const empty = { name, amount: '', payer: '', transaction: '' }
  if (found.kind !== 'proof')
    return {
      ...empty,
      verdict: 'invalid',
      reason: found.kind === 'problem' ? found.text : i18n._(proofReasons.malformed.title),
    }
  const facts = factsOf(found.payment)
  const about = {
    ...empty,
    amount:
      facts.amountAtomic === null ? '' : formatAmount(facts.amountAtomic, expected.asset.decimals),
    payer: facts.payer ?? '',
  }
  const id = facts.transaction ?? JSON.stringify(found.payment.payload)
  const first = seen.get(id)
  if (first !== undefined)
    return { ...about, verdict: 'invalid', reason: t`Duplicate of “${first}”.` }
  seen.set(id, name)
  try {
    const result = await checkOnly(
      { header: found.header, payment: found.payment, facts, expected },
      mine,
    )
    const bad = firstBad(result.checks)
    const news = result.undecided ?? (result.already ? t`Accepted before.` : '')
    return {
      ...about,
      verdict: verdictOf(result),
      reason: bad?.reason ? i18n._(proofReasons[bad.reason].title) : news,
      transaction: result.transaction ?? '',
    }
  } catch (error) {
    return { ...about, verdict: 'unknown', reason: error instanceof Error ? error.message : '' }
  }
}
