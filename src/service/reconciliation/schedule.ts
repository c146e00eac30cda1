import { familyOf } from '#contract/network.ts'
import type { Chain } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { releaseLease, takeLease } from '../db/cursors.ts'
import { countStopped, readDue } from '../db/wallet-ledger.ts'
import type { Metrics } from '../context/metrics.ts'
import { affirmAll } from './affirm.ts'
import { reconcile } from './reconcile.ts'

/** How often wallets with changes are checked, and all of them. */
const LOOK_MS = 15_000
const ALL_MS = 600_000
const STOP_WITHIN_MS = 2_000

/**
 * Compares the ledger of all managed wallets with their chains, for as long as the service runs.
 * @returns stops it
 */
export function startReconciliation(context: Context, metrics: Metrics): () => Promise<void> {
  const holder = crypto.randomUUID()
  let running: Promise<void> | undefined
  let stopped = false
  const run = () => {
    running ??= lookAtAll(context, { holder, metrics, isOver: () => stopped }).finally(
      () => (running = undefined),
    )
  }
  run()
  const looking = setInterval(run, LOOK_MS)
  return async () => {
    stopped = true
    clearInterval(looking)
    let timer: NodeJS.Timeout | undefined
    // A check that hangs on a dead chain is abandoned: it writes one row or none.
    await Promise.race([
      running,
      new Promise((resolve) => (timer = setTimeout(resolve, STOP_WITHIN_MS))),
    ])
    clearTimeout(timer)
    await Promise.all(
      [...context.chains.keys()].map((network) =>
        releaseLease(context.db, leaseOf(network), holder).catch(() => {}),
      ),
    )
  }
}

type Round = { holder: string; metrics: Metrics; isOver: () => boolean }

async function lookAtAll(context: Context, { holder, metrics, isOver }: Round): Promise<void> {
  for (const [network, chain] of context.chains) {
    try {
      // One process checks. Two at once would only do the work twice.
      if (!isOver() && (await takeLease(context.db, leaseOf(network), holder)))
        await lookAtChain(context, chain, isOver)
    } catch (error) {
      context.log.warn(
        { network, err: error },
        'the books could not be compared with the chain; they are looked at again',
      )
    }
  }
  await countStopped(context.db).then(
    (count) => metrics.stoppedWallets.set(count),
    () => {},
  )
}

async function lookAtChain(context: Context, chain: Chain, isOver: () => boolean): Promise<void> {
  const { network } = chain.network
  await affirmAll(context, chain)
  for (const address of await readDue(context.db, {
    network,
    family: familyOf(network),
    everyMs: ALL_MS,
  })) {
    if (isOver()) return
    await reconcile(context, chain, address)
  }
}

/** A row beside the watcher's, with a separate lease. */
function leaseOf(network: string): string {
  return `books ${network}`
}
