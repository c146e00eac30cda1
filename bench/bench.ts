import { execSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { argv } from 'node:process'
import { REACHED } from './reached.ts'

/** One line of a bench: ours, beside the peer where there is one, beside the bar. */
export type BenchRow = {
  name: string
  /** Its name in `reached.ts`, where `name` says how many there were. */
  measure?: string | undefined
  peer?: number | undefined
  ours: number
  /** What is compared with the bar: `ours` itself, or a ratio; the p10 of the rounds where it must be high, the p90 where it must be low. */
  value: number
  least?: number | undefined
  most?: number | undefined
  unit: string
  note?: string | undefined
}

/** A few rounds instead of many. */
export const QUICK = argv.includes('--quick')
const STRICT = argv.includes('--strict')

export type Bench = { add: (row: BenchRow) => void }

/**
 * Runs one bench, prints its rows, and writes them below `bench/out`. Ends with 2 where a figure is
 * above the one that was reached before, and with 1 below a bar only with `--strict`: not all bars are
 * met yet.
 */
export async function runBench(name: string, run: (bench: Bench) => Promise<void>): Promise<void> {
  const rows: BenchRow[] = []
  const [load = 0] = loadavg()
  const about = {
    date: new Date().toISOString().slice(0, 16),
    node: process.version,
    cpu: `${cpus().length} × ${cpus()[0]?.model ?? '?'}`,
    load: load.toFixed(1),
    commit: commit(),
  }
  console.log(
    `bench:${name} · ${about.date} · ${about.cpu} · Node ${about.node} · load ${about.load} · ${about.commit}`,
  )
  console.log(
    '| measure | peer | ours | ratio or count | bar | |\n| --- | ---: | ---: | ---: | ---: | --- |',
  )
  await run({
    add(row) {
      rows.push(row)
      console.log(line(row))
    },
  })
  mkdirSync('bench/out', { recursive: true })
  writeFileSync(`bench/out/${name}.json`, JSON.stringify({ ...about, rows }, null, 2))
  const missed = rows.filter((row) => !isMet(row)).length
  console.log(`bench:${name}: ${rows.length - missed} of ${rows.length} bars met\n`)
  const grown = rows.filter((row) => row.value > reachedBy(name, row))
  for (const row of grown)
    console.error(
      `bench:${name}: ${row.name} is ${short(row.value)}, above ${reachedBy(name, row)}, which was reached before`,
    )
  process.exitCode = grown.length > 0 ? 2 : missed > 0 && STRICT ? 1 : 0
}

function reachedBy(bench: string, { name, measure = name }: BenchRow): number {
  return REACHED[bench]?.[measure] ?? Infinity
}

function isMet({ value, least, most }: BenchRow): boolean {
  return (least === undefined || value >= least) && (most === undefined || value <= most)
}

function line(row: BenchRow): string {
  const { name, peer, ours, value, least, most, unit, note } = row
  const bar = least !== undefined ? `≥ ${least}` : most !== undefined ? `≤ ${most}` : ''
  const mark = bar === '' ? '' : isMet(row) ? 'met' : 'MISSED'
  const shown = [
    name,
    peer === undefined ? '' : short(peer),
    short(ours),
    `${short(value)} ${unit}`,
  ]
  return `| ${[...shown, bar, [mark, note].filter(Boolean).join('; ')].join(' | ')} |`
}

function short(value: number): string {
  if (Number.isInteger(value)) return String(value)
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)))
}

function commit(): string {
  try {
    return execSync('git rev-parse --short HEAD', { encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return 'no commit'
  }
}

export type Percentiles = { p10: number; p50: number; p90: number }

/** Percentiles of what was measured. */
export function spread(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
  return { p10: at(0.1), p50: at(0.5), p90: at(0.9) }
}

const TICK_MS = 10

/** The CPU time that a process has used, in milliseconds; it counts no children. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}
