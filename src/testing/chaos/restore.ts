import { startEpoch } from '#service/db/deployment.ts'
import { event } from '#service/db/schema/payment.ts'
import { readStopped, resumeWallet } from '#service/db/wallet-ledger.ts'
import { ApiClient } from '../api-client.ts'
import { backUp, putBack } from '../database-copy.ts'
import { startServiceProcess } from '../service-process.ts'
import { requestUntilDecided, newRequestedPayment, type RequestedPayment } from './client.ts'
import { pause, runCommand } from './command.ts'
import { openFaultHarness, type FaultHarness } from './fault-harness.ts'
import { present, runLoad, type SettledProof } from './load.ts'
import { countStuck } from './measure.ts'
import type { SeededRng } from './rng.ts'

/**
 * Payments and grants on both chains, a backup at a random moment among them, and a restore of it when all of them
 * are over. Then every key and every proof comes again: nothing is paid twice and nothing is granted
 * twice. At last an operator accepts what was lost, and new payments go on. No event has the number of
 * another one that a reader had before.
 */
const BEFORE_MS = [500, 3_000] as const
const AFTER_MS = 3_000
/** 150 blocks are 15 s. */
const SLOT_MS = 100
const PAUSE_MS = 500
const DECIDED_WITHIN_MS = 120_000

await runCommand('chaos:restore', { short: 1, long: 20 }, async ({ rounds, rng, measure }) => {
  let [lostKeys, again, undecided, paidTwice, grantedTwice, stuck] = [0, 0, 0, 0, 0, 0]
  let [lostEvents, newEvents, reusedNumbers] = [0, 0, 0]
  for (let round = 0; round < rounds; round++) {
    await using harness = await openFaultHarness({
      rng: rng.fork(`round ${round}`),
      slotMs: SLOT_MS,
    })
    const { db } = harness
    const load = await loadWithBackup(harness, rng.fork(`backup ${round}`))
    const transfers = await countTransfers(harness)
    const known = await readKeys(harness)
    const told = await readEventNumbers(harness)
    await putBack(harness)
    lostKeys += known.size - (await readKeys(harness)).size
    const kept = await readEventNumbers(harness)
    lostEvents += told.size - kept.size
    await startEpoch(db)

    await using service = await startServiceProcess(harness.env)
    const answered = await presentAgain(harness, load, service.url)
    again += load.settled.filter(({ grants }) => grants > 0).length
    undecided += answered.undecided
    grantedTwice += answered.granted
    paidTwice += (await countTransfers(harness)) - transfers
    await accept(harness)
    const next = harness.tills.map((till) => newRequestedPayment([till]))
    for (const requested of next)
      await requestUntilDecided(harness, requested, {
        target: () => service.url,
        prefer: 'respond-async',
      })
    stuck += await countStuck(harness, DECIDED_WITHIN_MS)
    const expected = transfers + next.length
    const got = await countTransfers(harness)
    for (const number of await readEventNumbers(harness)) {
      if (kept.has(number)) continue
      newEvents++
      if (told.has(number)) reusedNumbers++
    }
    measure('transfers after the restore', got, `exactly ${expected}`, got === expected)
  }
  measure('payments that the backups had forgotten', lostKeys, 'at least 1', lostKeys > 0)
  measure('granted proofs that came again', again, 'at least 1', again > 0)
  console.log(`of these stay undecided: ${undecided}`)
  measure('paid twice', paidTwice, '0', paidTwice === 0)
  measure('granted twice', grantedTwice, '0', grantedTwice === 0)
  measure('stuck', stuck, '0', stuck === 0)
  measure('events that the backups had forgotten', lostEvents, 'at least 1', lostEvents > 0)
  measure(
    'new events with the number of a forgotten one',
    reusedNumbers,
    `0 of ${newEvents}`,
    reusedNumbers === 0 && newEvents > 0,
  )
})

type Made = { requested: readonly RequestedPayment[]; settled: readonly SettledProof[] }

async function loadWithBackup(harness: FaultHarness, rng: SeededRng): Promise<Made> {
  await using service = await startServiceProcess(harness.env)
  const load = await runLoad(
    harness,
    { target: () => service.url, rng, clients: { sends: 4, orders: 0, proofs: 3 } },
    async () => {
      await pause(rng.int(...BEFORE_MS))
      await backUp(harness)
      await pause(AFTER_MS)
    },
  )
  await countStuck(harness, DECIDED_WITHIN_MS)
  return load
}

/** Every key and every proof, again and again, until each wallet was compared with its chain. */
async function presentAgain(
  harness: FaultHarness,
  { requested, settled }: Made,
  url: string,
): Promise<{ granted: number; undecided: number }> {
  const api = new ApiClient(url, harness.key)
  const until = performance.now() + DECIDED_WITHIN_MS
  let granted = 0
  for (;;) {
    // Of a wallet that is stopped no key is paid; of another, every key is in the rows.
    const compared = await isCompared(harness)
    const answers = await Promise.all(requested.map((each) => requestOnce(harness, url, each)))
    let undecided = 0
    for (const { proof, grants } of settled) {
      if (grants === 0) continue
      const decided = await present(api, proof, false)
      if (decided === 'granted') granted++
      if (decided === 'undecided') undecided++
    }
    if (compared) return { granted, undecided }
    if (performance.now() > until)
      throw new Error(`Not compared in time; the last answers: ${answers.join(', ')}`)
    await pause(PAUSE_MS)
  }
}

async function requestOnce(
  { key }: FaultHarness,
  url: string,
  { key: idempotencyKey, till, amount }: RequestedPayment,
): Promise<number> {
  const response = await fetch(`${url}/payment/send`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
      prefer: 'respond-async',
    },
    body: `{"walletAddress":"${till.address}","recipientAddress":"${till.payee}","amount":${amount}}`,
  })
  await response.arrayBuffer()
  return response.status
}

async function isCompared({ db, tills }: FaultHarness): Promise<boolean> {
  const stopped = new Set((await readStopped(db)).map(({ address }) => address))
  const { rows } = await db.execute<{ address: string }>(
    `select address from service.wallet_ledger where affirmed_epoch > 0`,
  )
  const affirmed = new Set(rows.map(({ address }) => address))
  return tills.every(({ address }) => stopped.has(address) || affirmed.has(address))
}

async function accept({ db }: FaultHarness): Promise<void> {
  for (const { address } of await readStopped(db)) await resumeWallet(db, address)
}

async function countTransfers({ tills, payments }: FaultHarness): Promise<number> {
  let all = 0
  for (const { address } of tills) all += await payments(address)
  return all
}

async function readKeys({ db }: FaultHarness): Promise<ReadonlySet<string>> {
  const { rows } = await db.execute<{ key: string }>(
    `select idempotency_key as key from service.payment where idempotency_key is not null`,
  )
  return new Set(rows.map(({ key }) => key))
}

async function readEventNumbers({ db }: FaultHarness): Promise<ReadonlySet<bigint>> {
  const rows = await db.select({ number: event.number }).from(event)
  return new Set(rows.flatMap(({ number }) => number ?? []))
}
