import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { ed25519 } from '@noble/curves/ed25519.js'
import { Keypair, PublicKey } from '@solana/web3.js'
import bs58 from 'bs58'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { parseEther, type Hex } from 'viem'
import { SCOPES, type Scope } from '#contract/api-key-body.ts'
import { familyOf, type Asset, type Network } from '#contract/network.ts'
import { associatedTokenAccount, SOLANA_TOKENS } from '#devnet/tokens/solana.ts'
import { toConfig } from '#service/context/config.ts'
import { createAccount } from '#service/keys/accounts.ts'
import { createKey } from '#service/keys/create-key.ts'
import { createService, type RunningService } from '#service/service.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import { ApiClient, listAt, succeed, textAt, type ApiReply } from './api-client.ts'
import { startEvm, startSolana, type EvmFixture } from './local-chains.ts'
import { balanceOnEvm, balanceOnSolana, give } from './local-tokens.ts'
import { createTestDatabase } from './postgres.ts'
import { startSynchronizedClock } from './synchronized-clock.ts'
import { createTokens, deployTokens, type EvmTokens } from './token-payers.ts'

/** A wallet that signs the texts by which people prove that it is theirs. */
export type WalletOwnerSigner = {
  address: string
  network: string
  sign: (message: string) => Promise<string>
}

export type Tenant = {
  name: string
  accountId: string
  key: string
  /** With a key of all scopes. */
  api: ApiClient
  /** Where the merchant is paid; only A and B have proven theirs. */
  payout: { evm: PrivateKeyAccount; solana: Keypair }
  /** Addresses of the wallets that the service signs for. */
  managed: { evm: string; solana: string }
}

type Solana = Awaited<ReturnType<typeof openSolana>>
export type Tenants = Awaited<ReturnType<typeof openTenants>>

const SOL = 1_000_000_000n

/**
 * The service on real chains with a facilitator that anybody may use, two merchants (A and B) who have proven that their payout wallets are
 * theirs, and an account (C) that has proven nothing. Blocks are made only on request: `mine` and `until`.
 */
