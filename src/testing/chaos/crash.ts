import { POINTS, runCases, FAULTS, type Case } from './crash-batch.ts'
import { openCrashHarness } from './crash-harness.ts'

/**
 * Kills a service at each step of a hosted send and of a settlement whose network fee its wallet
 * pays, on both chains: with nothing else wrong, with the RPC down at that moment, and with
 * Postgres crashed and restarted. `--rounds N` (1 otherwise). Prints one line per trouble and exits
 * with 1 when one misses its limit.
 */
const at = process.argv.indexOf('--rounds')
const rounds = at === -1 ? 1 : Number(process.argv[at + 1])
if (!Number.isSafeInteger(rounds) || rounds < 1)
  throw new Error('Expected a whole number after --rounds, for example --rounds 20.')

const points = Object.keys(POINTS) as (keyof typeof POINTS)[]
const cases = points.flatMap((point) =>
  (['evm', 'solana'] as const).map((family): Case => ({ family, point })),
)

let missed = 0
{
  await using stage = await openCrashHarness()
  for (let round = 0; round < rounds; round++) {
    for (const userError of FAULTS) {
      const findings = await runCases(stage, userError, cases)
      const hit = findings.filter(({ endedBy }) => endedBy === 'SIGKILL').length
      const lost = findings.filter(
        ({ payments, status, difference }) => payments === 0 || status !== 200 || difference < 0n,
      ).length
      const double = findings.filter(
        ({ payments, signed, difference }) => payments > 1 || signed > 1 || difference > 0n,
      ).length
      const ok = hit === cases.length && lost === 0 && double === 0
      if (!ok) missed++
      console.log(
        `crash with ${userError}: ${hit} points hit, ${double} double, ${lost} lost (all ${cases.length} hit, 0 double, 0 lost)${ok ? '' : ' MISSED'}`,
      )
      if (!ok) console.log(findings)
    }
  }
}
process.exitCode = missed === 0 ? 0 : 1
