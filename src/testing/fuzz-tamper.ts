import { evmToken } from './tamper/evm-token.ts'
import { evm } from './tamper/evm.ts'
import { solanaToken } from './tamper/solana-token.ts'
import { solana } from './tamper/solana.ts'
import { tamper } from './tamper/tamper.ts'

/**
 * The long form of `src/chains/tamper.test.ts`: 10^5 tampered transactions of each kind (native and token, on both chains), or `--count N`; `--seed N` repeats a run.
 * Prints how each way of tampering ended, and ends with 1 when one transaction got through that is not the payment asked for.
 */

function readOption(name: string, otherwise: number): number {
  const at = process.argv.indexOf(`--${name}`)
  const value = at === -1 ? otherwise : Number(process.argv[at + 1])
  if (!Number.isSafeInteger(value) || value < 0)
    throw new Error(`Expected a whole number after --${name}, for example --${name} ${otherwise}.`)
  return value
}

const count = readOption('count', 100_000)
const seed = readOption('seed', Date.now() % 2 ** 32)
const kinds = { evm, solana, 'evm token': evmToken, 'solana token': solanaToken }
const all = Object.keys(kinds).length * count
let stopped = 0
for (const [name, chain] of Object.entries(kinds)) {
  const { blocked, equal, leaked, ways } = await tamper(chain, count, seed)
  stopped += blocked + equal
  console.log(
    `${name}: ${blocked} blocked, ${equal} equal, ${leaked.length} let through (seed ${seed})`,
  )
  for (const [how, way] of [...ways].toSorted(([a], [b]) => a.localeCompare(b)))
    console.log(`  ${how}: ${way.blocked} blocked, ${way.equal} equal`)
  for (const { how, door, bytes } of leaked.slice(0, 10))
    console.error(`  LET THROUGH at ${door}: ${how}: ${Buffer.from(bytes).toString('base64')}`)
}
console.log(`tampered transactions blocked or equal: ${stopped} of ${all} (bar 100 %)`)
process.exitCode = stopped === all ? 0 : 1
