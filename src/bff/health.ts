import { sql } from 'drizzle-orm'
import type { Hono } from 'hono'
import type { ProxyContext } from './context/context.ts'
import type { HonoEnv } from './http/env.ts'

const DATABASE_MS = 2000

/**
 * `live`: the process answers. `ready`: it can serve. A service that is away for a moment does not make the proxy unready: pulling it out
 * would turn a clear error into none. A key that was never accepted does, because then nothing will ever work.
 */
export function mountHealth(app: Hono<HonoEnv>, context: ProxyContext): void {
  app.get('/health/live', (c) => {
    c.set('route', 'live')
    return c.json({ status: 'ok' })
  })
  app.get('/health/ready', async (c) => {
    c.set('route', 'ready')
    const database = await isDatabaseThere(context)
    const service = context.hub.state
    const ready = database && service !== 'key_refused' && service !== 'connecting'
    return c.json(
      {
        status: ready ? 'ok' : 'unavailable',
        checks: { database: database ? 'ok' : 'unreachable', service },
      },
      ready ? 200 : 503,
    )
  })
}

async function isDatabaseThere(context: ProxyContext): Promise<boolean> {
  const late = new Promise<boolean>((resolve) =>
    setTimeout(() => resolve(false), DATABASE_MS).unref(),
  )
  const asked = context.db.execute(sql`select 1`).then(
    () => true,
    () => false,
  )
  return Promise.race([asked, late])
}
