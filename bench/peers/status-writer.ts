import { env } from 'node:process'
import { openDatabase } from '#postgres/open.ts'
import type { Context } from '#service/context/context.ts'
import { startNumbering } from '#service/api/events/numbering.ts'
import { createLog } from '#service/context/log.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { applyObservation } from '#service/payments/apply-observation.ts'
import type { StatusWork, StatusWorkDone } from '../writes.ts'

/** One replica of `bench:writes`: changes the status of payments as the monitor does. */

const database = await openDatabase({ url: env['DATABASE_URL'] ?? '' }, SERVICE_SCHEMA)
const context = { db: database.db, log: createLog('error'), now: () => new Date() } as Context
await startNumbering(context, database.listen)

async function finalize({
  id,
  signature,
  sender,
  recipient,
  asset,
  amount,
}: StatusWork['payments'][number]): Promise<void> {
  const applied = await applyObservation(context, {
    paymentId: id,
    signature,
    source: 'watcher',
    observation: {
      state: 'landed',
      succeeded: true,
      height: 1,
      blockHash: '0xblock',
      confirmed: true,
      finalized: true,
      feeAtomic: 1n,
      feePayer: null,
      blockTime: null,
      transfer: { sender, recipient, asset, amountAtomic: BigInt(amount), memo: null, nonce: 0 },
      failure: null,
    },
  })
  if (applied !== 'moved') throw new Error(`Expected a change of status, received ${applied}.`)
}

async function run({ payments, ms, workers }: StatusWork): Promise<void> {
  const started = performance.now()
  const before = process.cpuUsage()
  let taken = 0
  const work = async () => {
    while (performance.now() - started < ms) {
      const payment = payments[taken++]
      if (!payment) throw new Error('Expected more payments to work on.')
      await finalize(payment)
    }
  }
  await Promise.all(Array.from({ length: workers }, work))
  const { user, system } = process.cpuUsage(before)
  const done: StatusWorkDone = {
    changes: taken,
    ms: performance.now() - started,
    cpuMs: (user + system) / 1_000,
  }
  process.send?.(done)
}

process.on('message', (work: StatusWork) => void run(work))
process.on('disconnect', () => process.exit(0))
process.send?.('ready')
