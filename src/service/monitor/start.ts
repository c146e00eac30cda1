import { setTimeout as delay } from 'node:timers/promises'
import { ProblemError } from '#contract/problem.ts'
import { type Chain, noteLook, onNotify } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { Sleep } from '../context/sleep.ts'
import { releaseLease, takeLease } from '../db/cursors.ts'
import { LEASE_RENEWAL_MS } from '../db/lease.ts'
import { pollOnce, type PollOptions } from './poll.ts'

export type Watchers = { stop(): Promise<void> }

const MIN_INTERVAL_MS = 100
/** What wakes the watcher within this time of a look is looked at together. */
const MIN_PAUSE_MS = 250
const MAX_INTERVAL_MS = 4_000
/** Without a payment to follow, looks are this much rarer; a new payment of this process wakes the loop. */
const IDLE_FACTOR = 4
const STOP_WITHIN_MS = 5_000
const MAX_BACKOFF_MS = 10_000
/** How often a process that does not follow a chain looks whether the one that does still lives. */
const STAND_BY_MS = 500
/** How often a chain is searched for payments that have expired. */
const EXPIRED_EVERY_MS = 30_000

/** Follows every configured chain, one loop each, until stopped. A chain that is down is asked again, ever less often. */
export function startWatchers(context: Context): Watchers {
  const abort = new AbortController()
  const loops = [...context.chains.values()].map((chain) => watch(context, chain, abort.signal))
  return {
    stop: async () => {
      abort.abort()
      let timer: NodeJS.Timeout | undefined
      // A round that hangs on a dead chain is left behind: every write of it is one whole transaction or none.
      await Promise.race([
        Promise.all(loops),
        new Promise((resolve) => (timer = setTimeout(resolve, STOP_WITHIN_MS))),
      ])
      clearTimeout(timer)
    },
  }
}

async function watch(context: Context, chain: Chain, signal: AbortSignal): Promise<void> {
  const { network, blockTimeMs } = chain.network
  const holder = crypto.randomUUID()
  const interval = Math.min(Math.max(blockTimeMs, MIN_INTERVAL_MS), MAX_INTERVAL_MS)
  const sleep = new Sleep(signal)
  const stopNotifications = onNotify(chain, () => sleep.end())
  let holds = false
  let renewedAt = -Infinity
  const renew = async () => {
    const at = performance.now()
    const holdsNow = await takeLease(context.db, network, holder)
    if (holdsNow) renewedAt = at
    return holdsNow
  }
  const heartbeat = setInterval(() => {
    // A beat that fails costs the lease at most.
    if (holds) renew().catch(() => {})
  }, LEASE_RENEWAL_MS)
  /** Looks at expired payments that no round waits for. */
  const looks = new Map<string, Promise<void>>()
  const beside: PollOptions['beside'] = (group, look) => {
    // The one before may still be at its work: the next one is due soon.
    if (looks.has(group)) return
    const done = look(signal).then((failed) => {
      looks.delete(group)
      if (failed.length > 0)
        context.log.warn(
          { network, group, count: failed.length, err: failed[0] },
          'the watcher could not look at every expired payment',
        )
    })
    looks.set(group, done)
  }
  let expiredAt = -Infinity
  let expiredBefore: Date | undefined
  let failures = 0
  let partly = false
  let idle = true
  while (!signal.aborted) {
    let pause = interval
    const lookAt = performance.now()
    try {
      holds = performance.now() - renewedAt < LEASE_RENEWAL_MS || (await renew())
      if (!holds) pause = Math.min(interval, STAND_BY_MS)
      else {
        const startedAt = context.now()
        const expiredToo = performance.now() - expiredAt >= EXPIRED_EVERY_MS
        const looked = await pollOnce(context, chain, {
          expiredToo,
          idle,
          expiredAt: expiredBefore,
          beside,
        })
        idle = looked.idle
        noteLook(chain, { startedAt: lookAt, unseen: looked.unseen })
        if (expiredToo) {
          expiredAt = performance.now()
          expiredBefore = startedAt
        }
        if (looked.failures.length > 0 && !partly)
          context.log.warn(
            { network, count: looked.failures.length, err: looked.failures[0] },
            'the watcher could not look at every payment',
          )
        partly = looked.failures.length > 0
        if (looked.open === 0) pause = Math.min(interval * IDLE_FACTOR, MAX_INTERVAL_MS)
      }
      if (failures > 0)
        context.log.info({ network, failures }, 'the watcher follows the chain again')
      failures = 0
    } catch (error) {
      logFailure(context, { network, error, failures })
      pause = Math.min(interval * 2 ** ++failures, MAX_BACKOFF_MS)
    }
    await sleep.for(pause)
    const restMs = lookAt + Math.min(interval, MIN_PAUSE_MS) - performance.now()
    if (restMs > 0) await delay(restMs, undefined, { signal }).catch(() => {})
  }
  clearInterval(heartbeat)
  stopNotifications()
  await Promise.all(looks.values())
  await releaseLease(context.db, network, holder).catch((error: unknown) =>
    context.log.warn({ network, err: error }, 'the watcher could not give its lease back'),
  )
}

/** A chain that is down is worth one line, not one for each look. */
function logFailure(
  context: Context,
  { network, error, failures }: { network: string; error: unknown; failures: number },
): void {
  const down = error instanceof ProblemError && error.code === 'CHAIN_UNAVAILABLE'
  if (!down) context.log.error({ network, err: error }, 'the watcher failed and tries again')
  else if (failures === 0)
    context.log.warn(
      { network, err: error },
      'the chain cannot be reached; the watcher keeps asking',
    )
}
