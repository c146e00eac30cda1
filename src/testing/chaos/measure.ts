import { and, count, eq, inArray, ne, or, sql } from 'drizzle-orm'
import { payment } from '#service/db/schema/payment.ts'
import { claim } from '#service/db/schema/proof.ts'
import { startServiceProcess, type ServiceProcess } from '../service-process.ts'
import { requestUntilDecided, newRequestedPayment, type Acknowledged } from './client.ts'
import type { ChaosCommand } from './command.ts'
import type { FaultHarness } from './fault-harness.ts'
import type { ChaosHarness } from './harness.ts'
import type { Load } from './load.ts'

const POLL_MS = 50
const OPEN = ['created', 'pending', 'rolled_back'] as const

/**
 * Payments that are still open when the time is up. Orders in local mode that nobody paid stay open longer: of
 * those, only the named ones count.
 */
export async function countStuck(
  { db }: Pick<ChaosHarness, 'db'>,
  withinMs: number,
  orders: readonly string[] = [],
): Promise<number> {
  const until = performance.now() + withinMs
  const mine = or(ne(payment.mode, 'local'), inArray(payment.id, [...orders]))
  for (;;) {
    const stuck = await db
      .select({ id: payment.id, status: payment.status, signature: payment.signature })
      .from(payment)
      .where(and(inArray(payment.status, [...OPEN]), mine))
    if (stuck.length > 0 && performance.now() > until) console.log({ stuck })
    if (stuck.length === 0 || performance.now() > until) return stuck.length
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

/** Processes that have ended. Asked before anybody kills them: faults must end none. */
export async function countEnded(services: readonly ServiceProcess[]): Promise<number> {
  const running = new Promise<boolean>((resolve) => setImmediate(resolve, false))
  const ended = await Promise.all(
    services.map((service) => Promise.race([service.ended.then(() => true), running])),
  )
  return ended.filter(Boolean).length
}

/** Measures that. */
export async function checkRunning(
  measure: ChaosCommand['measure'],
  services: readonly ServiceProcess[],
): Promise<void> {
  const ended = await countEnded(services)
  measure('service processes that ended by themselves', ended, '0', ended === 0)
}

const SETTLED_WITHIN_MS = 180_000

type Sends = { keys: number; acknowledged: readonly Acknowledged[] }

/** The ledger equals the chain: one payment, one transfer and one row for each key, every sum to the base unit. */
export async function checkSends(
  measure: ChaosCommand['measure'],
  harness: ChaosHarness,
  { keys, acknowledged }: Sends,
): Promise<void> {
  const told = acknowledged.length
  measure('acknowledged payments', `${told} of ${keys} keys`, 'all', told === keys && keys > 0)
  const ids = new Set(acknowledged.map(({ paymentId }) => paymentId)).size
  const books = await readLedgers(harness)
  const { paymentsOfKeys, failed, transfersOnChain } = books
  const one = `one for each key: ${keys}`
  measure('payments', paymentsOfKeys, one, paymentsOfKeys === keys && ids === keys)
  const lost = await countLost(harness, acknowledged)
  measure('acknowledged payments that id and key do not find', lost, '0', lost === 0)
  measure('failed payments', failed, '0', failed === 0)
  measure('transfers on the chains', transfersOnChain, one, transfersOnChain === keys)
  const { ledgerDifference, payeeDifference } = books
  measure('ledger and chain differ by', ledgerDifference, '0 base units', ledgerDifference === 0n)
  measure('payees and ledger differ by', payeeDifference, '0 base units', payeeDifference === 0n)
}

async function countLost(
  { db }: ChaosHarness,
  acknowledged: readonly Acknowledged[],
): Promise<number> {
  const rows = await db
    .select({ id: payment.id, key: payment.idempotencyKey })
    .from(payment)
    .where(eq(payment.mode, 'hosted'))
  const keyOf = new Map(rows.map(({ id, key }) => [id, key]))
  return acknowledged.filter(({ paymentId, key }) => keyOf.get(paymentId) !== key).length
}

/** Everything that a load did, once its faults have ended: the ledger equals the chain, and every used proof was granted once. */
export async function checkLoad(
  measure: ChaosCommand['measure'],
  harness: FaultHarness,
  load: Load,
): Promise<void> {
  measure('proofs that stay undecided', load.undecided, '0 after 3 min', load.undecided === 0)
  const orders = load.orders.map(({ paymentId }) => paymentId)
  const stuck = await countStuck(harness, SETTLED_WITHIN_MS, orders)
  measure('stuck payments', stuck, '0 after 3 min', stuck === 0)
  await checkSends(measure, harness, { keys: load.requested.length, ...load })
  const { length: early } = load.finalEarly
  measure(
    'payments called final before their block is',
    early,
    `0 of ${load.finalSeen}`,
    early === 0,
  )
  if (load.orders.length > 0) await checkOrders(measure, harness, load)
  if (load.settled.length > 0) await checkProofs(measure, harness, load)
  console.log(
    `finished while faults happened: ${load.underFaults}; refused calls: ${[...load.refused].map(([name, times]) => `${times} × ${name}`).join(', ') || 'none'}; calls without an answer: ${load.cutOff}`,
  )
}

async function checkOrders(
  measure: ChaosCommand['measure'],
  { db, makers, balance }: FaultHarness,
  { orders }: Load,
): Promise<void> {
  let right = 0
  for (const { paymentId, payee, signature, atomic } of orders) {
    const native = payee.startsWith('0x') ? makers.eth : makers.solana.sol
    const { network } = payee.startsWith('0x') ? makers.evm.network : makers.solana.network
    const arrived = await balance({ network, asset: native, owner: payee })
    const [row] = await db.select().from(payment).where(eq(payment.id, paymentId))
    const paid = row?.status === 'confirmed' || row?.status === 'finalized'
    // What the chain lost is `expired` or `failed`; nothing else may be.
    const ok = arrived === atomic ? paid && row.signature === signature : arrived === 0n && !paid
    if (ok) right++
    else console.log({ paymentId, status: row?.status, arrived, atomic, signature })
  }
  const all = orders.length
  measure('orders with the status that the chain shows', right, `all ${all}`, right === all)
}

/** Every proof moved its money once, and was granted once: no seller is refused a payment that nobody was told of. */
export async function checkProofs(
  measure: ChaosCommand['measure'],
  { db, balance }: FaultHarness,
  { settled }: Pick<Load, 'settled'>,
): Promise<void> {
  const wrong = { moved: 0, rows: 0, granted: 0, refused: 0 }
  for (const { proof, grants, cutOff, refusal } of settled) {
    const { network, asset, payTo, atomic, method } = proof
    const arrived = await balance({ network, asset, owner: payTo })
    const [rows] = await db
      .select({
        all: count(),
        paid: count(
          sql`case when ${payment.status} in ('confirmed', 'finalized') and ${payment.amount} = ${atomic} then 1 end`,
        ),
      })
      .from(payment)
      .where(eq(payment.recipient, payTo))
    const claims = await db
      .select({ attempt: claim.attempt })
      .from(claim)
      .innerJoin(payment, eq(claim.paymentId, payment.id))
      .where(eq(payment.recipient, payTo))
    const paid = arrived === atomic
    const expired = arrived === 0n && refusal !== undefined && method.startsWith('solana')
    const bad = {
      moved: !paid && !expired,
      rows: paid && (rows?.all !== 1 || rows.paid !== 1 || claims.length !== 1),
      granted:
        grants > 1 ||
        (paid && claims[0]?.attempt !== 'granted') ||
        (paid && grants === 0 && cutOff === 0),
      refused: refusal !== undefined && !expired,
    }
    for (const name of ['moved', 'rows', 'granted', 'refused'] as const)
      if (bad[name]) wrong[name]++
    if (Object.values(bad).some(Boolean))
      console.log({ method, payTo, arrived, atomic, rows, claims, grants, cutOff, refusal })
  }
  const all = settled.length
  const methods = Map.groupBy(settled, ({ proof }) => proof.method)
  console.log(
    `proofs: ${[...methods].map(([method, of]) => `${of.length} × ${method}`).join(', ')}`,
  )
  measure(
    'proofs whose money moved otherwise than once',
    wrong.moved,
    `0 of ${all}`,
    wrong.moved === 0,
  )
  measure('proofs without exactly one paid row and one claim', wrong.rows, '0', wrong.rows === 0)
  measure('proofs without exactly one grant', wrong.granted, '0', wrong.granted === 0)
  measure('good proofs called bad', wrong.refused, '0', wrong.refused === 0)
}
