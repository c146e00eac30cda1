/** The modules through which money moves, and the tests that hold them. Paths are patterns from the root of the repository. */
export type MutatedModule = {
  name: string
  mutate: readonly string[]
  tests: readonly string[]
  /** The least score, in percent. */
  bar: number
  /** Its tests open a Postgres server. */
  database?: true
}

const MONITOR_TESTS = ['evm', 'evm-ends', 'solana', 'uncertain-receipt'].map(
  (name) => `src/service/monitor/${name}.test.ts`,
)

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
    tests: ['src/service/payments/{attribution,matches}*.test.ts'],
    bar: 90,
    database: true,
  },
  {
    name: 'claims',
    mutate: ['src/service/db/claims.ts', 'src/service/settlement/claim.ts'],
    tests: [
      'src/service/settlement/{claim,settle-once,payment-identifier}.test.ts',
      'src/service/tenants-claims.test.ts',
    ],
    bar: 90,
    database: true,
  },
  {
    name: 'moves',
    mutate: ['src/contract/payment.ts', 'src/service/payments/{apply-observation,expire}.ts'],
    tests: ['src/contract/payment.test.ts', ...MONITOR_TESTS],
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
