import { sql } from 'drizzle-orm'
import type { HealthCheck, Readiness } from '#http/internal-server.ts'
import type { Context } from './context/context.ts'
import type { Chain } from './chains/chain.ts'
import { checkDisk, readDatabaseClock } from '#postgres/open.ts'
import { countStopped } from './db/wallet-ledger.ts'
import { checkVaultKey } from './wallets/vault-key.ts'

/** `note`: what an operator should know of a part that works. */
type ServiceCheck = HealthCheck & { note?: 'chain behind' }
/** `stoppedWallets`: wallets that an operator must look at; they keep the service from nothing else. Null when that is not known. */
export type ServiceReadiness = Readiness & {
  checks: readonly ServiceCheck[]
  stoppedWallets: number | null
}

/** Probes come from several sides at once. */
const FRESH_MS = 1_000
/**
 * Each look at a chain costs RPC calls, so a good one holds for this long. Payments themselves
 * notice sooner when a chain is away.
 */
const CHAIN_FRESH_MS = 30_000
/** How long the disk of the database counts as good after it was written. */
const DISK_FRESH_MS = 10_000
/** The signer or its key may be replaced while the service runs. */
const VAULT_KEY_FRESH_MS = 10_000
const CHECK_TIMEOUT_MS = 3_000
/** How far clocks may differ. */
const MAX_SKEW_MS = 5_000
/** The newest block may be this old, or three blocks, before its chain counts as behind. */
const LEAST_AGE_MS = 15_000
const LATE_BLOCKS = 3

/**
 * Whether the service can do its work: its database answers and can write, and each chain answers and is the configured one; the database's clock agrees
 * with ours, and no chain is ahead of it.
 */
export function createReadiness(
  context: Context,
  clock: () => number = () => performance.now(),
): () => Promise<ServiceReadiness> {
  let last: { at: number; found: Promise<ServiceReadiness> } | undefined
  const chains = [...context.chains].map(([network, chain]): ChainCheck => ({
    network,
    run: rememberGood(clock, CHAIN_FRESH_MS, () => compareHead(context, chain)),
  }))
  const disk = rememberGood(clock, DISK_FRESH_MS, async () => {
    await checkDisk(context.db)
    return undefined
  })
  const vaultKey = rememberGood(clock, VAULT_KEY_FRESH_MS, async () => {
    const { db, signer, config } = context
    await checkVaultKey({ db, signer, lostKeys: config.lostVaultKeys })
    return undefined
  })
  return () => {
    const now = clock()
    if (!last || now - last.at > FRESH_MS)
      last = { at: now, found: look(context, { chains, disk, vaultKey }) }
    return last.found
  }
}

type Run = () => Promise<typeof CHAIN_BEHIND | undefined>
type ChainCheck = { network: string; run: Run }
type Remembered = { chains: readonly ChainCheck[]; disk: Run; vaultKey: Run }

/** A check that found something wrong is run again the next time. */
function rememberGood(clock: () => number, forMs: number, run: Run): Run {
  let goodAt = -Infinity
  return async () => {
    if (clock() - goodAt < forMs) return undefined
    const at = clock()
    const note = await run()
    if (note === undefined) goodAt = at
    return note
  }
}

const CHAIN_BEHIND = 'chain behind'

/** @throws when the process and the database disagree about the time */
async function compareClocks({ db, now }: Context): Promise<void> {
  const sentAt = now().getTime()
  const databaseTime = (await readDatabaseClock(db)).getTime()
  // The database was asked somewhere between the two.
  const skew =
    databaseTime < sentAt ? sentAt - databaseTime : Math.max(0, databaseTime - now().getTime())
  if (skew > MAX_SKEW_MS)
    throw new Error(
      `The clocks of this process and of the database differ by ${skew} ms, more than ${MAX_SKEW_MS} ms.`,
    )
}

/**
 * Asks the chain, which answers only where it is the configured one.
 * @throws when the newest block is from our future: then our clock is slow, or the node tells nonsense
 */
async function compareHead(
  { now }: Context,
  chain: Chain,
): Promise<typeof CHAIN_BEHIND | undefined> {
  const { head } = await chain.clock()
  const age = now().getTime() - head.getTime()
  if (age < -MAX_SKEW_MS)
    throw new Error(
      `The newest block of ${chain.network.network} is ${-age} ms ahead of our clock, more than ${MAX_SKEW_MS} ms.`,
    )
  return age > Math.max(LEAST_AGE_MS, LATE_BLOCKS * chain.network.blockTimeMs)
    ? CHAIN_BEHIND
    : undefined
}

async function look(context: Context, remembered: Remembered): Promise<ServiceReadiness> {
  const [checks, stoppedWallets] = await Promise.all([
    runChecks(context, remembered),
    countStopped(context.db).catch(() => null),
  ])
  const status = checks.every(({ ok }) => ok) ? 'ok' : 'unavailable'
  return { status, checks, stoppedWallets }
}

function runChecks(
  context: Context,
  { chains, disk, vaultKey }: Remembered,
): Promise<ServiceCheck[]> {
  return Promise.all([
    check('database', () => context.db.execute(sql`select 1`)),
    check('disk', disk),
    check('clock', () => compareClocks(context)),
    check('signer', async () => {
      await context.signer.check()
      await vaultKey()
    }),
    ...chains.map(({ network, run }) => check(network, run)),
  ])

  async function check(name: string, run: () => Promise<unknown>): Promise<ServiceCheck> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`No answer within ${CHECK_TIMEOUT_MS} ms.`)),
        CHECK_TIMEOUT_MS,
      )
    })
    try {
      const note = await Promise.race([run(), late])
      return { name, ok: true, ...(note === CHAIN_BEHIND && { note: CHAIN_BEHIND }) }
    } catch (error) {
      context.log.warn({ err: error, check: name }, 'not ready')
      return { name, ok: false }
    } finally {
      clearTimeout(timer)
    }
  }
}
