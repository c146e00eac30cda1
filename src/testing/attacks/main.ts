import { ATTACKS } from './attacks.ts'
import {
  isBroken,
  measureAttack,
  openWorld,
  stolenGrants,
  stolenRuns,
  type Measured,
} from './run.ts'
import { openTargets } from './targets.ts'

/**
 * Runs every published attack on x402 against the official packages and against this service, on
 * the same chains, and prints a table in Markdown. `--only <id>,<id>` chooses attacks. Exits with 1
 * when an attack on this service yields a grant, or the run of a handler, that nobody paid for.
 */
const PARALLEL = 20

const only = process.argv.indexOf('--only')
const chosen = only === -1 ? undefined : new Set(process.argv[only + 1]?.split(','))
const attacks = ATTACKS.filter(({ id }) => chosen?.has(id) ?? true)
if (attacks.length === 0)
  throw new Error(`Expected ids after --only: ${ATTACKS.map(({ id }) => id).join(', ')}.`)

/** What an attack got from one implementation, in words. */
function cell(measured: Measured | undefined): string {
  if (!measured) return 'does not apply'
  const { grants, payments, reverted, errors, listed } = measured
  const unserved = payments - grants
  const marks = [
    stolenGrants(measured) > 0 && `**${stolenGrants(measured)} stolen**`,
    stolenRuns(measured) > 0 && `handler ran ${stolenRuns(measured)} × unpaid`,
    unserved > 0 &&
      `${unserved} charged, not served${listed ? `, ${listed} listed for refund` : ''}`,
    reverted > 0 && `${reverted} reverted at the facilitator’s cost`,
    errors > 0 && `${errors} × 5xx`,
  ].filter((mark) => mark !== false)
  return [`${grants} / ${payments}`, ...marks].join('; ')
}

let broken = 0
const stolen = new Map<string, number>()
{
  await using world = await openWorld()
  await using targets = await openTargets(world)
  const names = (await targets.of(undefined)).map(({ name }) => name)
  console.log(`| attack | source | ${names.join(' | ')} |`)
  console.log(`| --- | --- | ${names.map(() => '---').join(' | ')} |`)
  for (const attack of attacks) {
    const attacked = await targets.of(attack.confirmations)
    const setting = { world, targets: attacked, parallel: PARALLEL, details: true }
    const measured = await measureAttack(attack, setting)
    for (const [index, target] of attacked.entries()) {
      const found = measured[index]
      if (!found) continue
      if (isBroken(attack, target, found)) broken++
      if (attack.accepted) continue
      stolen.set(target.name, (stolen.get(target.name) ?? 0) + stolenGrants(found))
    }
    const name = attack.accepted ? `${attack.name} (accepted risk)` : attack.name
    console.log(`| ${[name, attack.source, ...measured.map(cell)].join(' | ')} |`)
  }
}
console.log(`
A cell reads: times delivered / payments of the full price that arrived at the seller. An attack may
make several payments, so equal figures are no theft. Stolen: delivered without a payment for that
resource. Accepted risk is not counted.`)
for (const [name, count] of stolen) console.log(`Stolen from ${name}: ${count}.`)
console.log(`Attacks on this service that succeeded: ${broken}.`)
process.exit(broken > 0 ? 1 : 0)
