import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair, PublicKey } from '@solana/web3.js'
import type { Hex } from 'viem'
import type { Family } from '#contract/address.ts'
import { openDatabase, type Database } from '#postgres/open.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import { openFileVault } from '#service/wallets/file-vault.ts'
import { startEvm, startGate, startSolana } from '../local-chains.ts'
import { createOnOwnServer } from '../postgres.ts'
import { createTestKey } from '../service-app.ts'

const ETH = 10n ** 18n
const SOL = 1_000_000_000n

/** A managed wallet with money that pays one payee once. */
export type Payer = { walletAddress: string; recipientAddress: string; paid: () => Promise<bigint> }

export type CrashStage = AsyncDisposable & {
  db: Database
  env: Record<string, string>
  /** API key. */
  key: string
  /** What each payment pays, in atomic units: 0.01 of the native currency. */
  amounts: Record<Family, bigint>
  openPayer: (family: Family, name: string) => Promise<Payer>
  /** `refuse`: signed transactions do not reach the chains; `cut`: nothing does; `mend`: all is well again. */
  chains: { refuse: () => void; cut: () => void; mend: () => void }
  restartDatabase: (whileAway: () => Promise<void>) => Promise<void>
}

/** Two chains behind gates that can be shut, a Postgres server that can crash, one vault and one account: what processes that die share. */
export async function openCrashStage(): Promise<CrashStage> {
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-crash-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const evm = stack.use(await startEvm({ slotsInEpoch: 2 }))
  await evm.mine()
  const mining = setInterval(() => void evm.mine().catch(() => {}), evm.network.blockTimeMs)
  stack.defer(() => clearInterval(mining))
  const solana = stack.use(await startSolana({ slotTimeMs: 100 }))
  const gates = [stack.use(await startGate(evm.rpcUrl)), stack.use(await startGate(solana.rpcUrl))] as const
  const { target, restart } = stack.use(await createOnOwnServer())
  const { db } = stack.use(await openDatabase(target, { ...SERVICE_SCHEMA, onWarning: () => {} }))
  const vaultKeyFile = join(folder, 'vault.key')
  const vault = openFileVault(vaultKeyFile)
  const { key, accountId } = await createTestKey(db, { plan: 'premium' })

  const wallets = {
    evm: {
      payee: async () => (await evm.wallet(0n)).address as string,
      fund: (address: string) => evm.client.setBalance({ address: address as Hex, value: ETH }),
      balance: (address: string) => evm.client.getBalance({ address: address as Hex }),
    },
    solana: {
      payee: async () => Keypair.generate().publicKey.toBase58(),
      fund: (address: string) => solana.setAccount(address, { lamports: SOL }),
      balance: async (address: string) => BigInt(await solana.connection.getBalance(new PublicKey(address))),
    },
  }
  const networks = [evm.network, solana.network].map((network, index) => ({ ...network, rpcUrls: [gates[index]?.url] }))
  const opened = stack.move()
  return {
    db,
    env: { DATABASE_URL: target.url, NETWORKS: JSON.stringify(networks), VAULT_KEY_FILE: vaultKeyFile },
    key,
    amounts: { evm: ETH / 100n, solana: SOL / 100n },
    async openPayer(family, name) {
      const { payee, fund, balance } = wallets[family]
      const { address } = await createWallet({ db, vault, now: new Date() }, { accountId, family, name })
      await fund(address)
      const recipientAddress = await payee()
      return { walletAddress: address, recipientAddress, paid: () => balance(recipientAddress) }
    },
    chains: {
      refuse: () => void ([gates[0].refuse, gates[1].refuse] = ['eth_sendRawTransaction', 'sendTransaction']),
      cut: () => void (gates[0].open = gates[1].open = false),
      mend: () => {
        for (const gate of gates) Object.assign(gate, { open: true, refuse: undefined })
      },
    },
    restartDatabase: restart,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
