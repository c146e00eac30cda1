import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { parseEther } from 'viem'
import type { Family } from '#contract/address.ts'
import type { Network } from '#contract/network.ts'
import { openDatabase } from '#postgres/open.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import { registerWallet } from '#service/wallets/ownership.ts'
import { createSigner } from '#signer/signer.ts'
import { openFileVault } from '#signer/vaults.ts'
import { startEvm } from '../local-chains.ts'
import { give } from '../local-tokens.ts'
import { createDurable, databaseVariables, type OwnDatabase } from '../postgres.ts'
import {
  makeProof,
  proveAuthorized,
  RESOURCE,
  type Presented,
  type ProofMakers,
} from '../tenant-proofs.ts'
import { deployTokens } from '../token-payers.ts'
import { assetOf, balanceOf, openSolana, type OwnedAsset } from '../two-tenants.ts'
import { pause } from './command.ts'
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts'
import { openPremiumAccount, openTills, type ChaosHarness } from './harness.ts'
import { openHolders } from './holders.ts'
import type { SeededRng } from './rng.ts'

export type FaultHarness = ChaosHarness & {
  makers: ProofMakers
  /** A proof by a payer who holds what the method moves. */
  prove: (terms: Parameters<typeof makeProof>[1]) => Promise<Presented>
  /** In front of the chains, all endpoints of each; honest at first. */
  proxies: FaultProxy[]
  /** The same by chain, in the order in which they are asked. */
  endpoints: Record<Family, FaultProxy[]>
  /**
   * Those that may know no transaction and still not deceive the service: on EVM all, since it reads its proofs from blocks; on Solana the one
   * that is asked first, where another shows what landed.
   */
  forgetful: Record<Family, FaultProxy[]>
  target: OwnDatabase['target']
  restartDatabase: OwnDatabase['restart']
  /** A new wallet of the account, empty. */
  openPayee: (family: Family) => Promise<string>
  balance: (asset: OwnedAsset) => Promise<bigint>
  /** Up to which height the chain is final, by an honest endpoint. */
  finalizedHeight: (family: Family) => Promise<number>
  /** A payer with ether for one order. */
  openPayer: () => Promise<PrivateKeyAccount>
  /** While true, no block of the EVM chain is made by time. */
  mining: { paused: boolean }
}

type Options = {
  rng: SeededRng
  /** Blocks are final `2 * slotsInEpoch` later. */
  slotsInEpoch?: number
  /** How long a slot of Solana takes, in milliseconds. */
  slotMs?: number
  /** Where the database is; a new folder otherwise. */
  dataFolder?: string
  /** An empty database of the caller in place of it. */
  database?: Pick<OwnDatabase, 'target' | 'restart'>
  /**
   * How many payers hold ether from the beginning on, so deep in the chain that no reorganization takes it from
   * them; none otherwise.
   */
  buriedPayers?: number
  /** How many RPC endpoints each network has, each behind a separate fault proxy; 1 otherwise. */
  endpoints?: 1 | 2
}

/** A second, so that the chain's time keeps to the clock's. */
const BLOCK_MS = 1_000
const SLOT_MS = 400
/** In blocks. */
export const DEEPEST_REORG = 64

/**
 * What processes under faults share: both chains, each behind a fault proxy; a durable Postgres server; a vault; an account with funded wallets and a facilitator; payers of every method.
 */
