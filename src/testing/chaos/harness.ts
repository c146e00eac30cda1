import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair, PublicKey } from '@solana/web3.js'
import type { Hex } from 'viem'
import type { Family } from '#contract/address.ts'
import type { NetworkId } from '#contract/network.ts'
import { openDatabase, type Database } from '#postgres/open.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { signaturesOf } from '#service/chains/solana/find.ts'
import { createKey } from '#service/keys/create-key.ts'
import { createAccount } from '#service/keys/accounts.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import type { Signer } from '#signer/protocol.ts'
import { createSigner } from '#signer/signer.ts'
import { openFileVault } from '#signer/vaults.ts'
import { SCOPES } from '#contract/api-key-body.ts'
import { startEvm, startSolana, type EvmFixture, type SolanaFixture } from '../local-chains.ts'
import { createTestDatabase, databaseVariables } from '../postgres.ts'

const ETH = 10n ** 18n
const SOL = 1_000_000_000n
const WALLETS_PER_CHAIN = 2

/** A managed wallet, what it held at first, and whom it pays. */
export type Till = {
  family: Family
  network: NetworkId
  address: string
  held: bigint
  payee: string
  balance: (address: string) => Promise<bigint>
}

export type ChaosHarness = AsyncDisposable & {
  db: Database
  env: Record<string, string>
  key: string
  accountId: string
  tills: Till[]
  payments: (address: string) => Promise<number>
}

/** What all processes of a stress test share: two chains, one Postgres server, one vault, an account with funded wallets on each chain. */
export async function openHarness(): Promise<ChaosHarness> {
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-chaos-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const evm = stack.use(await startEvm({ slotsInEpoch: 2 }))
  await evm.mine()
  const mining = setInterval(() => void evm.mine().catch(() => {}), evm.network.blockTimeMs)
  stack.defer(() => clearInterval(mining))
  const solana = stack.use(await startSolana({ slotTimeMs: 200 }))
  const database = stack.use(await createTestDatabase('postgres'))
  if (!('url' in database.target)) throw new Error('Expected a server.')
  const { db } = stack.use(await openDatabase(database.target, SERVICE_SCHEMA))
  const vaultKeyFile = join(folder, 'vault.key')
  // Seals their wallets; the services have a signer of their own.
  const signer = createSigner({ vault: openFileVault(vaultKeyFile), folder })

  const { accountId, key } = await openPremiumAccount(db)
  const { tills, payments } = await openTills({ evm, solana }, { db, signer, accountId })
  const env = {
    ...databaseVariables(database.target),
    NETWORKS: JSON.stringify([evm.network, solana.network]),
    VAULT_KEY_FILE: vaultKeyFile,
    LOG_LEVEL: 'info',
  }
  const opened = stack.move()
  return {
    db,
    env,
    key,
    accountId,
    tills,
    payments,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** An account without limits, and a key of it with all scopes. */
export async function openPremiumAccount(
  db: Database,
): Promise<{ accountId: string; key: string }> {
  const { id: accountId } = await createAccount(db, { name: 'Storm', plan: 'premium' })
  const { key } = await createKey(db, {
    accountId,
    name: 'storm',
    scopes: SCOPES,
    plan: 'premium',
    environment: 'test',
    requestsPerMinute: 1_000_000,
  })
  return { accountId, key }
}

type TillOwner = { db: Database; signer: Signer; accountId: string }

/** Managed wallets with money on both chains, and how many payments left one of them. */
export async function openTills(
  { evm, solana }: { evm: EvmFixture; solana: SolanaFixture },
  { db, signer, accountId }: TillOwner,
): Promise<Pick<ChaosHarness, 'tills' | 'payments'>> {
  const chains = {
    evm: {
      network: evm.network.network,
      held: 1_000n * ETH,
      payee: async () => (await evm.wallet(0n)).address as string,
      fund: (address: string, value: bigint) =>
        evm.client.setBalance({ address: address as Hex, value }),
      balance: (address: string) => evm.client.getBalance({ address: address as Hex }),
    },
    solana: {
      network: solana.network.network,
      held: 1_000n * SOL,
      payee: async () => Keypair.generate().publicKey.toBase58(),
      fund: (address: string, lamports: bigint) => solana.setAccount(address, { lamports }),
      balance: async (address: string) =>
        BigInt(await solana.connection.getBalance(new PublicKey(address))),
    },
  }
  const tills: Till[] = []
  for (const family of ['evm', 'solana'] as const) {
    const { network, held, payee, fund, balance } = chains[family]
    for (let count = 0; count < WALLETS_PER_CHAIN; count++) {
      const { address } = await createWallet(
        { db, signer, now: new Date() },
        { accountId, family, name: `till ${count}` },
      )
      await fund(address, held)
      tills.push({ family, network, address, held, payee: await payee(), balance })
    }
  }
  const payments = async (address: string) =>
    address.startsWith('0x')
      ? evm.client.getTransactionCount({ address: address as Hex })
      : (await signaturesOf(solana.connection, address, { from: 0 })).signatures.filter(
          ({ err }) => err === null,
        ).length
  return { tills, payments }
}
