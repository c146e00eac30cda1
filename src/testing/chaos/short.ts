import { spawn } from 'node:child_process'
import { execPath } from 'node:process'
import { fileURLToPath } from 'node:url'
import { inParallel } from '#service/chains/in-parallel.ts'

/**
 * The short forms of the chaos commands, as `npm test` runs them: several at once, since each waits for blocks and
 * timers more than it computes. Prints what each one says when it ends, and exits with 1 when one
 * fails.
 */
const COMMANDS = ['kill', 'clock', 'rpc', 'db', 'claims', 'chain', 'disk', 'restore'] as const
/** Their processes together need two processors. */
const AT_ONCE = 3
/** Until what a command printed last is read. */
const DRAIN_MS = 200

const isRoot = process.getuid?.() === 0
/** They mount a small disk, and install a library: on another user's machine they are not run, and that is printed. */
const NEED_ROOT: readonly string[] = ['disk', 'clock']
const startedAt = performance.now()
const codes = await inParallel(COMMANDS, AT_ONCE, async (command) => {
  if (NEED_ROOT.includes(command) && !isRoot) {
    console.log(`\n--- chaos:${command} --- not run: it needs root`)
    return 0
  }
  const file = fileURLToPath(new URL(`${command}.ts`, import.meta.url))
  const args = command === 'kill' ? ['--kills', '20'] : []
  const child = spawn(execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (said += text.toString()))
  const code = await new Promise<number>((resolve) =>
    // Not `close`: what a failed command left running keeps its output open.
    child.once('exit', (ended) => setTimeout(() => resolve(ended ?? 1), DRAIN_MS)),
  )
  console.log(`\n--- chaos:${command} ---\n${said.trim()}`)
  return code
})
console.log(
  `\nchaos: ${codes.filter((code) => code === 0).length} of ${COMMANDS.length} commands, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
)
process.exitCode = codes.every((code) => code === 0) ? 0 : 1
