import { sql } from 'drizzle-orm'
import type { HealthCheck, Readiness } from '#http/internal-server.ts'
import { checkDisk } from '#postgres/open.ts'
import type { ProxyContext } from './context/context.ts'
import type { HubState } from './events/hub.ts'

const DATABASE_MS = 2000
/** Probes come from several sides at once. */
const FRESH_MS = 1_000
/** How long the disk of the database counts as good after it was written. */
const DISK_FRESH_MS = 10_000

export type ProxyCheck = HealthCheck & { note?: HubState }

/**
 * Whether the proxy can serve. A service that is away for a moment does not make it unready: pulling it out
 * would turn a clear error into none. A key that was never accepted does, because then nothing will ever work.
 */
export function createReadiness(
  context: Pick<ProxyContext, 'db' | 'hub' | 'log'>,
): () => Promise<Readiness & { checks: readonly ProxyCheck[] }> {
  let last: { at: number; checks: Promise<[ProxyCheck, ProxyCheck]> } | undefined
  let diskGoodAt = -Infinity
  const { db, hub } = context

  async function checkDatabase(): Promise<[ProxyCheck, ProxyCheck]> {
    const [database, disk] = await Promise.all([
      check('database', () => db.execute(sql`select 1`)),
      check('disk', async () => {
        if (performance.now() - diskGoodAt < DISK_FRESH_MS) return
        await checkDisk(db)
        diskGoodAt = performance.now()
      }),
    ])
    return [database, disk]
  }

  async function check(name: string, run: () => Promise<unknown>): Promise<ProxyCheck> {
    const late = new Promise<never>((_, reject) =>
      setTimeout(
        () => reject(new Error(`No answer within ${DATABASE_MS} ms.`)),
        DATABASE_MS,
      ).unref(),
    )
    try {
      await Promise.race([run(), late])
      return { name, ok: true }
    } catch (error) {
      context.log.warn({ err: error, check: name }, 'not ready')
      return { name, ok: false }
    }
  }

  return async () => {
    const now = performance.now()
    if (!last || now - last.at > FRESH_MS) last = { at: now, checks: checkDatabase() }
    const service: ProxyCheck = {
      name: 'service',
      ok: hub.state !== 'key_refused' && hub.state !== 'connecting',
      note: hub.state,
    }
    const checks = [...(await last.checks), service]
    return { status: checks.every(({ ok }) => ok) ? 'ok' : 'unavailable', checks }
  }
}
