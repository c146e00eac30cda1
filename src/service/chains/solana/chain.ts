import type { Network } from '#contract/network.ts'
import type { Chain } from '../chain.ts'
import { Recent } from '../recent.ts'
import { remember } from '../remember.ts'
import { audit } from './audit.ts'
import { broadcast, simulateSigned } from './broadcast.ts'
import { build } from './build.ts'
import { buildNote } from './build-note.ts'
import { openEndpoints } from './client.ts'
import { find } from './find.ts'
import { findByMessage } from './find-by-message.ts'
import { readFunds } from './funds.ts'
import { readClock, readHead } from './head.ts'
import { canNeverLand } from './never-land.ts'
import { isGone, observe } from './observe.ts'
import { readToken } from './token.ts'

const TOKEN_TTL_MS = 60_000
const CLOCK_TTL_MS = 1_000

/** A Solana cluster behind the port. Opens no connection before it is asked. */
export function openSolanaChain(network: Network): Chain {
  const endpoints = openEndpoints(network)
  const head = new Recent(network.blockTimeMs / 2, () => readHead(endpoints))
  const clock = new Recent(Math.min(CLOCK_TTL_MS, network.blockTimeMs / 2), () =>
    readClock(endpoints),
  )
  const token = remember(TOKEN_TTL_MS, (address) => readToken(endpoints, network, address))
  return {
    network,
    scansBlocks: false,
    graceBlocks: null,
    head: () => head.fresh(),
    recentHead: () => head.patient(),
    clock: () => clock.fresh(),
    build: (intent, options) => build(endpoints, network, { intent, ...options }),
    note: (note) => buildNote(endpoints, note),
    observe: (signature, as = (seen) => seen) => observe(endpoints, signature, as),
    find: async (wanted, _from, to) => ({ found: await find(endpoints, wanted), readTo: to }),
    findByMessage: (query) => findByMessage(endpoints, query),
    canNeverLand: (wanted) => canNeverLand(endpoints, wanted),
    isGone: (landed) => isGone(endpoints, landed),
    simulateSigned: (bytes, paid) => simulateSigned(endpoints, network, { bytes, paid }),
    broadcast: (bytes) => broadcast(endpoints, bytes),
    funds: (address, openPayments) => readFunds(endpoints, address, openPayments),
    audit: (wallet, since) => audit(endpoints, network, { wallet, since }),
    token,
    contracts: null,
    check: async () => void (await head.fresh()),
    close: async () => {},
  }
}
