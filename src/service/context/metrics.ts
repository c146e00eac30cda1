import { sql } from 'drizzle-orm'
import { Counter, Gauge } from 'prom-client'
import type { NetworkId } from '#contract/network.ts'
import { createProgramMetrics, type PoolSize, type ProgramMetrics } from '#http/internal-server.ts'
import type { Database } from '#postgres/open.ts'
import type { ChainObserver } from '../chains/endpoints.ts'
import { payment } from '../db/schema/payment.ts'

export type Metrics = ProgramMetrics & {
  openSockets: Gauge
  sentEvents: Counter
  stoppedWallets: Gauge
  uncheckedWallets: Gauge<'network'>
  chains: ChainObserver
}

type Options = {
  networks: readonly { network: NetworkId }[]
  db: Database
  readPool?: (() => PoolSize) | undefined
}

type OpenGauge = Gauge<'network' | 'status'>

const OPEN = ['created', 'pending', 'confirmed', 'rolled_back'] as const

/** The metrics of one running service. */
export function createMetrics({ networks, db, readPool }: Options): Metrics {
  const program = createProgramMetrics(readPool)
  const registers = [program.register]
  const calls = new Counter({
    name: 'rpc_calls_total',
    help: 'HTTP requests to RPC endpoints: answered, refused (an HTTP error) or failed (no answer).',
    labelNames: ['network', 'outcome'],
    registers,
  })
  const height = new Gauge({
    name: 'chain_height',
    help: 'The newest block seen. It stands still while no payment of the network is awaited.',
    labelNames: ['network'],
    registers,
  })
  // A rate needs the first value too.
  for (const { network } of networks)
    for (const outcome of ['answered', 'refused', 'failed']) calls.inc({ network, outcome }, 0)
  const open: OpenGauge = new Gauge({
    name: 'payments_open',
    help: 'Payments that are not final yet, drafts included.',
    labelNames: ['network', 'status'],
    registers,
    collect: (): Promise<void> => countOpen(db, networks, open),
  })
  return {
    ...program,
    openSockets: new Gauge({
      name: 'websocket_connections',
      help: 'Open connections of the event stream.',
      registers,
    }),
    sentEvents: new Counter({
      name: 'websocket_events_total',
      help: 'Events sent to the event stream.',
      registers,
    }),
    stoppedWallets: new Gauge({
      name: 'managed_wallets_stopped',
      help: 'Managed wallets whose ledger and chain differ.',
      registers,
    }),
    uncheckedWallets: new Gauge({
      name: 'managed_wallets_unchecked',
      help: 'Managed wallets whose ledger was not compared with the chain for 30 minutes.',
      labelNames: ['network'],
      registers,
    }),
    chains: {
      called: (network, outcome) => calls.inc({ network, outcome }),
      sawBlock: (network, block) => height.set({ network }, block),
    },
  }
}

/** Reads the index of open payments alone. A database that is away hides these figures and no others. */
async function countOpen(
  db: Database,
  networks: Options['networks'],
  gauge: OpenGauge,
): Promise<void> {
  gauge.reset()
  try {
    const { rows } = await db.execute<{ network: string; status: string; count: number }>(sql`
      select network, status, count(*)::int as count from ${payment}
      where status in ('created', 'pending', 'confirmed', 'rolled_back') group by network, status`)
    for (const { network } of networks) for (const status of OPEN) gauge.set({ network, status }, 0)
    for (const { network, status, count } of rows) gauge.set({ network, status }, count)
  } catch {
    gauge.reset()
  }
}
