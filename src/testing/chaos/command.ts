import { randomInt } from 'node:crypto'
import { argv, exit, getActiveResourcesInfo } from 'node:process'
import { createRng, type SeededRng } from './rng.ts'

export type ChaosCommand = {
  rounds: number
  rng: SeededRng
  /** Prints a measurement beside its bar; a missed one makes the command fail. */
  measure: (name: string, value: bigint | number | string, bar: string, met: boolean) => void
}

type Rounds = { short: number; long: number }

/**
 * Runs a command of `npm run chaos:…`: reads `--seed N`, `--rounds N` and `--long`, prints how to
 * repeat the run, and exits with 1 when a bar is missed. The seed repeats which faults come in
 * which order and how far apart; what the programs do between them depends on the machine.
 */
export async function runCommand(
  name: string,
  { short, long }: Rounds,
  run: (command: ChaosCommand) => Promise<void>,
): Promise<void> {
  const seed = readNumber('--seed') ?? randomInt(2 ** 31)
  const rounds = readNumber('--rounds') ?? (argv.includes('--long') ? long : short)
  console.log(
    `${name}: seed ${seed}; to replay: npm run ${name} -- --seed ${seed} --rounds ${rounds}`,
  )
  const startedAt = performance.now()
  limitTime(name, rounds)
  let missed = 0
  await run({
    rounds,
    rng: createRng(seed),
    measure(measured, value, bar, met) {
      if (!met) missed++
      console.log(`${measured}: ${value} (${bar})${met ? '' : ' MISSED'}`)
    },
  })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${name}: ${missed === 0 ? 'every bar is met' : `${missed} MISSED`}, ${seconds} s`)
  process.exitCode = missed === 0 ? 0 : 1
}

/** More than all that a command waits for by itself, so that its own reason is printed where there is one. */
const LIMIT_MS = 480_000

/** Ends the process with 1, and says what it still waited for, when it has not ended in eight minutes for each round. */
export function limitTime(name: string, rounds: number): void {
  setTimeout(() => {
    const open = getActiveResourcesInfo().toSorted().join(', ')
    console.log(`${name}: did not end in ${(rounds * LIMIT_MS) / 60_000} min; it waits for ${open}`)
    exit(1)
  }, rounds * LIMIT_MS).unref()
}

/** The last one counts, so that a script may pass its own first. */
function readNumber(flag: string): number | undefined {
  const at = argv.lastIndexOf(flag)
  if (at === -1) return undefined
  const value = Number(argv[at + 1])
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw new Error(`Expected a whole number above 0 after ${flag}, received ${argv[at + 1]}.`)
}

export const pause = (ms: number): Promise<void> => new Promise((end) => setTimeout(end, ms))

const POLL_MS = 200

/** Polls until that is so; false where it is not within the time. */
export async function waitUntil(withinMs: number, isSo: () => Promise<boolean>): Promise<boolean> {
  const until = performance.now() + withinMs
  for (;;) {
    if (await isSo()) return true
    if (performance.now() > until) return false
    await pause(POLL_MS)
  }
}
