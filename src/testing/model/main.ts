import { search } from './search.ts'

/** The long form of `src/testing/model.test.ts`: `--depth N` (6 otherwise), `--faults N` (2 otherwise), `--minutes N` for each chain (10 otherwise). Ends with 1 when a promise does not hold in some state. */

function readOption(name: string, otherwise: number): number {
  const at = process.argv.lastIndexOf(`--${name}`)
  const value = at === -1 ? otherwise : Number(process.argv[at + 1])
  if (!(value >= 0)) throw new Error(`Expected a number after --${name}, for example ${otherwise}.`)
  return value
}

const most = readOption('depth', 6)
const faults = readOption('faults', 2)
const minutes = readOption('minutes', 10)
const prefixes = [[], ['send a'], ['send a', 'send b'], ['send a', 'mine', 'poll']]
let missed = 0
for (const family of ['evm', 'solana'] as const) {
  const until = Date.now() + minutes * 60_000
  for (let depth = 1; depth <= most; depth++)
    for (const prefix of prefixes) {
      const maxMs = until - Date.now()
      if (maxMs <= 0) continue
      const found = await search({ family, depth, faults, prefix, maxMs })
      const { states, transitions, settled, complete, violations } = found
      console.log(
        `${family} after ${prefix.length === 0 ? 'nothing' : prefix.join(', ')}: depth ${depth}, ${states} states, ${transitions} transitions, ${settled} settled, ${violations.length} violations (bar 0)${complete ? '' : ', not finished'}`,
      )
      missed += violations.length
      for (const { rule, trace, facts } of violations.slice(0, 3))
        console.error(`  ${rule}:\n    ${trace.join('\n    ')}\n  ${JSON.stringify(facts)}`)
    }
}
process.exitCode = missed > 0 ? 1 : 0
