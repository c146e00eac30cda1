import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import bs58 from 'bs58'
import { sql } from 'drizzle-orm'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase, type OpenDatabase } from '#postgres/open.ts'
import { createPaymentId } from '#contract/payment.ts'
import { insertTestPayment } from '#testing/service-app.ts'
import { createTestDatabase, type TestDatabase } from '#testing/postgres.ts'
import { SERVICE_SCHEMA } from '../db/migrations-folder.ts'
import { openWalletLedger, stopWallet } from '../db/wallet-ledger.ts'
import type { NewPayment } from '../db/payments.ts'
import { authenticate } from '../keys/authenticate.ts'
import { registerWallet } from '../wallets/ownership.ts'
import { OFFLINE_NETWORKS } from '#testing/fixture.ts'
import { openTestSigner } from '#testing/test-signer.ts'
import { readNetworks, type ServiceEnv } from '../context/config.ts'
import { parseCommandLine, type Command, type CommandLine } from './command-line.ts'
import { findCommand, USAGE } from './run.ts'

/** A command that works on an open database. */
function openCommand(line: CommandLine): Command {
  const command = findCommand(line)
  if ('runClosed' in command) throw new Error(`Expected the database to be closed.`)
  return command
}

const NOW = new Date('2026-01-01T00:00:00Z')
const signer = openTestSigner()
afterAll(() => signer[Symbol.asyncDispose]())

