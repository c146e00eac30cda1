/**
 * The modules through which money moves, and the fast ones of the tests that hold them: each runs for every mutant that it reaches. Paths are patterns from
 * the root of the repository.
 */
export type MutatedModule = {
  name: string
  mutate: readonly string[]
  tests: readonly string[]
  /** The least score, in percent. */
  bar: number
  /** Its tests open a Postgres server. */
  database?: true
}

export const MUTATED_MODULES: readonly MutatedModule[] = [
  {
    name: 'amounts',
    mutate: ['src/contract/amount.ts'],
    tests: ['src/contract/amount.test.ts'],
    bar: 90,
  },
  {
    name: 'egress',
    mutate: ['src/egress/*.ts', '!src/**/*.test.ts'],
    tests: ['src/egress/*.test.ts', 'src/service/settlement/post-json.test.ts'],
    bar: 90,
  },
  {
    name: 'attribution',
    mutate: ['src/service/payments/attribution.ts'],
    tests: ['src/service/payments/{attribution,matches-payment}.test.ts'],
    bar: 90,
    database: true,
  },
  {
    name: 'claims',
    mutate: ['src/service/db/claims.ts', 'src/service/settlement/claim.ts'],
    tests: ['src/service/db/claims.test.ts', 'src/service/settlement/claim-answers.test.ts'],
    bar: 90,
    database: true,
  },
  {
    name: 'moves',
    mutate: ['src/contract/payment.ts', 'src/service/payments/{apply-observation,expire}.ts'],
    tests: [
      'src/contract/payment.test.ts',
      'src/service/payments/{apply-observation,expire}.test.ts',
    ],
    bar: 90,
    database: true,
  },
  {
    name: 'match',
    mutate: ['src/chains/match.ts', 'src/chains/{evm,solana}/{match,compare}.ts'],
    tests: [
      'src/chains/evm/{match,refused-facts,erc20}.test.ts',
      'src/chains/solana/{match,refused-facts,token,fee-payer}.test.ts',
    ],
    bar: 90,
  },
]
