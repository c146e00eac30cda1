import { eq } from 'drizzle-orm'
import type { Family } from '#contract/address.ts'
import { inParallel } from '#service/chains/endpoints.ts'
import type { CrashPoint } from '#service/context/context.ts'
import { readAttempts } from '#service/db/attempts.ts'
import { payment } from '#service/db/schema/payment.ts'
import { eventually } from '../service-context.ts'
import {
  startCrashingService,
  startServiceProcess,
  type ServiceProcess,
} from '../service-process.ts'
import type { ServiceResponse, CrashOrder } from './crash-orders.ts'
import type { CrashHarness } from './crash-harness.ts'

/**
 * The steps of a hosted send and of a settlement, and whether the payment is persisted when a
 * process dies there.
 */
export const POINTS = {
  'send:validated': false,
  'send:simulated': false,
  'send:reserved': false,
  'send:signed': false,
  'send:persisted': true,
  'send:broadcast': true,
  'send:told': true,
  'settle:signed': false,
  'settle:persisted': true,
  'settle:broadcast': true,
} as const satisfies Record<CrashPoint, boolean>

/** What else fails at that moment. */
export const FAULTS = ['nothing', 'the RPC down', 'Postgres restarted'] as const
export type Fault = (typeof FAULTS)[number]

export type Case = { family: Family; point: CrashPoint }

export type CrashFinding = Case & {
  endedBy: string | null
  /** Whether the payment was in the database once the process was dead. */
  kept: boolean
  /** The status of a repeated request while the trouble lasts; undefined where there is none. */
  meanwhile: number | undefined
  /** The status of a repeated request afterwards, and its text where it is a refusal. */
  status: number
  refusal: string | undefined
  payments: number
  signed: number
  /** What the payee received, in atomic units, minus what it should have received. */
  difference: bigint
}

type Run = Case & { order: CrashOrder; endedBy?: string | null; kept?: boolean; meanwhile?: number }

/** With this many starting processes, the machine has room for the chains. */
const AT_ONCE = 4

/**
 * All cases under one trouble. Settlements run separately: what a payer signed on Solana is valid
 * for 150 slots, which must not pass while other processes die.
 */
export async function runCases(
  stage: CrashHarness,
  userError: Fault,
  cases: readonly Case[],
): Promise<CrashFinding[]> {
  const sends = cases.filter(({ point }) => isSend(point))
  const settlements = cases.filter(({ point }) => !isSend(point))
  return [
    ...(await runBatch(stage, userError, sends)),
    ...(await runBatch(stage, userError, settlements)),
  ]
}

function isSend(point: CrashPoint): boolean {
  return point.startsWith('send:')
}

/**
 * A process dies in each case. Then one process, newer or older than the trouble, has to finish all
 * of them.
 */
async function runBatch(
  stage: CrashHarness,
  userError: Fault,
  cases: readonly Case[],
): Promise<CrashFinding[]> {
  const survivor =
    userError === 'Postgres restarted' ? await startServiceProcess(stage.env) : undefined
  try {
    if (userError === 'the RPC down') stage.chains.refuse()
    const runs = await inParallel(cases, AT_ONCE, (each) => die(stage, each))
    if (userError === 'the RPC down') stage.chains.cut()
    if (survivor)
      await stage.restartDatabase(() => repeatInUserError(survivor, { runs, away: 'database' }))
    await using recovering = survivor ?? (await startServiceProcess(stage.env))
    if (userError === 'the RPC down') await repeatInUserError(recovering, { runs, away: 'chains' })
    stage.chains.mend()
    return await Promise.all(runs.map((run) => finish(stage, recovering.url, run)))
  } finally {
    stage.chains.mend()
    await survivor?.kill()
  }
}

async function die(stage: CrashHarness, { family, point }: Case): Promise<Run> {
  const order = await (isSend(point)
    ? stage.orders.openSend(family)
    : stage.orders.openSettlement(family))
  const run: Run = { family, point, order }
  await using dying = await startCrashingService(stage.env, point)
  // Many processes start at once, and each starts a signer.
  await eventually(
    () => readChecks(dying),
    ({ checks }) => checks.some(({ name, ok }) => name === 'signer' && ok),
  )
  // Processes that died took the tokens they had leased with them: the limit is reached sooner. A 503 decides nothing, and a client asks again under its key, which the first request may still have.
  const answered = await eventually(
    () => order.ask(dying.url),
    ({ status }) => status !== 409 && status !== 429 && status !== 503,
  ).then(
    ({ status }) => `answered ${status}`,
    () => undefined,
  )
  run.endedBy = answered ?? (await dying.ended)
  run.kept = (await readRows(stage, run)).length > 0
  return run
}

type Checks = { status: number; checks: { name: string; ok: boolean }[] }

async function readChecks({ internalUrl }: ServiceProcess): Promise<Checks> {
  const ready = await fetch(`${internalUrl}/health/ready`)
  const { checks } = (await ready.json()) as Pick<Checks, 'checks'>
  return { status: ready.status, checks }
}

const OF_THE_DATABASE: ReadonlySet<string> = new Set(['database', 'disk', 'clock'])

type Repetition = { runs: readonly Run[]; away: 'database' | 'chains' }

/** What the service reports about itself, and about each payment, while a dependency is down. */
async function repeatInUserError(
  service: ServiceProcess,
  { runs, away }: Repetition,
): Promise<void> {
  const { status, checks } = await readChecks(service)
  // The clock is compared with the database's, and the disk is the database's; the signer needs neither.
  const honest = checks
    .filter(({ name }) => name !== 'signer')
    .every(({ name, ok }) => ok === (OF_THE_DATABASE.has(name) !== (away === 'database')))
  if (status !== 503 || !honest)
    throw new Error(
      `With the ${away} away, /health/ready answered ${status}: ${JSON.stringify(checks)}`,
    )
  await Promise.all(
    runs.map(async (run) => (run.meanwhile = (await askWhenFree(service.url, run)).status)),
  )
}

async function finish(stage: CrashHarness, url: string, run: Run): Promise<CrashFinding> {
  const { family, point, order } = run
  // A persisted payment is executed without another request.
  if (run.kept) await eventually(() => readRows(stage, run), isOver)
  const { status, text } = await eventually(
    () => askWhenFree(url, run),
    ({ status: told }) => !UNDECIDED.has(told),
  )
  const rows =
    status === 200
      ? await eventually(() => readRows(stage, run), isOver)
      : await readRows(stage, run)
  const signed = await Promise.all(rows.map(({ id }) => readAttempts(stage.db, id)))
  return {
    family,
    point,
    endedBy: run.endedBy ?? null,
    kept: run.kept ?? false,
    meanwhile: run.meanwhile,
    status,
    refusal: status === 200 ? undefined : text,
    payments: rows.length,
    signed: signed.flat().length,
    difference: (await order.paid()) - order.amount,
  }
}

const isOver = (rows: { status: string }[]) =>
  rows.length > 0 && rows.every(({ status }) => status === 'confirmed' || status === 'finalized')

function readRows({ db }: CrashHarness, { order }: Run) {
  return db
    .select({ id: payment.id, status: payment.status })
    .from(payment)
    .where(eq(payment.sender, order.sender))
}

/** In progress, not decided, or a dependency is down. */
const UNDECIDED = new Set([202, 502, 503])

/**
 * The dead process holds the idempotency key for some more seconds, and so many requests hit the
 * rate limit.
 */
function askWhenFree(url: string, { order }: Run): Promise<ServiceResponse> {
  return eventually(
    () => order.ask(url),
    ({ status }) => status !== 409 && status !== 429,
  )
}