describe('the operator', () => {
  let database: TestDatabase
  let opened: OpenDatabase
  beforeAll(async () => {
    database = await createTestDatabase('postgres', 'service')
    opened = await openDatabase(database.target, SERVICE_SCHEMA)
  })
  afterAll(async () => {
    await opened?.[Symbol.asyncDispose]()
    await database?.[Symbol.asyncDispose]()
  })

  async function admin(...args: string[]): Promise<Record<string, unknown>[]> {
    const line = parseCommandLine(args)
    const { value } = await openCommand(line).run(
      { db: opened.db, signer: async () => signer, now: NOW },
      line.values,
    )
    return (Array.isArray(value) ? value : [value]) as Record<string, unknown>[]
  }

  test('makes, lists and revokes keys; a key is told once and works until it is revoked', async () => {
    const [account] = await admin('account', 'create', '--name', 'Shop', '--plan', 'standard')
    const accountId = String(account?.id)
    const [made] = await admin(
      'key',
      'create',
      '--account',
      accountId,
      '--name',
      'till',
      '--scopes',
      'payment:read,transaction:build',
    )
    const key = String(made?.key)
    expect(key).toMatch(/^pk_live_/)
    expect(await authenticate(opened.db, key, NOW)).toMatchObject({
      accountId,
      plan: 'standard',
      scopes: new Set(['payment:read', 'transaction:build']),
    })
    const listed = await admin('key', 'list', '--account', accountId)
    expect(listed).toEqual([
      expect.objectContaining({
        id: made?.id,
        hint: expect.stringContaining('…'),
        lastUsedAt: NOW,
        revokedAt: null,
      }),
    ])
    expect(JSON.stringify(listed)).not.toContain(key)
    await admin('key', 'revoke', '--key', String(made?.id))
    expect(await authenticate(opened.db, key, NOW)).toBeUndefined()
    await expect(admin('key', 'revoke', '--key', 'key_none')).rejects.toThrow(
      'There is no key key_none.',
    )
  })

  test('makes test keys where every network of the service is a test network, unless told otherwise', async () => {
    const [account] = await admin('account', 'create', '--name', 'Shop', '--plan', 'standard')
    const made = async (env: ServiceEnv, ...args: string[]) => {
      const line = parseCommandLine(['key', 'create', ...args])
      const values = { ...line.values, account: String(account?.id), name: 'x', scopes: 'all' }
      const operator = { db: opened.db, signer: async () => signer, now: NOW }
      const { value } = await openCommand(line).run(
        { ...operator, networks: () => readNetworks(env) },
        values,
      )
      return (value as { key: string }).key.slice(0, 8)
    }
    const [test, live] = OFFLINE_NETWORKS.map((network, index) => ({
      ...network,
      testnet: index === 0,
    }))
    const of = (...networks: unknown[]) => ({ NETWORKS: JSON.stringify(networks) })
    expect(await made(of(test))).toBe('pk_test_')
    expect(await made(of(test, live))).toBe('pk_live_')
    // Beside the database alone nothing is known of the networks.
    expect(await made({})).toBe('pk_live_')
    expect(await made(of(test), '--environment', 'live')).toBe('pk_live_')
    await expect(made({ NETWORKS: '[' })).rejects.toThrow('NETWORKS: ')
    // Nobody asks for them where they decide nothing.
    expect(await made({ NETWORKS: '[' }, '--environment', 'test')).toBe('pk_test_')
  })

  test('cannot give a key more than its account has, nor a scope or a date that does not exist', async () => {
    const [account] = await admin('account', 'create', '--name', 'Shop', '--plan', 'standard')
    const create = (...args: string[]) =>
      admin('key', 'create', '--account', String(account?.id), '--name', 'x', ...args)
    await expect(create('--scopes', 'all', '--plan', 'premium')).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'The plan of this account is standard; its keys cannot have premium.',
    })
    await expect(create('--scopes', 'payment:steal')).rejects.toThrow(
      '--scopes: expected scopes with commas, or all: payment:send, ',
    )
    await expect(create('--scopes', 'all', '--expires', 'soon')).rejects.toThrow(
      '--expires: expected a date such as 2027-01-31, received "soon".',
    )
    await expect(create('--scopes', 'all', '--expires', '2025-12-31')).rejects.toThrow(
      '--expires: expected a date to come.',
    )
    const [made] = await create('--scopes', 'all', '--expires', '2026-01-02')
    expect(
      await authenticate(opened.db, String(made?.key), new Date('2026-01-01T23:59:59Z')),
    ).toBeDefined()
    expect(
      await authenticate(opened.db, String(made?.key), new Date('2026-01-02T00:00:00Z')),
    ).toBeUndefined()
  })

  test('rotates a key with a grace, and says until when the old one is valid', async () => {
    const [account] = await admin('account', 'create', '--name', 'Shop', '--plan', 'standard')
    const [old] = await admin(
      'key',
      'create',
      '--account',
      String(account?.id),
      '--name',
      'till',
      '--scopes',
      'payment:read',
      '--requests-per-minute',
      '7',
    )
    await expect(admin('key', 'rotate', '--key', String(old?.id), '--grace', '61')).rejects.toThrow(
      '--grace: expected seconds, one of 0, 60, 900, 3600, ',
    )
    const [fresh] = await admin('key', 'rotate', '--key', String(old?.id), '--grace', '60')
    expect(fresh).toMatchObject({
      replaces: old?.id,
      graceEndsAt: new Date(NOW.getTime() + 60_000),
    })
    const usable = async (key: unknown, at: number) =>
      await authenticate(opened.db, String(key), new Date(NOW.getTime() + at))
    expect([await usable(old?.key, 59_999), await usable(old?.key, 60_000)]).toEqual([
      expect.objectContaining({ requestsPerMinute: 7 }),
      undefined,
    ])
    expect(await usable(fresh?.key, 60_000)).toMatchObject({
      requestsPerMinute: 7,
      accountId: account?.id,
    })
    const listed = await admin('key', 'list', '--account', String(account?.id))
    expect(listed.map(({ id, replacedBy }) => ({ id, replacedBy }))).toEqual(
      expect.arrayContaining([
        { id: old?.id, replacedBy: fresh?.id },
        { id: fresh?.id, replacedBy: null },
      ]),
    )
  })

  test('lists accounts and plans, and changes what the plan of an account permits', async () => {
    const [account] = await admin('account', 'create', '--name', 'Shop', '--plan', 'premium')
    const [made] = await admin(
      'key',
      'create',
      '--account',
      String(account?.id),
      '--name',
      'till',
      '--scopes',
      'all',
      '--plan',
      'premium',
    )
    await admin(
      'account',
      'plan',
      '--account',
      String(account?.id),
      '--plan',
      'standard',
      '--scopes',
      'payment:read',
    )
    expect(await authenticate(opened.db, String(made?.key), NOW)).toMatchObject({
      plan: 'standard',
      requestsPerMinute: 100,
      scopes: new Set(['payment:read']),
    })
    const listed = (await admin('account', 'list')).find(({ id }) => id === account?.id)
    expect(listed).toMatchObject({
      name: 'Shop',
      plan: 'standard',
      scopes: ['payment:read'],
      validKeys: 1,
    })
    await admin('account', 'plan', '--account', String(account?.id), '--plan', 'premium')
    expect((await authenticate(opened.db, String(made?.key), NOW))?.scopes.size).toBe(7)
    await expect(
      admin('account', 'plan', '--account', 'acc_none', '--plan', 'premium'),
    ).rejects.toThrow('There is no account acc_none.')
    expect(await admin('plan', 'list')).toEqual([
      { plan: 'standard', requestsPerMinute: 100, webSockets: 5, messagesPerSecond: 50 },
      { plan: 'premium', requestsPerMinute: 1000, webSockets: 20, messagesPerSecond: 200 },
    ])
  })

  test('names a wallet that is stopped, and lets it send again', async () => {
    const [account] = await admin('account', 'create', '--name', 'Shop', '--plan', 'standard')
    const [wallet] = await admin(
      'wallet',
      'create',
      '--account',
      String(account?.id),
      '--family',
      'evm',
      '--name',
      'till',
    )
    const sender = String(wallet?.address)
    const listed = () => admin('wallet', 'list', '--account', String(account?.id))
    await expect(admin('wallet', 'resume', '--wallet', sender)).rejects.toThrow(
      '--wallet: expected the address of a wallet that is stopped',
    )
    await openWalletLedger(
      opened.db,
      { network: 'eip155:1', sender },
      { height: 7, blockHash: null, balance: 1n, nonce: 0, received: 1n },
    )
    await stopWallet(opened.db, { network: 'eip155:1', sender }, 'The nonce 0 was used.')
    expect(await listed()).toMatchObject([
      { address: sender, stopped: ['eip155:1: The nonce 0 was used.'] },
    ])
    expect(await admin('wallet', 'resume', '--wallet', sender)).toEqual([
      { address: sender, networks: ['eip155:1'] },
    ])
    expect(await listed()).toMatchObject([{ address: sender, stopped: [] }])

    const resume = () => admin('wallet', 'resume', '--wallet', sender, '--unchecked')
    await expect(resume()).rejects.toThrow('or was not compared with its chain for 30 minutes')
    await opened.db.execute(
      sql`update service.wallet_ledger set checked_at = now() - interval '31 minutes' where address = ${sender}`,
    )
    expect(await resume()).toEqual([{ address: sender, networks: ['eip155:1'] }])
  })

  test('registers the wallets that get paid, lists their owners and releases them', async () => {
    const [account] = await admin('account', 'create', '--name', 'Shop', '--plan', 'standard')
    const [other] = await admin('account', 'create', '--name', 'Other', '--plan', 'standard')
    const [accountId, otherId] = [String(account?.id), String(other?.id)]
    const [evm, solana] = [
      privateKeyToAccount(generatePrivateKey()).address,
      Keypair.generate().publicKey.toBase58(),
    ]
    const owners = async (id: string) =>
      (await admin('wallet', 'owners', '--account', id)).map(({ address, network, proof }) => [
        address,
        network,
        proof,
      ])
    expect(
      await admin(
        'wallet',
        'register',
        '--account',
        accountId,
        '--wallet',
        `${evm.toLowerCase()},${solana}`,
      ),
    ).toHaveLength(2)
    expect(new Set(await owners(accountId))).toEqual(
      new Set([
        [evm, null, 'operator'],
        [solana, null, 'operator'],
      ]),
    )
    const contract = privateKeyToAccount(generatePrivateKey()).address
    await admin(
      'wallet',
      'register',
      '--account',
      otherId,
      '--wallet',
      contract,
      '--network',
      'eip155:8453',
    )
    expect(await owners(otherId)).toEqual([[contract, 'eip155:8453', 'operator']])
    expect((await admin('wallet', 'owners')).length).toBeGreaterThanOrEqual(3)

    // All of them or none: the new one is not registered beside the one that is taken.
    const free = privateKeyToAccount(generatePrivateKey()).address
    await expect(
      admin('wallet', 'register', '--account', otherId, '--wallet', `${free},${evm}`),
    ).rejects.toThrow(
      `The wallet ${evm} belongs to the account ${accountId}, for which the operator registered it. Release it first: npm run admin -- wallet release --wallet ${evm}`,
    )
    expect(await owners(otherId)).toHaveLength(1)
    await admin('wallet', 'release', '--wallet', `${evm},${solana}`)
    expect(await owners(accountId)).toEqual([])
    await admin('wallet', 'register', '--account', otherId, '--wallet', `${free},${evm}`)
    expect(await owners(otherId)).toHaveLength(3)
  })

  test('releases neither a managed wallet nor one that its signature proved, and says what to do', async () => {
    const [account] = await admin('account', 'create', '--name', 'Shop', '--plan', 'standard')
    const accountId = String(account?.id)
    const [managed] = await admin(
      'wallet',
      'create',
      '--account',
      accountId,
      '--family',
      'evm',
      '--name',
      'till',
    )
    await expect(admin('wallet', 'release', '--wallet', String(managed?.address))).rejects.toThrow(
      'is managed: the service holds its key. It cannot be released.',
    )
    const address = privateKeyToAccount(generatePrivateKey()).address
    await registerWallet(
      { db: opened.db, now: NOW },
      { accountId, address, network: null, proof: 'signature' },
    )
    await expect(admin('wallet', 'release', '--wallet', address)).rejects.toThrow(
      `The operator does not override a signature. Release it with a key of the account ${accountId} first: DELETE /wallets/payout/${address}`,
    )
    const nobody = privateKeyToAccount(generatePrivateKey()).address
    await expect(admin('wallet', 'release', '--wallet', nobody)).rejects.toThrow(
      `No wallet ${nobody} is registered.`,
    )
    await expect(
      admin('wallet', 'register', '--account', accountId, '--wallet', '0x12'),
    ).rejects.toThrow('--wallet: expected addresses of wallets, with commas')
    await expect(
      admin(
        'wallet',
        'register',
        '--account',
        accountId,
        '--wallet',
        Keypair.generate().publicKey.toBase58(),
        '--network',
        'eip155:1',
      ),
    ).rejects.toThrow('--network: expected EVM wallets with it.')
    await expect(
      admin('wallet', 'register', '--account', accountId, '--wallet', nobody, '--network', 'base'),
    ).rejects.toThrow('--network: expected the CAIP-2 id')
    await expect(
      admin('wallet', 'register', '--account', 'acc_none', '--wallet', nobody),
    ).rejects.toThrow('There is no account acc_none.')
  })

  test('lists what was confirmed without evidence, with the orders that competed, and what was received for a wallet of another account', async () => {
    const [account] = await admin('account', 'create', '--name', 'Shop', '--plan', 'standard')
    const [other] = await admin('account', 'create', '--name', 'Other', '--plan', 'standard')
    const [accountId, otherId] = [String(account?.id), String(other?.id)]
    const [sender, recipient] = [
      privateKeyToAccount(generatePrivateKey()).address,
      privateKeyToAccount(generatePrivateKey()).address,
    ]
    const at = (minutes: number) => new Date(NOW.getTime() + minutes * 60_000)
    const order = async (row: Partial<NewPayment>) => {
      const id = createPaymentId()
      await insertTestPayment(opened.db, {
        id,
        accountId,
        sender,
        recipient,
        createdAt: NOW,
        updatedAt: NOW,
        ...row,
      })
      return id
    }
    const unproven = await order({
      status: 'finalized',
      evidence: 'unproven',
      signature: '0x1',
      confirmedAt: at(5),
    })
    await order({ status: 'expired' })
    await order({ accountId: otherId, createdAt: at(4) })
    // Built after it landed; another amount; another payer.
    await order({ createdAt: at(6) })
    await order({ amount: 7n })
    await order({ sender: recipient, recipient: sender })
    await order({ status: 'finalized', evidence: 'fingerprint', signature: '0x2' })
    const received = await order({
      accountId: otherId,
      mode: 'received',
      status: 'finalized',
      signature: '0x1',
    })
    await order({ accountId: accountId, mode: 'received', status: 'finalized', signature: '0x1' })
    await registerWallet(
      { db: opened.db, now: NOW },
      { accountId, address: recipient, network: null, proof: 'operator' },
    )
    const [found] = await admin('payment', 'unproven')
    expect(found).toMatchObject({
      orders: [
        { paymentId: unproven, accountId, signature: '0x1', sender, recipient, competing: 3 },
      ],
      receipts: [{ paymentId: received, accountId: otherId, ownerId: accountId }],
    })
    const { text } = await openCommand({ command: 'payment unproven', values: {} }).run(
      { db: opened.db, signer: async () => signer, now: NOW },
      {},
    )
    expect(text).toMatch(new RegExp(`${unproven}.*  3 equal orders\n`))
    expect(text).toMatch(new RegExp(`${received}.*  the wallet belongs to ${accountId}$`))
  })

  test('makes, brings in and lists wallets; a key in any spelling is taken, and never told', async () => {
    const [account] = await admin('account', 'create', '--name', 'Shop', '--plan', 'standard')
    const folder = mkdtempSync(join(tmpdir(), 'paydesk-admin-'))
    const take = (family: string, secret: string) => {
      writeFileSync(join(folder, 'secret'), `${secret}\n`)
      return admin(
        'wallet',
        'import',
        '--account',
        String(account?.id),
        '--family',
        family,
        '--name',
        'till',
        '--secret-file',
        join(folder, 'secret'),
      )
    }
    try {
      const evm = generatePrivateKey()
      const [first, second] = [Keypair.generate(), Keypair.generate()]
      const taken = [
        ...(await take('evm', evm)),
        ...(await take('solana', bs58.encode(first.secretKey))),
        ...(await take('solana', JSON.stringify([...second.secretKey]))),
        ...(await admin(
          'wallet',
          'create',
          '--account',
          String(account?.id),
          '--family',
          'evm',
          '--name',
          'new',
        )),
      ]
      expect(taken.slice(0, 3).map(({ address }) => address)).toEqual([
        privateKeyToAccount(evm).address,
        first.publicKey.toBase58(),
        second.publicKey.toBase58(),
      ])
      const listed = await admin('wallet', 'list', '--account', String(account?.id))
      expect(listed).toEqual(
        taken
          .map((wallet): Record<string, unknown> => ({
            ...wallet,
            accountId: account?.id,
            stopped: [],
          }))
          .sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1)),
      )
      expect(JSON.stringify([taken, listed])).not.toContain(evm.slice(2))
      await expect(take('evm', evm)).rejects.toThrow('is managed already')
      await expect(take('solana', evm)).rejects.toThrow(
        /^--secret-file: expected the private key of a wallet on solana/,
      )
      await expect(
        take(
          'solana',
          bs58.encode([...first.secretKey.slice(0, 32), ...second.publicKey.toBytes()]),
        ),
      ).rejects.toThrow('--secret-file: expected')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

test.each([
  [['key', 'create', '--nme', 'x'], /Unknown option '--nme'/],
  [['key', 'list', '--plan', 'standard'], /^key list takes no --plan\. It takes --account\.$/],
  [[], /^A command is missing\. Expected one of: account create, /],
])('the line %j is refused with a sentence', (args, message) => {
  expect(() => findCommand(parseCommandLine(args))).toThrow(message)
})

test('the help names every command, with every option it takes', () => {
  const names =
    /Expected one of: (.*)\.$/
      .exec(messageOf(() => findCommand(parseCommandLine([]))))?.[1]
      ?.split(', ') ?? []
  expect(names.length).toBeGreaterThan(8)
  const synopsis = USAGE.slice(0, USAGE.indexOf('\nOptions'))
  for (const name of names) {
    const { options } = findCommand({ command: name, values: {} })
    const [, own = ''] =
      new RegExp(`\\n  ${name.replace(' ', ' +')}(?![a-z])((?:.|\\n {10})*)`).exec(synopsis) ?? []
    for (const option of options) expect(own, name).toContain(`--${option}`)
  }
})

function messageOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return ''
}
