import { rm } from 'node:fs/promises'
import { COMPILE_CACHE } from '#devnet/folder.ts'
import { addReports, listSlowest, readReport, type TestReport } from './report.ts'
import { runStep, runTogether, type StepEnd } from './run-steps.ts'
import { steps, verifySteps } from './steps.ts'

/** Runs all steps, or those named as arguments (`verify` stands for the fast ones), and ends with each test that failed and one line that sums them up. */
const named = process.argv.slice(2).flatMap((name) => (name === 'verify' ? verifySteps : [name]))
const unknown = named.filter((name) => !steps.some((step) => step.name === name))
if (unknown.length > 0) {
  console.error(
    `No step is called ${unknown.join(', ')}. Steps: ${steps.map((step) => step.name).join(', ')}, verify.`,
  )
  process.exit(2)
}

// The pinned Node comes first, so that every tool and every program a test starts runs on it.
const env = {
  ...process.env,
  ...COMPILE_CACHE,
  PATH: `${process.cwd()}/node_modules/.bin:${process.env.PATH}`,
}
let total: TestReport = { passed: 0, failed: 0, skipped: 0, failures: [], durations: [] }
const lines: string[] = []
const slowest: string[] = []
const SLOW_STEP_MS = 60_000

const chosen = steps.filter((step) =>
  named.length > 0 ? named.includes(step.name) : !step.onlyNamed,
)
for (const { report } of chosen) if (report) await rm(report, { force: true })
const together = chosen.filter((step) => step.readsSources)
// One alone has the terminal to itself.
const alone = together.length > 1 ? chosen.filter((step) => !step.readsSources) : chosen
if (together.length > 1) for (const end of await runTogether(together, env)) await count(end)
for (const step of alone) await count(await runStep(step, env))

if (total.failures.length > 0) console.log(`\n=== failed ===\n${total.failures.join('\n')}`)
if (slowest.length > 0) console.log(slowest.join('\n'))
console.log(`\n${lines.join('\n')}`)
console.log(
  `tests: ${total.passed} passed, ${total.failed} failed${total.skipped ? `, ${total.skipped} skipped` : ''}`,
)
process.exitCode = total.failed > 0 ? 1 : 0

async function count({ step, succeeded, ms }: StepEnd): Promise<void> {
  const report = await readReport(step, succeeded)
  total = addReports(total, report)
  // Where a step took seconds only, nobody looks for its slowest tests.
  if (ms > SLOW_STEP_MS && report.durations.length > 0)
    slowest.push(`\n=== slowest of ${step.name} ===`, ...listSlowest(report.durations))
  lines.push(
    `${step.name.padEnd(12)} ${String(report.passed).padStart(5)} passed ${String(report.failed).padStart(4)} failed  ${(ms / 1000).toFixed(1).padStart(6)} s`,
  )
}