export async function openFaultHarness(options: Options): Promise<FaultHarness> {
  const {
    rng,
    slotsInEpoch = 2,
    slotMs = SLOT_MS,
    dataFolder,
    database: given,
    buriedPayers = 0,
    endpoints = 1,
  } = options
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-faults-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const evm = stack.use(await startEvm({ slotsInEpoch }))
  await evm.mine()
  const relayers = { evm: generatePrivateKey(), solana: Keypair.generate() }
  const relayer = privateKeyToAccount(relayers.evm)
  const feePayer = relayers.solana.publicKey
  const solana = stack.use(await openSolana(relayers.solana, slotMs))
  const tokens = await deployTokens(evm)
  const database = given ?? stack.use(await createDurable(dataFolder))
  const { db } = stack.use(
    await openDatabase(database.target, { ...SERVICE_SCHEMA, onWarning: () => {} }),
  )
  const vaultKeyFile = join(folder, 'vault.key')
  // Seals their wallets; the services have a signer of their own.
  const signer = createSigner({ vault: openFileVault(vaultKeyFile), folder })
  const { accountId, key } = await openPremiumAccount(db)
  const { tills, payments } = await openTills({ evm, solana }, { db, signer, accountId })
  for (const [family, secret] of [
    ['evm', Buffer.from(relayers.evm.slice(2), 'hex')],
    ['solana', Uint8Array.from(relayers.solana.secretKey.subarray(0, 32))],
  ] as const)
    await createWallet(
      { db, signer, now: new Date() },
      { accountId, family, name: 'Settlements', secret },
    )
  await evm.client.setBalance({ address: relayer.address, value: parseEther('1000') })
  await solana.setAccount(feePayer.toBase58(), { lamports: 1_000_000_000_000n })

  const holders = await Promise.all([makeHolder(), makeHolder()])
  async function makeHolder() {
    const account = await evm.wallet(parseEther('100'))
    await tokens.fund(account.address)
    return account
  }

  const holding = await openHolders({ evm, usdc: tokens.usdc }, tokens)

  const buried = await Promise.all(
    Array.from({ length: buriedPayers }, () => evm.wallet(parseEther('100'))),
  )
  if (buriedPayers > 0) await evm.mine(DEEPEST_REORG + 1)

  const openProxies = (family: Family, url: string) =>
    Promise.all(
      Array.from({ length: endpoints }, async (_, index) =>
        stack.use(
          await startFaultProxy(url, rng.fork(`${family} proxy${index === 0 ? '' : ` ${index}`}`)),
        ),
      ),
    )
  const proxies = {
    evm: await openProxies('evm', evm.rpcUrl),
    solana: await openProxies('solana', solana.network.rpcUrls[0] ?? ''),
  }
  const proxied = (network: Network, family: Family): Network => ({
    ...network,
    rpcUrls: proxies[family].map(({ url }) => url),
  })
  const networks = [
    proxied({ ...tokens.network, blockTimeMs: BLOCK_MS }, 'evm'),
    proxied(solana.network, 'solana'),
  ]
  const mining = { paused: false }
  const ticking = setInterval(() => {
    if (!mining.paused) evm.mine().catch(() => {})
  }, BLOCK_MS)
  stack.defer(() => clearInterval(ticking))

  const usdc = assetOf(solana.network, 'USDC')
  const makers: ProofMakers = {
    evm,
    solana,
    eth: assetOf(tokens.network, 'ETH'),
    usdc: tokens.usdc,
    feePayer: feePayer.toBase58(),
    payer: () => evm.wallet(parseEther('100')),
  }
  const opened = stack.move()
  return {
    db,
    env: {
      ...databaseVariables(database.target),
      NETWORKS: JSON.stringify(networks),
      VAULT_KEY_FILE: vaultKeyFile,
      FACILITATOR_WALLETS: [relayer.address, feePayer.toBase58()].join(','),
      LOG_LEVEL: 'info',
    },
    key,
    tills,
    payments,
    makers,
    async prove(terms) {
      const { method } = terms
      const holder = Object.entries(holding).find(([name]) => name === method)?.[1]
      if (holder) return proveAuthorized(makers, { resource: RESOURCE, ...terms }, holder)
      // Every authorization has a different nonce, so payers of USDC can be used again.
      const payer = async () => rng.pick(holders)
      return makeProof(method === 'evm eip3009' ? { ...makers, payer } : makers, terms)
    },
    async openPayer() {
      if (buriedPayers === 0) return evm.wallet(parseEther('100'))
      const payer = buried.pop()
      if (!payer) throw new Error(`All ${buriedPayers} payers have paid; open more.`)
      return payer
    },
    accountId,
    proxies: [...proxies.evm, ...proxies.solana],
    endpoints: proxies,
    forgetful: { evm: proxies.evm, solana: proxies.solana.slice(0, endpoints - 1) },
    target: database.target,
    restartDatabase: database.restart,
    async openPayee(family) {
      const pair = Keypair.generate().publicKey
      const address =
        family === 'evm' ? privateKeyToAccount(generatePrivateKey()).address : pair.toBase58()
      // As on a real chain, the payee's token account is there before the payer pays.
      if (family === 'solana') await give(solana, usdc, { owner: pair, amount: 0n })
      const wallet = { accountId, address, network: null, proof: 'operator' } as const
      await untilDone(() => registerWallet({ db, now: new Date() }, wallet))
      return address
    },
    balance: (asset) => balanceOf({ evm, solana }, asset),
    async finalizedHeight(family) {
      if (family === 'solana') return solana.connection.getSlot('finalized')
      const { number } = await evm.client.getBlock({ blockTag: 'finalized' })
      return Number(number)
    },
    mining,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const PAUSE_MS = 250
const GIVE_UP_MS = 300_000

/** Reads and writes of the harness itself, while its database comes and goes. */
export async function untilDone<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + GIVE_UP_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof ReferenceError || performance.now() > until) throw error
      await pause(PAUSE_MS)
    }
  }
}
