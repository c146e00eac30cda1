import { randomInt } from 'node:crypto'
import { startServiceProcess } from '../service-process.ts'
import { limitTime } from './command.ts'
import { trackEvents } from './track-events.ts'
import { countStuck, measureRecovery, readLedgers } from './measure.ts'
import { openHarness } from './harness.ts'
import { createRng } from './rng.ts'
import { runStressTest } from './stress-test.ts'

/**
 * Four service processes on one Postgres server make payments on both chains while one after
 * another is killed with -9, and a reader of events has each of them once, in order. `--kills N`
 * (40 otherwise), `--pause-ms N`: the longest time between two kills (1,500 otherwise; the shortest
 * is 50), `--clients N`: how many pay at once (6 otherwise), `--seed N`: repeats the pauses, which process dies and
 * what is paid. Prints one line per measurement and exits with 1 when one misses its limit. The recovery time counts with `--timed` only, since it
 * depends on the machine as much.
 */
const kills = readNumber('--kills', 40)
const longestPauseMs = readNumber('--pause-ms', 1_500)
const clients = readNumber('--clients', 6)
const seed = readNumber('--seed', randomInt(1, 2 ** 31))
console.log(
  `chaos:kill: seed ${seed}; to replay: npm run chaos:kill -- --seed ${seed} --kills ${kills} --pause-ms ${longestPauseMs} --clients ${clients}`,
)

// Twenty kills take half a minute.
limitTime('chaos:kill', Math.ceil(kills / 20))

/** @throws {Error} when what stands after the flag is not a whole number above 0 */
function readNumber(flag: string, otherwise: number): number {
  // The last one counts: the npm script already passes one.
  const at = process.argv.lastIndexOf(flag)
  const value = at === -1 ? otherwise : Number(process.argv[at + 1])
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`Expected a whole number after ${flag}, for example ${flag} ${otherwise}.`)
  return value
}

let missed = 0
function tell(name: string, value: bigint | number | string, bar: string, ok: boolean): void {
  if (!ok) missed++
  console.log(`${name}: ${value} (${bar})${ok ? '' : ' MISSED'}`)
}

const timed = process.argv.includes('--timed')
const SETTLED_WITHIN_MS = 180_000
const RECOVERED_WITHIN_MS = 5_000

{
  await using stage = await openHarness()
  const reader: { target: () => string | undefined } = { target: () => undefined }
  const tracker = trackEvents({ key: stage.key, target: () => reader.target() })
  const startedAt = performance.now()
  const storm = await runStressTest(stage, {
    kills,
    processes: 4,
    clients,
    pauseMs: [50, Math.max(50, longestPauseMs)],
    rng: createRng(seed),
    onStart: (target) => (reader.target = target),
  })
  const stormS = ((performance.now() - startedAt) / 1000).toFixed(1)
  const service = await startServiceProcess(stage.env)
  reader.target = () => service.url
  const stuck = await countStuck(stage, SETTLED_WITHIN_MS)
  await tracker.compare(stage, tell).finally(() => service.kill())
  const books = await readLedgers(stage)
  const keys = storm.wishes.length
  tell('kills', `${storm.kills} in ${stormS} s`, `at least ${kills}`, storm.kills >= kills)
  tell(
    'acknowledged payments',
    `${storm.acknowledged.length} of ${keys} keys`,
    'all',
    storm.acknowledged.length === keys && keys > 0,
  )
  // A stress test in which nothing is paid, or no request is cut off, proves nothing.
  tell(
    'payments while processes died',
    storm.underFire,
    'at least one for two kills',
    storm.underFire * 2 >= storm.kills,
  )
  tell(
    'requests that a kill cut off',
    storm.cutOff,
    'at least one for four kills',
    storm.cutOff * 4 >= storm.kills,
  )
  const ids = new Set(storm.acknowledged.map(({ paymentId }) => paymentId)).size
  tell(
    'payments',
    books.paymentsOfKeys,
    `one for each key: ${keys}`,
    books.paymentsOfKeys === keys && ids === keys,
  )
  tell('failed payments', books.failed, '0', books.failed === 0)
  tell(
    'transfers on the chains',
    books.transfersOnChain,
    `one for each key: ${keys}`,
    books.transfersOnChain === keys,
  )
  tell(
    'ledger and chain differ by',
    books.ledgerDifference,
    '0 base units',
    books.ledgerDifference === 0n,
  )
  tell(
    'payees and ledger differ by',
    books.payeeDifference,
    '0 base units',
    books.payeeDifference === 0n,
  )
  tell('stuck payments', stuck, '0 after 3 min', stuck === 0)
  const { readyMs, movingMs } = await measureRecovery(stage)
  // Two blocks of confirmation take the chain's own time.
  tell(
    'ready after kill -9',
    `${Math.round(readyMs)} ms`,
    `${RECOVERED_WITHIN_MS} ms`,
    !timed || readyMs <= RECOVERED_WITHIN_MS,
  )
  tell(
    'open payments confirmed after kill -9',
    `${Math.round(movingMs)} ms`,
    'told, not judged',
    true,
  )
}
process.exitCode = missed === 0 ? 0 : 1
