import { spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { COMPILE_CACHE } from '#devnet/folder.ts'
import { addReports, listSlowest, readReport, type TestReport } from './report.ts'
import { steps, verifySteps, type TestStep } from './steps.ts'

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
/** A step that hangs must not take what the others found with it. */
const LIMIT_MINUTES = 10
const GRACE_MS = 30_000
for (const step of steps) {
  if (named.length > 0 ? !named.includes(step.name) : step.onlyNamed) continue
  console.log(`\n=== ${step.name} ===`)
  const startedAt = Date.now()
  const report = await run(step)
  total = addReports(total, report)
  // Where a step took seconds only, nobody looks for its slowest tests.
  if (Date.now() - startedAt > SLOW_STEP_MS && report.durations.length > 0)
    slowest.push(`\n=== slowest of ${step.name} ===`, ...listSlowest(report.durations))
  lines.push(
    `${step.name.padEnd(12)} ${String(report.passed).padStart(5)} passed ${String(report.failed).padStart(4)} failed  ${((Date.now() - startedAt) / 1000).toFixed(1).padStart(6)} s`,
  )
}
if (total.failures.length > 0) console.log(`\n=== failed ===\n${total.failures.join('\n')}`)
if (slowest.length > 0) console.log(slowest.join('\n'))
console.log(`\n${lines.join('\n')}`)
console.log(
  `tests: ${total.passed} passed, ${total.failed} failed${total.skipped ? `, ${total.skipped} skipped` : ''}`,
)
process.exitCode = total.failed > 0 ? 1 : 0

async function run(step: TestStep): Promise<TestReport> {
  if (step.report) await rm(step.report, { force: true })
  const [program, ...args] = step.command
  const child = spawn(program, args, { stdio: 'inherit', env: { ...env, ...step.env } })
  const minutes = step.limitMinutes ?? LIMIT_MINUTES
  const limit = setTimeout(() => {
    console.error(`${step.name} did not end in ${minutes} minutes.`)
    // The test programs report what they know, and end what they started.
    child.kill('SIGINT')
    setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref()
  }, minutes * 60_000)
  const code = await new Promise<number>((resolve) => {
    child.once('error', (error) => {
      console.error(`${program} could not be started: ${error.message}`)
      resolve(1)
    })
    child.once('exit', (exitCode) => resolve(exitCode ?? 1))
  })
  clearTimeout(limit)
  return readReport(step, code === 0)
}
