import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { SignerConfigError } from './config.ts'
import type { Spending } from './read-transaction.ts'

const DAY_MS = 86_400_000
const FILE = /^spend-(\d{4}-\d{2}-\d{2})\.jsonl$/
const LINE_END = 10
/** Files are read in pieces: a day of many signatures is longer than a string may be. */
const PIECE = 1024 * 1024
/**
 * Each write is on the disk when it returns. Node's permission model, under which the signer runs, allows no `fsync`.
 */
const APPEND_SYNCED =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_DSYNC
/** A line without content, longer than any other: a disk that takes it takes a signature. */
const BLANK_LINE = `${' '.repeat(1_023)}\n`

const atomic = v.pipe(
  v.string(),
  v.regex(/^[0-9]+$/),
  v.transform((digits) => BigInt(digits)),
)
const Line = v.object({
  at: v.number(),
  atLeast: v.optional(v.number()),
  wallet: v.string(),
  network: v.string(),
  identity: v.string(),
  amount: atomic,
  fee: atomic,
})

/** `until`: when it no longer counts, on the clock that nobody sets. */
type Counted = { until: number; totalAtomic: bigint }
/** Of a wallet on a network: by identity, the first to end first, and their sum. */
type Window = { counted: Map<string, Counted>; sumAtomic: bigint }
type Entry = { wallet: string; network: string; identity: string } & Counted

/** Milliseconds: `now` since 1970, and `uptime` since any moment, which changes of the machine's clock leave as it is. */
export type SignerClock = { now: () => number; uptime: () => number }

/**
 * What the signer has signed, one line a signature, in a file a UTC day. A line is on the disk before its signature leaves, so neither a restart nor a
 * kill forgets what was spent. What was counted and never broadcast stays counted: the signer cannot know.
 *
 * The 24 hours of a signature are measured by `uptime`: a clock that is set forward gives no wallet its day back. Only at the start is the machine's clock
 * believed, and a line of the future counts for 24 hours more.
 *
 * A machine may start with a clock that is behind, until it is set. A line that is written then has in `atLeast` the time of the newest line and what has
 * passed since, and is in the file of that day: once the clock is right, the line counts from there.
 */
export class SpendLog {
  readonly #folder: string
  readonly #clock: SignerClock
  readonly #windows = new Map<string, Window>()
  /** The latest time of a line, and the `uptime` from which it is continued. */
  #newest: { at: number; uptime: number }
  #file: { day: string; handle: FileHandle } | undefined
  #waiting: { line: string; written: () => void; failed: (error: unknown) => void }[] = []
  #writing = false
  #refused = false

  /** @throws SignerConfigError for a file with a line that is not of this program */
  constructor(folder: string, clock: SignerClock) {
    this.#folder = folder
    this.#clock = clock
    const since = dayOf(clock.now() - DAY_MS)
    const entries: Entry[] = []
    let newest = -Infinity
    for (const name of readdirSync(folder).toSorted()) {
      const day = FILE.exec(name)?.[1]
      if (day !== undefined && day >= since)
        for (const line of readLog(join(folder, name))) {
          newest = Math.max(newest, line.at, line.atLeast ?? -Infinity)
          const entry = toEntry(line, clock)
          if (entry) entries.push(entry)
        }
    }
    this.#newest = { at: newest, uptime: clock.uptime() }
    for (const entry of entries.toSorted((one, other) => one.until - other.until))
      this.#count(entry)
  }

  /** What a wallet has signed on a network in the last 24 hours, but for the payment of this identity. Atomic units. */
  outflow(wallet: string, { network, identity }: Pick<Spending, 'network' | 'identity'>): bigint {
    const window = this.#windows.get(nameOf(wallet, network))
    if (!window) return 0n
    const uptime = this.#clock.uptime()
    for (const [key, { until, totalAtomic }] of window.counted) {
      if (until > uptime) break
      window.counted.delete(key)
      window.sumAtomic -= totalAtomic
    }
    return window.sumAtomic - (window.counted.get(identity)?.totalAtomic ?? 0n)
  }

  /**
   * Counts a signature, at once; resolves when it is on the disk. A payment that is signed again counts once, with its highest fee.
   * @throws when the disk does not take it: it stays counted, and must not be signed
   */
  async append(wallet: string, spending: Spending): Promise<void> {
    const { kind, network, recipient, identity, amountAtomic, feeAtomic } = spending
    const { now, uptime } = this.#clock
    const totalAtomic = amountAtomic + feeAtomic
    this.#count({ wallet, network, identity, until: uptime() + DAY_MS, totalAtomic })
    const amounts = { amount: amountAtomic.toString(), fee: feeAtomic.toString() }
    const at = now()
    const atLeast = this.#time(at)
    if (atLeast === at) this.#newest = { at, uptime: uptime() }
    const times = { at, ...(atLeast > at && { atLeast }) }
    const facts = { ...times, wallet, network, kind, recipient, ...amounts, identity }
    await this.#enqueue(`${JSON.stringify(facts)}\n`)
  }

