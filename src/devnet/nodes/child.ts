import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { createInterface } from 'node:readline'
import * as v from 'valibot'

/**
 * Linux ends the child when its parent dies, even by kill -9; elsewhere a killed devnet leaves its
 * programs running.
 */
const SETPRIV = '/usr/bin/setpriv'
const DIE_WITH_PARENT = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'TERM', '--'] : []

const STOP_DEADLINE_MS = 12_000
const RESTART_PAUSE_MS = 500
const MAX_LINES = 40

export type ChildCommand = {
  /** The name shown in messages. */
  name: string
  command: string
  args: string[]
  env?: Record<string, string>
  cwd?: string
}

type NodeProgram = {
  name: string
  main: string
  /** With 16, requests take no more processor time than with the default of 32. */
  newObjectsMb: number
  env: Record<string, string>
}

/**
 * One of our programs, with little memory for what it no longer needs: Node keeps new objects twice before it collects them, and glibc a heap for each thread that
 * compiled something.
 */
export function nodeCommand({ name, main, newObjectsMb, env }: NodeProgram): ChildCommand {
  return {
    name,
    command: process.execPath,
    args: [`--max-semi-space-size=${newObjectsMb}`, main],
    env: { MALLOC_ARENA_MAX: '1', ...env },
  }
}

export type SupervisedOptions = {
  /**
   * Resolves when the process responds; rejects when it cannot. It is abandoned when the process
   * ends.
   */
  ready: (run: Run) => Promise<void>
  /** Gets every line the process writes. */
  onLine?: (line: string) => void
  /** Shows a sentence to the person at the terminal. */
  print: (line: string) => void
}

/** One run of a process: `line` waits for a line that fits. */
type Run = { pid: number; line: <T>(fit: (line: string) => T | undefined) => Promise<T> }

/** A program of the devnet. If it ends unexpectedly, it is started again, with a line saying so. */
export class Supervised implements AsyncDisposable {
  readonly #command: ChildCommand
  readonly #options: SupervisedOptions
  #child: ChildProcess | undefined
  #stopping = false
  #life: Promise<void> = Promise.resolve()

  private constructor(command: ChildCommand, options: SupervisedOptions) {
    this.#command = command
    this.#options = options
  }

  static async start(command: ChildCommand, options: SupervisedOptions): Promise<Supervised> {
    const supervised = new Supervised(command, options)
    await supervised.#run()
    return supervised
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Kills the process; resolves when it is back and responds. */
  async kill(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${this.#command.name} does not run.`)
    const gone = exited(child)
    child.kill('SIGKILL')
    await gone
    await this.#life
  }

  /** Stops the process gracefully and starts it again, after `whileAway`. */
  async restart(whileAway?: () => Promise<void>): Promise<void> {
    await this.stop()
    await whileAway?.()
    this.#stopping = false
    await this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping = true
    const child = this.#child
    if (child && child.exitCode === null && child.signalCode === null) {
      const gone = exited(child)
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS)
      await gone
      clearTimeout(timer)
    }
    await this.#life.catch(() => undefined)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async #run(): Promise<void> {
    const { name, command, args, env, cwd } = this.#command
    const [file = command, ...rest] = [...DIE_WITH_PARENT, command, ...args]
    // A separate process group: Ctrl-C in the terminal reaches only the devnet, which then ends its
    // programs in order.
    // It gets only this environment: a DATABASE_URL of the caller's shell must not reach it.
    const child = spawn(file, rest, {
      env: { PATH: '/usr/bin:/bin', HOME: homedir(), ...env },
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    this.#child = child
    const lines: string[] = []
    const waiting = new Set<(line: string) => void>()
    const read = (line: string) => {
      lines.push(line)
      if (lines.length > MAX_LINES) lines.shift()
      this.#options.onLine?.(line)
      for (const listener of waiting) listener(line)
    }
    createInterface({ input: child.stdout }).on('line', read)
    createInterface({ input: child.stderr }).on('line', read)

    const ended = exited(child).then((how) => {
      throw new Error(`${name} ended while starting (${how}).\n${lines.slice(-8).join('\n')}`)
    })
    ended.catch(() => undefined)
    const run: Run = {
      pid: child.pid ?? -1,
      line: (fit) =>
        new Promise((resolve) => {
          const listener = (line: string) => {
            const found = fit(line)
            if (found === undefined) return
            waiting.delete(listener)
            resolve(found)
          }
          waiting.add(listener)
          for (const line of lines) listener(line)
        }),
    }
    try {
      await Promise.race([this.#options.ready(run), ended])
    } catch (error) {
      child.kill('SIGKILL')
      throw error
    }
    child.once('exit', () => this.#again())
    if (child.exitCode !== null || child.signalCode !== null) this.#again()
  }

  #again(): void {
    if (this.#stopping) return
    const how = this.#child ? describeExit(this.#child) : 'unknown'
    this.#options.print(`${this.#command.name} ended (${how}); starting it again.`)
    this.#life = this.#runUntilUp()
    this.#life.catch(() => undefined)
  }

  /** The port of the previous process may still be in use for a moment. */
  async #runUntilUp(): Promise<void> {
    while (!this.#stopping) {
      try {
        await this.#run()
        this.#options.print(`${this.#command.name} is back.`)
        return
      } catch (error) {
        if (this.#stopping) return
        this.#options.print(
          `${this.#command.name} did not come back: ${error instanceof Error ? error.message : String(error)}`,
        )
        await new Promise((resolve) => setTimeout(resolve, RESTART_PAUSE_MS))
      }
    }
  }
}

function exited(child: ChildProcess): Promise<string> {
  if (child.exitCode !== null || child.signalCode !== null)
    return Promise.resolve(describeExit(child))
  return new Promise((resolve) => {
    child.once('exit', () => resolve(describeExit(child)))
    child.once('error', (error) => resolve(error.message))
  })
}

function describeExit(child: ChildProcess): string {
  return child.signalCode ?? `exit code ${child.exitCode}`
}

const Listening = v.object({ msg: v.literal('listening'), port: v.number() })

/** Resolves when a program has written the line that every program of ours writes once it serves. */
export async function untilListening(run: Run): Promise<void> {
  await run.line((line) => (isListening(line) ? true : undefined))
}

function isListening(line: string): boolean {
  try {
    return v.is(Listening, JSON.parse(line))
  } catch {
    return false
  }
}
