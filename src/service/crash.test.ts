import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair, PublicKey } from '@solana/web3.js'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase, type OpenDatabase } from '#postgres/open.ts'
import { startEvm, startSolana, type EvmFixture, type SolanaFixture } from '#testing/local-chains.ts'
import { createTestDatabase, type TestDatabase } from '#testing/postgres.ts'
import { createTestKey } from '#testing/service-app.ts'
import { startServiceProcess } from '#testing/service-process.ts'
import { eventually } from '#testing/service-context.ts'
import type { CrashPoint } from './crash.ts'
import { readAttempts } from './db/attempts.ts'
import { SERVICE_SCHEMA } from './db/migrations-folder.ts'
import { payment } from './db/schema.ts'
import { createWallet } from './wallets/create-wallet.ts'
import { openFileVault } from './wallets/file-vault.ts'

const SOL = 1_000_000_000n
const ETH = 10n ** 18n

let evm: EvmFixture
let solana: SolanaFixture
let database: TestDatabase
let opened: OpenDatabase
let folder: string
let key: { accountId: string; key: string }
let mining: NodeJS.Timeout

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paydesk-crash-'))
  evm = await startEvm({ slotsInEpoch: 2 })
  await evm.mine()
  mining = setInterval(() => void evm.mine().catch(() => {}), 400)
  solana = await startSolana({ slotTimeMs: 100 })
  database = await createTestDatabase('postgres')
  opened = await openDatabase(database.target, SERVICE_SCHEMA)
  key = await createTestKey(opened.db)
})

afterAll(async () => {
  clearInterval(mining)
  await opened?.[Symbol.asyncDispose]()
  await database?.[Symbol.asyncDispose]()
  await solana?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** `crashAt` lets the service kill itself at a step. */
function start(crashAt?: CrashPoint) {
  return startServiceProcess({
    DATABASE_URL: 'url' in database.target ? database.target.url : '',
    NETWORKS: JSON.stringify([evm.network, solana.network]),
    VAULT_KEY_FILE: join(folder, 'vault.key'),
    ...(crashAt && { CRASH_AT: crashAt }),
  })
}

const chains = {
  evm: {
    amount: ETH / 100n,
    payee: async () => (await evm.wallet(0n)).address as string,
    fund: async (address: string) => evm.client.setBalance({ address: address as `0x${string}`, value: ETH }),
    balance: (address: string) => evm.client.getBalance({ address: address as `0x${string}` }),
  },
  solana: {
    amount: SOL / 100n,
    payee: async () => Keypair.generate().publicKey.toBase58(),
    fund: async (address: string) => solana.setAccount(address, { lamports: SOL }),
    balance: async (address: string) => BigInt(await solana.connection.getBalance(new PublicKey(address))),
  },
}

type Request = { walletAddress: string; recipientAddress: string; idempotencyKey: string }

async function send(url: string, { idempotencyKey, ...addresses }: Request) {
  const response = await fetch(`${url}/payment/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.key}`, 'content-type': 'application/json', 'idempotency-key': idempotencyKey, prefer: 'wait=20' },
    body: JSON.stringify({ ...addresses, amount: 0.01 }),
  })
  return { status: response.status, body: (await response.json()) as { paymentId: string; status: string } }
}

/** The dead process holds the key for some seconds more. */
async function sendWhenFree(url: string, request: Request) {
  return eventually(
    () => send(url, request),
    ({ status }) => status !== 409,
  )
}

const BEFORE: CrashPoint[] = ['send:validated', 'send:simulated', 'send:reserved', 'send:signed']
const AFTER: CrashPoint[] = ['send:persisted', 'send:broadcast', 'send:told']

test.each((['evm', 'solana'] as const).flatMap((family) => [...BEFORE, ...AFTER].map((point) => [family, point] as const)))(
  'a service on %s that dies at %s makes exactly one transfer after its restart',
  { timeout: 90_000 },
  async (family, point) => {
    const { amount, payee, fund, balance } = chains[family]
    const vault = openFileVault(join(folder, 'vault.key'))
    const { address: walletAddress } = await createWallet({ db: opened.db, vault, now: new Date() }, { accountId: key.accountId, family, name: point })
    await fund(walletAddress)
    const request = { walletAddress, recipientAddress: await payee(), idempotencyKey: `${family} ${point}`.replace(' ', '-') }
    const rows = () => opened.db.select().from(payment).where(eq(payment.sender, walletAddress))
    {
      await using dying = await start(point)
      await expect(send(dying.url, request)).rejects.toThrow('fetch failed')
      expect(await dying.ended).toBe('SIGKILL')
    }
    // Before the commit there is nothing; from it on the payment is there, and everything that was signed for it.
    const [kept] = await rows()
    expect(kept !== undefined).toBe(AFTER.includes(point))

    await using service = await start()
    if (kept) {
      await eventually(rows, ([row]) => row?.status === 'confirmed' || row?.status === 'finalized')
    }
    const { status, body } = await sendWhenFree(service.url, request)
    expect([status, ['confirmed', 'finalized'].includes(body.status)]).toEqual([200, true])
    expect((await rows()).map(({ id }) => id)).toEqual([kept?.id ?? body.paymentId])
    expect(body.paymentId).toBe((await rows())[0]?.id)
    expect(await readAttempts(opened.db, body.paymentId)).toHaveLength(1)
    expect(await balance(request.recipientAddress)).toBe(amount)
  },
)
