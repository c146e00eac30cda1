import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Family } from '#contract/address.ts'
import { openDatabase, type Database } from '#postgres/open.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import { openSigner } from '#signer/client.ts'
import { startEvm, startGate, startSolana } from '../local-chains.ts'
import { createOnOwnServer, databaseVariables } from '../postgres.ts'
import { createTestKey } from '../service-app.ts'
import { openOrders, type Orders } from './crash-orders.ts'

export type CrashHarness = AsyncDisposable & {
  db: Database
  env: Record<string, string>
  orders: Pick<Orders, 'openSend' | 'openSettlement'>
  /** `refuse`: signed transactions do not reach the chains; `cut`: nothing does; `mend`: all is well again. */
  chains: { refuse: () => void; cut: () => void; mend: () => void }
  restartDatabase: (whileAway: () => Promise<void>) => Promise<void>
}

/** Two chains behind gates that can be shut, a Postgres server that can crash, one vault and one account: what processes that die share. */
export async function openCrashHarness(): Promise<CrashHarness> {
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-crash-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const evm = stack.use(await startEvm({ slotsInEpoch: 2 }))
  await evm.mine()
  const mining = setInterval(() => void evm.mine().catch(() => {}), evm.network.blockTimeMs)
  stack.defer(() => clearInterval(mining))
  const solana = stack.use(await startSolana({ slotTimeMs: 400 }))
  const gates = [
    stack.use(await startGate(evm.rpcUrl)),
    stack.use(await startGate(solana.rpcUrl)),
  ] as const
  const { target, restart } = stack.use(await createOnOwnServer())
  const { db } = stack.use(await openDatabase(target, { ...SERVICE_SCHEMA, onWarning: () => {} }))
  const vaultKeyFile = join(folder, 'vault.key')
  // The services find it in this folder and start none: half of the work of each start. `chaos:kill` has signers that end with their service.
  const signer = stack.use(await openSigner({ env: { VAULT_KEY_FILE: vaultKeyFile } }))
  const { key, accountId } = await createTestKey(db, { plan: 'premium' })

  const openWallet = async (family: Family) =>
    (await createWallet({ db, signer, now: new Date() }, { accountId, family, name: 'till' }))
      .address
  const { networks, facilitators, ...orders } = await openOrders(
    { evm, solana },
    { key, openWallet },
  )
  const gated = networks.map((network, index) => ({ ...network, rpcUrls: [gates[index]?.url] }))
  const opened = stack.move()
  return {
    db,
    env: {
      ...databaseVariables(target),
      NETWORKS: JSON.stringify(gated),
      VAULT_KEY_FILE: vaultKeyFile,
      FACILITATOR_WALLETS: facilitators.join(','),
    },
    orders,
    chains: {
      refuse: () =>
        void ([gates[0].refuse, gates[1].refuse] = ['eth_sendRawTransaction', 'sendTransaction']),
      cut: () => void (gates[0].open = gates[1].open = false),
      mend: () => {
        for (const gate of gates) Object.assign(gate, { open: true, refuse: undefined })
      },
    },
    restartDatabase: restart,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
