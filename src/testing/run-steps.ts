import { spawn, type ChildProcess } from 'node:child_process'
import type { TestStep } from './steps.ts'

/** Whether a step's program ended well, and for how many milliseconds it ran. */
export type StepEnd = { step: TestStep; succeeded: boolean; ms: number }
type Streams = { stdout: NodeJS.WritableStream; stderr: NodeJS.WritableStream }
type Run = {
  /** Which of the program's events says that it is over. */
  event: 'exit' | 'close'
  kill: (signal: NodeJS.Signals) => void
  warn: (text: string) => void
}

/** A step that hangs must not take what the others found with it. */
const LIMIT_MINUTES = 10
const GRACE_MS = 30_000
/** The compiler ignores signals, and somebody waits for the prompt. */
const INTERRUPT_GRACE_MS = 3_000
const MS_PER_MINUTE = 60_000
/** Each keeps about two processors busy, but not from its beginning to its end. */
const AT_ONCE = 2
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Runs a step's program at the terminal of this process. */
export function runStep(step: TestStep, env: NodeJS.ProcessEnv): Promise<StepEnd> {
  printHeading(step, process.stdout)
  const [program, ...args] = step.command
  const child = spawn(program, args, { stdio: 'inherit', env: { ...env, ...step.env } })
  const kill = (signal: NodeJS.Signals) => void child.kill(signal)
  return untilEnded(step, child, { event: 'exit', kill, warn: console.error })
}

/**
 * Runs the programs of several steps, two at the same time. The last step takes longest and begins first, beside all others in their
 * order. What they print is shown in the order of the steps, each under its heading. A signal that ends this process ends its programs
 * first.
 */
export async function runTogether(
  steps: readonly TestStep[],
  env: NodeJS.ProcessEnv,
  streams: Streams = process,
): Promise<StepEnd[]> {
  const programs = steps.map((step) => new StepProgram(step, env, streams))
  const waiting = [...programs.slice(-1), ...programs.slice(0, -1)]
  let received: NodeJS.Signals | undefined
  const stop = (signal: NodeJS.Signals) => {
    received = signal
    for (const program of programs) program.kill(signal)
    setTimeout(() => {
      for (const program of programs) program.kill('SIGKILL')
    }, INTERRUPT_GRACE_MS).unref()
  }
  const runWaiting = async () => {
    for (let next = waiting.shift(); next && !received; next = waiting.shift()) await next.run()
  }
  const printAll = async () => {
    for (const program of programs) await program.print()
  }

  for (const signal of SIGNALS) process.on(signal, stop)
  const printed = printAll()
  await Promise.all(Array.from({ length: AT_ONCE }, runWaiting))
  for (const signal of SIGNALS) process.off(signal, stop)
  // Nothing handles it any more: this process ends by it.
  if (received) process.kill(process.pid, received)
  await printed
  return Promise.all(programs.map((program) => program.end))
}

class StepProgram {
  readonly #step: TestStep
  readonly #env: NodeJS.ProcessEnv
  readonly #streams: Streams
  readonly #end = Promise.withResolvers<StepEnd>()
  /** What it printed before its turn came. */
  #early: [stream: NodeJS.WritableStream, data: Uint8Array | string][] | undefined = []
  #child: ChildProcess | undefined

  constructor(step: TestStep, env: NodeJS.ProcessEnv, streams: Streams) {
    this.#step = step
    this.#env = env
    this.#streams = streams
  }

  get end(): Promise<StepEnd> {
    return this.#end.promise
  }

  async run(): Promise<void> {
    const [program, ...args] = this.#step.command
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...this.#env, ...this.#step.env },
      // A group: a signal reaches what the program starts too, and each signal reaches it once.
      detached: true,
    })
    this.#child = child
    const { stdout, stderr } = this.#streams
    child.stdout.on('data', (data) => this.#write(stdout, data))
    child.stderr.on('data', (data) => this.#write(stderr, data))
    const end = await untilEnded(this.#step, child, {
      event: 'close',
      kill: (signal) => this.kill(signal),
      warn: (text) => this.#write(stderr, `${text}\n`),
    })
    this.#child = undefined
    this.#end.resolve(end)
  }

  #write(stream: NodeJS.WritableStream, data: Uint8Array | string): void {
    if (this.#early) this.#early.push([stream, data])
    else stream.write(data)
  }

  kill(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid
    if (pid === undefined) return
    try {
      process.kill(-pid, signal)
    } catch (error) {
      // All of them have ended in this moment.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
  }

  /** Shows what it printed, and will print, until it has ended. */
  async print(): Promise<void> {
    printHeading(this.#step, this.#streams.stdout)
    for (const [stream, data] of this.#early ?? []) stream.write(data)
    this.#early = undefined
    await this.end
  }
}

function printHeading({ name }: TestStep, stream: NodeJS.WritableStream): void {
  stream.write(`\n=== ${name} ===\n`)
}

async function untilEnded(
  step: TestStep,
  child: ChildProcess,
  { event, kill, warn }: Run,
): Promise<StepEnd> {
  const { name, command, limitMinutes = LIMIT_MINUTES } = step
  const startedAt = Date.now()
  const limit = setTimeout(() => {
    warn(`${name} did not end in ${limitMinutes} minutes.`)
    // The test programs report what they know, and end what they started.
    kill('SIGINT')
    setTimeout(kill, GRACE_MS, 'SIGKILL').unref()
  }, limitMinutes * MS_PER_MINUTE)
  const code = await new Promise<number>((resolve) => {
    child.once('error', (error) => {
      warn(`${command[0]} could not be started: ${error.message}`)
      resolve(1)
    })
    child.once(event, (exitCode: number | null) => resolve(exitCode ?? 1))
  })
  clearTimeout(limit)
  return { step, succeeded: code === 0, ms: Date.now() - startedAt }
}
