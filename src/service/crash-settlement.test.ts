import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase, type OpenDatabase } from '#postgres/open.ts'
import { startEvm, startGate, type EvmFixture } from '#testing/local-chains.ts'
import { balanceOnEvm } from '#testing/local-tokens.ts'
import { createTestDatabase, databaseVariables } from '#testing/postgres.ts'
import { createTestKey } from '#testing/service-app.ts'
import { eventually } from '#testing/service-context.ts'
import { startCrashingService, startServiceProcess } from '#testing/service-process.ts'
import { deployTokens, evmPayer, payInvoice, type EvmTokens } from '#testing/token-payers.ts'
import { SERVICE_SCHEMA } from './db/migrations-folder.ts'
import { payment } from './db/schema/payment.ts'
import { createWallet } from './wallets/create-wallet.ts'
import { createSigner } from '#signer/signer.ts'
import { openFileVault } from '#signer/vaults.ts'

/** Real processes that die while they settle what a payer has signed. */

const AMOUNT = 1_500_000n
const RESOURCE = 'https://shop.example/a'

const stack = new AsyncDisposableStack()
let evm: EvmFixture
let tokens: EvmTokens
let gate: Awaited<ReturnType<typeof startGate>>
let opened: OpenDatabase
let env: Record<string, string>
let key: string

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-crash-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  evm = stack.use(await startEvm({ slotsInEpoch: 2 }))
  tokens = await deployTokens(evm)
  const mining = setInterval(() => void evm.mine().catch(() => {}), 400)
  stack.defer(() => clearInterval(mining))
  gate = stack.use(await startGate(evm.rpcUrl))
  const { target } = stack.use(await createTestDatabase('postgres', 'service'))
  opened = stack.use(await openDatabase(target, SERVICE_SCHEMA))
  const made = await createTestKey(opened.db)
  key = made.key
  const file = join(folder, 'vault.key')
  const wallet = await createWallet(
    {
      db: opened.db,
      signer: createSigner({ vault: openFileVault(file), folder }),
      now: new Date(),
    },
    { accountId: made.accountId, family: 'evm', name: 'Settlements' },
  )
  await evm.client.setBalance({ address: wallet.address as `0x${string}`, value: 10n ** 18n })
  env = {
    ...databaseVariables(target),
    NETWORKS: JSON.stringify([{ ...tokens.network, rpcUrls: [gate.url] }]),
    VAULT_KEY_FILE: file,
    FACILITATOR_WALLETS: wallet.address,
  }
})
afterAll(() => stack.disposeAsync())

async function receive(url: string, body: object) {
  const response = await fetch(`${url}/payment/receive`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return {
    http: response.status,
    ...((await response.json()) as {
      verified?: boolean
      alreadyProcessed?: boolean
      paymentId?: string
    }),
  }
}

test.each([['nothing'], ['eth_sendRawTransaction']])(
  'a service that dies once the settlement is kept, with %s refused by the RPC, settles it once after its restart',
  async (refused) => {
    const [payer, payee] = await Promise.all([evm.wallet(10n ** 18n), evm.wallet(0n)])
    await tokens.fund(payer.address)
    const paymentProof = await payInvoice(evmPayer(evm, payer), {
      scheme: 'exact',
      network: tokens.network.network,
      amount: AMOUNT.toString(),
      asset: tokens.usdc.address,
      payTo: payee.address,
      maxTimeoutSeconds: 600,
      extra: { assetTransferMethod: 'eip3009', name: 'USD Coin', version: '2' },
    })
    const question = {
      walletAddress: payee.address,
      paymentProof,
      expectedAmount: 1.5,
      asset: 'USDC',
      resource: RESOURCE,
    }
    const rows = () => opened.db.select().from(payment).where(eq(payment.sender, payer.address))
    gate.refuse = refused === 'nothing' ? undefined : refused
    {
      await using dying = await startCrashingService(env, 'settle:persisted')
      await expect(receive(dying.url, question)).rejects.toThrow('fetch failed')
      expect(await dying.ended).toBe('SIGKILL')
    }
    gate.refuse = undefined
    expect((await rows()).map(({ status }) => status)).toEqual(['pending'])
    expect(await balanceOnEvm(evm, tokens.usdc, payee.address)).toBe(0n)

    await using service = await startServiceProcess(env)
    // Nobody asks, and it is executed anyway.
    const [settled] = await eventually(
      rows,
      ([row]) => row?.status === 'confirmed' || row?.status === 'finalized',
    )
    // The seller got no answer the first time: this answer lets it serve.
    expect(await receive(service.url, question)).toMatchObject({
      http: 200,
      verified: true,
      alreadyProcessed: false,
      paymentId: settled?.id,
    })
    expect(await receive(service.url, question)).toMatchObject({
      http: 200,
      verified: true,
      alreadyProcessed: true,
      paymentId: settled?.id,
    })
    expect(await rows()).toHaveLength(1)
    expect(await balanceOnEvm(evm, tokens.usdc, payee.address)).toBe(AMOUNT)
  },
)
