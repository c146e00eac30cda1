import { openRecovery } from '#service/chains/evm/recovery.ts'
import { compareVerdicts } from './fuzz/compare-verdicts.ts'

/**
 * `npm run fuzz:verify`: 10^5 payments by EIP-3009, whole and malformed, or `--count N`; `--seed N`
 * repeats a run. Each is verified at once, step by step, and by the official package. Ends with 1
 * where one is accepted that the official package or the steps refuse, or the two ways differ.
 */

function readOption(name: string, otherwise: number): number {
  const at = process.argv.indexOf(`--${name}`)
  const value = at === -1 ? otherwise : Number(process.argv[at + 1])
  if (!Number.isSafeInteger(value) || value < 0)
    throw new Error(`Expected a whole number after --${name}, for example --${name} ${otherwise}.`)
  return value
}

const seed = readOption('seed', Date.now() % 2 ** 32)
const count = readOption('count', 100_000)
// As the service does.
const recovery = await openRecovery((error) => console.error(error))
const { cases, valid, looser, unequal, stricter } = await compareVerdicts({ count, seed })
for (const [what, times] of [...stricter].toSorted(([, a], [, b]) => b - a).slice(0, 40))
  console.log(`  refused here alone, ${times} ×: ${what}`)
for (const told of [...looser, ...unequal].slice(0, 20)) console.error(`  DIFFERENT: ${told}`)
console.log(
  `verified: ${cases} payments, ${valid} valid (seed ${seed}), signers recovered by ${recovery}`,
)
console.log(`accepted here, refused by the official package or the steps: ${looser.length} (bar 0)`)
console.log(`accepted or refused otherwise at once than in steps: ${unequal.length} (bar 0)`)
process.exitCode = looser.length + unequal.length > 0 ? 1 : 0
