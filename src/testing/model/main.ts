import { ALL_TURNS, searchAttribution } from './attribution.ts'
import { search } from './search.ts'

/**
 * The long form of `src/testing/model.test.ts`: `--depth N` (6 otherwise), `--faults N` (2 otherwise), and of `src/service/payments/attribution.model.test.ts`.
 * `--minutes N` for each of the three (10 otherwise); `--only evm`, `solana` or `attribution` runs one. Ends with 1 when a promise does not hold in some state.
 */

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
const at = process.argv.lastIndexOf('--only')
const only = at === -1 ? undefined : process.argv[at + 1]
let missed = 0
for (const family of ['evm', 'solana'] as const) {
  if (only !== undefined && only !== family) continue
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
if (only === undefined || only === 'attribution') {
  const { start, played, wrong } = await searchAttribution({
    turns: ALL_TURNS,
    maxMs: minutes * 60_000,
  })
  console.log(
    `attribution from turn ${start}: ${played} of ${ALL_TURNS} orders of events and worlds, ${wrong.length} violations (bar 0)`,
  )
  missed += wrong.length
  for (const each of wrong.slice(0, 3)) console.error(`  ${JSON.stringify(each)}`)
}
process.exitCode = missed > 0 ? 1 : 0
