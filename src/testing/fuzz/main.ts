import { runFuzz } from './run-fuzz.ts'

/** The long form of `src/testing/fuzz.test.ts`: `--requests N` (1,000,000 otherwise), `--seed N`, `--minutes N` at most. Ends with 1 when an answer is not as described. */

function readOption(name: string, otherwise: number): number {
  const at = process.argv.lastIndexOf(`--${name}`)
  const value = at === -1 ? otherwise : Number(process.argv[at + 1])
  if (!(value >= 0)) throw new Error(`Expected a number after --${name}, for example ${otherwise}.`)
  return value
}

const seed = readOption('seed', Date.now() % 2 ** 31)
const report = await runFuzz({
  seed,
  requests: readOption('requests', 1_000_000),
  maxMs: readOption('minutes', 600) * 60_000,
  onProgress: (done, { problems }) => {
    if (done % 10_000 === 0) console.log(`${done} requests, ${problems.size} kinds of problems`)
  },
})
for (const [problem, { count, example }] of report.problems)
  console.error(`${count} x ${problem}\n    ${example}`)
const statuses = [...report.statuses].map(([status, count]) => `${status}: ${count}`).toSorted()
console.log(statuses.join(', '))
console.log(`endpoints reached with success: ${report.succeeded.size}`)
console.log(
  `requests with an undescribed answer: ${[...report.problems.values()].reduce((sum, { count }) => sum + count, 0)} of ${report.requests} in ${report.seconds.toFixed(0)} s (bar 0, seed ${seed})`,
)
process.exit(report.problems.size > 0 ? 1 : 0)