export async function openTenants(options: { solana?: boolean } = {}) {
  await using stack = new AsyncDisposableStack()
  const evm = stack.use(await startEvm({ slotsInEpoch: 1 }))
  await evm.mine()
  const tokens = await deployTokens(evm)
  const facilitator = { key: generatePrivateKey(), solana: Keypair.generate() }
  const relayer = privateKeyToAccount(facilitator.key)
  const solana = options.solana ? stack.use(await openSolana(facilitator.solana)) : undefined
  const networks = [tokens.network, ...(solana ? [solana.network] : [])]
  const wallets = [relayer.address, ...(solana ? [facilitator.solana.publicKey.toBase58()] : [])]
  const service = stack.use(await startService(stack, networks, wallets))
  const { context } = service

  const operator = await openTenant(service, 'operator')
  const relayers = {
    evm: Buffer.from(facilitator.key.slice(2), 'hex'),
    solana: Uint8Array.from(facilitator.solana.secretKey.subarray(0, 32)),
  }
  await evm.client.setBalance({ address: relayer.address, value: parseEther('100') })
  for (const family of solana ? (['evm', 'solana'] as const) : (['evm'] as const)) {
    await createWallet(
      { ...context, now: context.now() },
      { accountId: operator.accountId, family, name: 'Settlements', secret: relayers[family] },
    )
  }
  const [a, b, c] = [
    await openTenant(service, 'A'),
    await openTenant(service, 'B'),
    await openTenant(service, 'C'),
  ]
  for (const tenant of [a, b, c]) await fundTenant(tenant, { evm, tokens, solana })
  for (const tenant of [a, b]) {
    await ownPayout(tenant, evmSigner(tenant.payout.evm))
    if (solana) await ownPayout(tenant, solanaSigner(tenant.payout.solana))
  }
  const running = stack.move()

  return {
    evm,
    tokens,
    networks,
    service,
    url: service.url,
    operator,
    a,
    b,
    c,
    keyless: new ApiClient(service.url),
    get solana(): Solana {
      if (!solana) throw new Error('This harness was opened without Solana.')
      return solana
    },
    /** Who pays for transactions on Solana that the facilitator settles. */
    feePayer: facilitator.solana.publicKey.toBase58(),
    usdc: tokens.usdc,
    eth: assetOf(tokens.network, 'ETH'),
    /** A payer with ether and USDC. */
    async payer(): Promise<PrivateKeyAccount> {
      const account = await evm.wallet(parseEther('100'))
      await tokens.fund(account.address)
      return account
    },
    /** A further key of a tenant, with fewer scopes. */
    async keyOf(
      tenant: Tenant,
      scopes: readonly Scope[],
    ): Promise<{ id: string; key: string; api: ApiClient }> {
      const made = await createKey(context.db, {
        accountId: tenant.accountId,
        name: 'further',
        scopes,
        plan: 'premium',
        environment: 'test',
      })
      return { ...made, api: new ApiClient(service.url, made.key) }
    },
    balance: (network: string, asset: Asset, owner: string) =>
      balanceOf({ evm, solana }, { network, asset, owner }),
    until: <T>(read: () => Promise<T>, holds: (value: T) => boolean) =>
      untilHolds(evm, read, holds),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const POLL_MS = 100
const DEADLINE_MS = 90_000

/** Makes a block and reads, until it holds; slowly enough for the limits of one key. */
async function untilHolds<T>(
  evm: EvmFixture,
  read: () => Promise<T>,
  holds: (value: T) => boolean,
): Promise<T> {
  const deadline = Date.now() + DEADLINE_MS
  for (;;) {
    await evm.mine()
    const value = await read()
    if (holds(value)) return value
    if (Date.now() > deadline)
      throw new Error(
        `It did not come to this within ${DEADLINE_MS} ms: ${inspect(value, { depth: 5 })}`,
      )
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** Proves to the service that a wallet is the tenant's; what the service answered last. */
export async function provePayout(
  tenant: Pick<Tenant, 'api'>,
  wallet: WalletOwnerSigner,
): Promise<ApiReply> {
  const challenge = await tenant.api.post('/wallets/payout/challenge', {
    walletAddress: wallet.address,
  })
  if (challenge.status !== 200) return challenge
  const signature = await wallet.sign(textAt(challenge.body, 'message'))
  return tenant.api.post('/wallets/payout', {
    challengeId: textAt(challenge.body, 'challengeId'),
    signature,
  })
}

/** The addresses a tenant owns, as the service lists them. */
export async function listPayouts(tenant: Pick<Tenant, 'api'>): Promise<string[]> {
  const { body } = await tenant.api.get('/wallets/payout')
  return listAt(body, 'wallets').map((wallet) => textAt(wallet, 'walletAddress'))
}

export function evmSigner(account: PrivateKeyAccount): WalletOwnerSigner {
  return {
    address: account.address,
    network: 'eip155:31337',
    sign: (message) => account.signMessage({ message }),
  }
}

export function solanaSigner(keypair: Keypair): WalletOwnerSigner {
  const sign = (message: string) =>
    bs58.encode(ed25519.sign(new TextEncoder().encode(message), keypair.secretKey.subarray(0, 32)))
  return {
    address: keypair.publicKey.toBase58(),
    network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
    sign: (message) => Promise.resolve(sign(message)),
  }
}

/** A service without the endpoint is one from before it: tests then fail at what they attack, not here. */
async function ownPayout(tenant: Tenant, wallet: WalletOwnerSigner): Promise<void> {
  const reply = await provePayout(tenant, wallet)
  if (reply.status !== 404) succeed(reply)
}

async function startService(
  stack: AsyncDisposableStack,
  networks: readonly Network[],
  wallets: readonly string[],
): Promise<RunningService> {
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-tenants-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const database = stack.use(await createTestDatabase('postgres', 'service'))
  const config = toConfig({
    PORT: '0',
    NETWORKS: JSON.stringify(networks),
    VAULT_KEY_FILE: join(folder, 'vault.key'),
    FACILITATOR_WALLETS: wallets.join(','),
    FACILITATOR_PUBLIC: 'true',
    TRUSTED_PROXY_HOPS: '1',
    LOG_LEVEL: 'silent',
  })
  return createService({ ...config, database: database.target })
}

/** Accounts are made by the operator, on the machine of the service; wallets over HTTP. */
async function openTenant({ context: { db }, url }: RunningService, name: string): Promise<Tenant> {
  const { id: accountId } = await createAccount(db, { name, plan: 'premium' })
  const { key } = await createKey(db, {
    accountId,
    name,
    scopes: SCOPES,
    plan: 'premium',
    environment: 'test',
  })
  const api = new ApiClient(url, key)
  const make = async (family: string) =>
    textAt(
      succeed(await api.post('/wallets', { family, name: `${name} ${family}` })).body,
      'walletAddress',
    )
  const payout = { evm: privateKeyToAccount(generatePrivateKey()), solana: Keypair.generate() }
  return {
    name,
    accountId,
    key,
    api,
    payout,
    managed: { evm: await make('evm'), solana: await make('solana') },
  }
}

type Chains = { evm: EvmFixture; tokens: EvmTokens; solana: Solana | undefined }

async function fundTenant(
  { payout, managed }: Tenant,
  { evm, tokens, solana }: Chains,
): Promise<void> {
  for (const address of [payout.evm.address, managed.evm as Hex]) {
    await evm.client.setBalance({ address, value: parseEther('100') })
    await tokens.fund(address)
  }
  if (!solana) return
  for (const owner of [payout.solana.publicKey, new PublicKey(managed.solana)])
    await solana.fund(owner)
}

/** Solana with SOL and USDC for payers. */
export async function openSolana(facilitator: Keypair, slotTimeMs = 50) {
  await using stack = new AsyncDisposableStack()
  const fixture = stack.use(await startSolana({ slotTimeMs }))
  const clock = stack.use(await startSynchronizedClock(fixture.rpcUrl))
  const { assets } = await createTokens(fixture, [facilitator.publicKey.toBase58()])
  const fund = async (owner: PublicKey) => {
    await fixture.setAccount(owner.toBase58(), { lamports: 100n * SOL })
    await give(fixture, SOLANA_TOKENS.USDC, { owner, amount: 10n ** 9n })
  }
  const running = stack.move()
  return {
    ...fixture,
    network: { ...fixture.network, assets, rpcUrls: [clock.url] },
    sol: assetOf(fixture.network, 'SOL'),
    fund,
    /** A payer with SOL and USDC. */
    async payer(): Promise<Keypair> {
      const keypair = Keypair.generate()
      await fund(keypair.publicKey)
      return keypair
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** Whose, of what, and on which network. */
export type OwnedAsset = { network: string; asset: Asset; owner: string }

/** What an owner holds of an asset, in atomic units. */
export async function balanceOf(
  { evm, solana }: Pick<Chains, 'evm' | 'solana'>,
  { network, asset, owner }: OwnedAsset,
): Promise<bigint> {
  if (familyOf(network) === 'evm')
    return asset.native
      ? evm.client.getBalance({ address: owner as Hex })
      : balanceOnEvm(evm, asset, owner)
  if (!solana) throw new Error('This harness was opened without Solana.')
  const key = new PublicKey(owner)
  return asset.native
    ? BigInt(await solana.connection.getBalance(key, 'confirmed'))
    : balanceOnSolana(solana, associatedTokenAccount(key))
}

/** @throws Error where the network has no such asset */
export function assetOf({ assets }: Network, symbol: string): Asset {
  const asset = assets.find((each) => each.symbol === symbol)
  if (!asset) throw new Error(`no ${symbol}`)
  return asset
}
