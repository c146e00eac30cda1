import { sql } from 'drizzle-orm'
import type { Context } from './context.ts'
import { countStopped } from './db/wallet-books.ts'

export type Check = { name: string; ok: boolean }
/** `stoppedWallets`: wallets that an operator must look at; they keep the service from nothing else. Null when that is not known. */
type Readiness = { checks: Check[]; stoppedWallets: number | null }

/** Probes come from several sides at once and each costs a call to every chain. */
const FRESH_MS = 1_000
const CHECK_TIMEOUT_MS = 3_000

/** Whether the service can do its work: its database answers, and each chain answers and is the configured one. */
export function createReadiness(context: Context): () => Promise<Readiness> {
  let last: { at: number; found: Promise<Readiness> } | undefined
  return () => {
    const now = performance.now()
    if (!last || now - last.at > FRESH_MS) last = { at: now, found: look(context) }
    return last.found
  }
}

async function look(context: Context): Promise<Readiness> {
  const [checks, stoppedWallets] = await Promise.all([runChecks(context), countStopped(context.db).catch(() => null)])
  return { checks, stoppedWallets }
}

function runChecks(context: Context): Promise<Check[]> {
  const chains = [...context.chains].map(([network, chain]) => check(network, () => chain.check()))
  return Promise.all([check('database', () => context.db.execute(sql`select 1`)), ...chains])

  async function check(name: string, run: () => Promise<unknown>): Promise<Check> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`No answer within ${CHECK_TIMEOUT_MS} ms.`)), CHECK_TIMEOUT_MS)
    })
    try {
      await Promise.race([run(), late])
      return { name, ok: true }
    } catch (error) {
      context.log.warn({ err: error, check: name }, 'not ready')
      return { name, ok: false }
    } finally {
      clearTimeout(timer)
    }
  }
}
