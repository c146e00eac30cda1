import { spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { execPath } from 'node:process'
import { fileURLToPath } from 'node:url'
import { inParallel } from '#service/chains/endpoints.ts'
import { addReports, describeFailure, type TestReport } from '../report.ts'

/**
 * The short forms of the chaos commands, as `npm test` runs them: several at once, since each waits for blocks and
 * timers more than it computes. Prints what each one says when it ends, writes what became of it to
 * `test-results/chaos.json`, and exits with 1 when one fails.
 */
const COMMANDS = ['kill', 'clock', 'rpc', 'db', 'claims', 'chain', 'disk', 'restore'] as const
/** Their processes together need two processors. */
const AT_ONCE = 3
/** Until what a command printed last is read. */
const DRAIN_MS = 200
const LAST_LINES = 14

const isRoot = process.getuid?.() === 0
/** They mount a small disk, and install a library: on another user's machine they are not run, and that is printed. */
const NEED_ROOT: readonly string[] = ['disk', 'clock']
const startedAt = performance.now()
const reports = await inParallel(COMMANDS, AT_ONCE, run)
const total = reports.reduce(addReports)
console.log(
  `\nchaos: ${total.passed + total.skipped} of ${COMMANDS.length} commands, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
)
await mkdir('test-results', { recursive: true })
await writeFile('test-results/chaos.json', JSON.stringify(total))
process.exitCode = total.failed > 0 ? 1 : 0

async function run(command: (typeof COMMANDS)[number]): Promise<TestReport> {
  const title = `chaos:${command}`
  const report = { passed: 0, failed: 0, skipped: 0, failures: [], durations: [] }
  if (NEED_ROOT.includes(command) && !isRoot) {
    console.log(`\n--- ${title} --- not run: it needs root`)
    return { ...report, skipped: 1 }
  }
  const file = fileURLToPath(new URL(`${command}.ts`, import.meta.url))
  const args = command === 'kill' ? ['--kills', '12'] : []
  const begun = performance.now()
  const child = spawn(execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (said += text.toString()))
  const code = await new Promise<number>((resolve) =>
    // Not `close`: what a failed command left running keeps its output open.
    child.once('exit', (ended) => setTimeout(() => resolve(ended ?? 1), DRAIN_MS)),
  )
  console.log(`\n--- ${title} ---\n${said.trim()}`)
  const durations = [{ file: `${command}.ts`, title, ms: performance.now() - begun }]
  if (code === 0) return { ...report, passed: 1, durations }
  return { ...report, failed: 1, failures: [describeFailure(title, why(said))], durations }
}

/** The seed, and the bars that were missed; where none was, the last that the command said. */
function why(said: string): string {
  const [seed = '', ...lines] = said.trim().split('\n')
  const missed = lines.filter((line) => line.endsWith(' MISSED'))
  return [seed, ...(missed.length > 0 ? missed : lines.slice(-LAST_LINES))].join('\n')
}
