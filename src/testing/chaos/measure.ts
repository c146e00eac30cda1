import { inArray, sql } from 'drizzle-orm'
import { payment } from '#service/db/schema/payment.ts'
import { startServiceProcess } from '../service-process.ts'
import { requestUntilDecided, newRequestedPayment } from './client.ts'
import type { ChaosHarness } from './harness.ts'

const POLL_MS = 50
const OPEN = ['created', 'pending', 'rolled_back'] as const

/** Payments that are still open when the time is up. */
export async function countStuck({ db }: ChaosHarness, withinMs: number): Promise<number> {
  const until = performance.now() + withinMs
  for (;;) {
    const stuck = await db.$count(payment, inArray(payment.status, [...OPEN]))
    if (stuck === 0 || performance.now() > until) return stuck
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

type Books = {
  paymentsOfKeys: number
  failed: number
  transfersOnChain: number
  ledgerDifference: bigint
  payeeDifference: bigint
}

/** The rows beside the chain, all wallets together: every figure to the base unit. */
export async function readLedgers({ db, tills, payments }: ChaosHarness): Promise<Books> {
  const books: Books = {
    paymentsOfKeys: 0,
    failed: 0,
    transfersOnChain: 0,
    ledgerDifference: 0n,
    payeeDifference: 0n,
  }
  for (const { address, payee, held, balance } of tills) {
    const { rows } = await db.execute<{
      count: number
      failed: number
      paid: string
      spent: string
    }>(sql`
      select count(*)::int as count, count(*) filter (where status = 'failed')::int as failed,
        coalesce(sum(amount) filter (where status in ('confirmed', 'finalized')), 0)::text as paid,
        (coalesce(sum(amount) filter (where status in ('confirmed', 'finalized')), 0) + coalesce(sum(fee), 0))::text as spent
      from service.payment where sender = ${address}`)
    const [row] = rows
    if (!row) continue
    books.paymentsOfKeys += row.count
    books.failed += row.failed
    books.transfersOnChain += await payments(address)
    books.ledgerDifference += abs(held - BigInt(row.spent) - (await balance(address)))
    books.payeeDifference += abs(BigInt(row.paid) - (await balance(payee)))
  }
  return books
}

/** All processes die with payments under way: how long until a new one is ready, and until those payments are confirmed, both from its start. */
export async function measureRecovery(
  stage: ChaosHarness,
): Promise<{ readyMs: number; movingMs: number }> {
  const wishes = [...stage.tills].map((till) => newRequestedPayment([till]))
  {
    await using dying = await startServiceProcess(stage.env)
    await Promise.all(
      wishes.map((wish) =>
        requestUntilDecided(stage, wish, { target: () => dying.url, prefer: 'respond-async' }),
      ),
    )
  }
  const startedAt = performance.now()
  await using service = await startServiceProcess(stage.env)
  while (!(await isReady(service.url))) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  const readyMs = performance.now() - startedAt
  await countStuck(stage, 60_000)
  return { readyMs, movingMs: performance.now() - startedAt }
}

async function isReady(url: string): Promise<boolean> {
  return (await fetch(`${url}/health/ready`).catch(() => undefined))?.ok ?? false
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value
}