  /** After a write that failed: whether the disk takes lines again. @throws as long as it does not */
  async check(): Promise<void> {
    if (this.#refused) await this.#enqueue(BLANK_LINE)
  }

  async close(): Promise<void> {
    await this.#file?.handle.close()
    this.#file = undefined
  }

  #enqueue(line: string): Promise<void> {
    return new Promise((written, failed) => {
      this.#waiting.push({ line, written, failed })
      if (!this.#writing) void this.#write()
    })
  }

  /** All that wait share one write to the disk. */
  async #write(): Promise<void> {
    this.#writing = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      try {
        const handle = await this.#today()
        await handle.appendFile(batch.map(({ line }) => line).join(''))
        this.#refused = false
        for (const { written } of batch) written()
      } catch (error) {
        this.#refused = true
        // Half a line may be there: the next write begins with a new file handle, behind its end.
        await this.close().catch(() => {})
        for (const { failed } of batch) failed(error)
      }
    }
    this.#writing = false
  }

  async #today(): Promise<FileHandle> {
    const day = dayOf(this.#time(this.#clock.now()))
    if (this.#file?.day === day) return this.#file.handle
    await this.close()
    const path = join(this.#folder, `spend-${day}.jsonl`)
    dropTornLine(path)
    const handle = await open(path, APPEND_SYNCED, 0o600)
    this.#file = { day, handle }
    return handle
  }

  /** The machine's clock; where it is behind the newest line, the time of that line and what has passed since. */
  #time(now: number): number {
    const { at, uptime } = this.#newest
    return now >= at ? now : at + this.#clock.uptime() - uptime
  }

  #count({ wallet, network, identity, until, totalAtomic }: Entry): void {
    const name = nameOf(wallet, network)
    const window = this.#windows.get(name) ?? { counted: new Map<string, Counted>(), sumAtomic: 0n }
    this.#windows.set(name, window)
    const before = window.counted.get(identity)?.totalAtomic ?? 0n
    const highest = before > totalAtomic ? before : totalAtomic
    window.counted.delete(identity)
    window.counted.set(identity, { until, totalAtomic: highest })
    window.sumAtomic += highest - before
  }
}

function nameOf(wallet: string, network: string): string {
  return `${wallet} ${network}`
}

/** @throws SignerConfigError with the number of a line that is not of this program */
function* readLog(path: string): Generator<v.InferOutput<typeof Line>> {
  dropTornLine(path)
  let number = 0
  for (const text of linesOf(path)) {
    number++
    if (text.trim() === '') continue
    const line = v.safeParse(v.pipe(v.string(), v.parseJson(), Line), text)
    if (!line.success)
      throw new SignerConfigError(
        `${path}: line ${number} is not of the signer. What was spent is not known, so nothing is signed. Repair the line, or move the file away to begin at zero.`,
      )
    yield line.output
  }
}

/** Undefined for a line that no longer counts. An `atLeast` of the future is that of a clock that was ahead. */
function toEntry(
  { at, atLeast, wallet, network, identity, amount, fee }: v.InferOutput<typeof Line>,
  clock: SignerClock,
): Entry | undefined {
  const now = clock.now()
  const from = atLeast !== undefined && atLeast <= now ? Math.max(at, atLeast) : at
  const left = Math.min(from + DAY_MS - now, DAY_MS)
  if (left <= 0) return undefined
  return { wallet, network, identity, until: clock.uptime() + left, totalAtomic: amount + fee }
}

function* linesOf(path: string): Generator<string> {
  const file = openSync(path, 'r')
  try {
    const piece = Buffer.alloc(PIECE)
    let rest = Buffer.alloc(0)
    for (let length = readSync(file, piece); length > 0; length = readSync(file, piece)) {
      const bytes = Buffer.concat([rest, piece.subarray(0, length)])
      let from = 0
      for (let end = bytes.indexOf(LINE_END); end >= 0; end = bytes.indexOf(LINE_END, from)) {
        yield bytes.toString('utf8', from, end)
        from = end + 1
      }
      rest = bytes.subarray(from)
    }
  } finally {
    closeSync(file)
  }
}

/** The signature of a line without its end has not left. */
export function dropTornLine(path: string): void {
  if (!existsSync(path)) return
  const { size } = statSync(path)
  const file = openSync(path, 'r')
  let end = size
  try {
    const piece = Buffer.alloc(Math.min(size, PIECE))
    for (let found = false; !found && end > 0;) {
      const from = Math.max(0, end - piece.length)
      const at = piece.subarray(0, readSync(file, piece, 0, end - from, from)).lastIndexOf(LINE_END)
      found = at >= 0
      end = found ? from + at + 1 : from
    }
  } finally {
    closeSync(file)
  }
  if (end < size) truncateSync(path, end)
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}
