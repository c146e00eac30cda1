import { randomInt } from 'node:crypto'
import { CLIENTS, preparePayers, runPurchases, type ClientName } from './purchase-run.ts'
import { openPurchaseShop } from './purchase-shop.ts'

/**
 * Each official client buys from a seller whose facilitator is this service, while one call in twenty
 * of the service to its RPC endpoints fails or is answered with a lie. `--purchases N` of each client (1,000 otherwise),
 * `--seed N` repeats the order of the faults. Prints what was charged, delivered and refundable, and
 * exits with 1 when a purchase was charged twice, lost or not paid for.
 */
function readNumber(flag: string, otherwise: number): number {
  // The last one counts, so that a script may pass its own first.
  const at = process.argv.lastIndexOf(flag)
  if (at === -1) return otherwise
  const value = Number(process.argv[at + 1])
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new Error(
    `Expected a whole number above 0 after ${flag}, received ${process.argv[at + 1]}.`,
  )
}

const seed = readNumber('--seed', randomInt(1, 2 ** 31))
const count = readNumber('--purchases', 1_000)
console.log(`To replay: npm run chaos:purchases -- --seed ${seed} --purchases ${count}`)

const NAMES: readonly ClientName[] = ['@x402/fetch', 'x402-fetch']
let broken = 0
{
  await using shop = await openPurchaseShop(seed)
  const payers = await preparePayers(shop)
  for (const client of NAMES) {
    const startedAt = performance.now()
    const { losses, ...report } = await runPurchases(shop, { client, count, payers })
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    console.log(`${client} (${CLIENTS[client].join(', ')}), ${seconds} s:`)
    for (const [name, value] of Object.entries(report)) console.log(`  ${name}: ${value}`)
    for (const loss of losses) console.log(`  lost: ${loss}`)
    const { charged, delivered, refundable, chargedTwice, lost, unpaid, listedWrongly } = report
    if (charged === 0 || charged !== delivered + refundable) broken++
    broken += chargedTwice + lost + unpaid + listedWrongly
  }
  const { faults, calls, list } = shop.faults()
  console.log(`RPC calls of the service under faults: ${calls}, of which ${faults} failed: ${list}`)
}
process.exit(broken > 0 ? 1 : 0)
