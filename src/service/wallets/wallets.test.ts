import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { expect, onTestFinished, test } from 'vitest'
import { testSigner } from '#testing/test-signer.ts'
import { createTestDatabase } from '#testing/postgres.ts'
import { createTestKey, startTestApp } from '#testing/service-app.ts'
import { wallet } from '../db/schema/wallet.ts'
import { webhookEndpoint } from '../db/schema/webhook.ts'
import { findWallet, readWallets } from '../db/wallet-ledger.ts'
import { routes } from '../api/handlers.ts'
import { openSigner } from '#signer/client.ts'
import type { Signer } from '#signer/protocol.ts'
import { addressOf } from '#signer/signatures.ts'
import { unseal } from '#signer/seal.ts'
import { createVault, openFileVault } from '#signer/vaults.ts'
import { createWallet } from './create-wallet.ts'
import { checkVaultKey, prepareVaultKey } from './vault-key.ts'

async function open() {
  const database = await createTestDatabase('pglite', 'service')
  const lines: string[] = []
  const app = await startTestApp({
    target: database.target,
    routes: { walletList: routes.walletList, walletCreate: routes.walletCreate },
    log: { write: (line) => void lines.push(line) },
  })
  onTestFinished(() => app[Symbol.asyncDispose]())
  const owner = await createTestKey(app.context.db)
  const ask = async (key: string, body?: object) => {
    const response = await fetch(`${app.url}/wallets`, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${key}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return { app, owner, ask, lines }
}

test('a wallet is made on each chain, signs for its address, and its key is neither told nor logged', async () => {
  const { app, owner, ask, lines } = await open()
  const told: unknown[] = []
  for (const family of ['evm', 'solana'] as const) {
    const { status, body } = await ask(owner.key, { family, name: ' Payouts ' })
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        walletId: expect.stringMatching(/^wal_/),
        walletAddress: expect.any(String),
        family,
        name: 'Payouts',
        timestamp: expect.any(Number),
        stopped: [],
      },
    ])
    told.push(body)
  }
  const { body } = await ask(owner.key)
  told.push(body)
  expect(body).toEqual({
    success: true,
    wallets: told
      .slice(0, 2)
      .map((wallet) =>
        expect.objectContaining({ walletId: (wallet as { walletId: string }).walletId }),
      ),
  })
  const rows = await readWallets(app.context.db, owner.accountId)
  expect(rows).toHaveLength(2)
  for (const row of rows) {
    const secret = await testSigner(app.context).secretOf(row)
    expect(addressOf(row.family, secret)).toBe(row.address)
    const hex = Buffer.from(secret).toString('hex')
    expect(JSON.stringify([told, lines, row])).not.toContain(hex)
    expect(JSON.stringify([told, lines, row])).not.toContain(Buffer.from(secret).toString('base64'))
  }
})

test('a key brought in over HTTP is refused, and its text is not repeated', async () => {
  const { owner, ask, lines } = await open()
  const privateKey = `0x${randomBytes(32).toString('hex')}`
  const { status, body } = await ask(owner.key, { family: 'evm', name: 'x', privateKey })
  expect([status, body]).toMatchObject([
    400,
    {
      error: {
        code: 'INVALID_PARAMETERS',
        details: { privateKey: expect.stringContaining('Unknown field') },
      },
    },
  ])
  expect(JSON.stringify([body, lines])).not.toContain(privateKey.slice(2))
})

test('the scope wallets:manage is needed, and an account sees its own wallets only', async () => {
  const { app, owner, ask } = await open()
  await ask(owner.key, { family: 'evm', name: 'mine' })
  const reader = await createTestKey(app.context.db, { scopes: ['payment:send', 'payment:read'] })
  for (const body of [undefined, { family: 'evm', name: 'x' }]) {
    expect(await ask(reader.key, body)).toMatchObject({
      status: 403,
      body: { error: { details: { scope: 'wallets:manage' } } },
    })
  }
  const stranger = await createTestKey(app.context.db)
  expect((await ask(stranger.key)).body).toEqual({ success: true, wallets: [] })
  const [mine] = await readWallets(app.context.db, owner.accountId)
  expect(
    await findWallet(app.context.db, {
      accountId: stranger.accountId,
      address: mine?.address ?? '',
    }),
  ).toBeUndefined()
})

test('a sealed secret opens in its own row, under its own vault key, and unchanged only', async () => {
  const { app, owner } = await open()
  const { db, signer } = app.context
  const { vault } = testSigner(app.context)
  const now = new Date()
  const make = () =>
    createWallet({ db, signer, now }, { accountId: owner.accountId, family: 'evm', name: 'x' })
  const [first, second] = [await make(), await make()]
  const read = async (id: string) => {
    const [row] = await db.select().from(wallet).where(eq(wallet.id, id))
    if (!row) throw new Error('no wallet')
    return row
  }
  const [one, two] = [await read(first.id), await read(second.id)]
  expect(addressOf('evm', await unseal(vault, one, one))).toBe(one.address)
  await expect(unseal(vault, one, two)).rejects.toThrow('unable to authenticate')
  await expect(unseal(vault, { ...one, address: two.address }, one)).rejects.toThrow(
    'unable to authenticate',
  )
  await expect(unseal(vault, one, { ...one, wrappedKey: two.wrappedKey })).rejects.toThrow(
    'unable to authenticate',
  )
  const flipped = Buffer.from(one.sealedSecret, 'base64')
  flipped.writeUInt8((flipped.at(-1) ?? 0) ^ 1, flipped.length - 1)
  await expect(
    unseal(vault, one, { ...one, sealedSecret: flipped.toString('base64') }),
  ).rejects.toThrow('unable to authenticate')
  await expect(unseal(createVault(randomBytes(32)), one, one)).rejects.toThrow(
    /sealed under the vault key .* VAULT_KEY_FILE/,
  )
})

test('a vault key that is missing or another one is never replaced before the operator says that it is lost', async () => {
  const { app, owner } = await open()
  const { db } = app.context
  const folder = mkdtempSync(join(tmpdir(), 'pd-vk-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const signerOf = async (name: string) => {
    const file = join(folder, name, 'vault.key')
    const signer = await openSigner({ env: { VAULT_KEY_FILE: file } })
    onTestFinished(() => signer[Symbol.asyncDispose]())
    return { file, signer }
  }
  const make = ({ signer }: { signer: Signer }, lostKeys?: string[]) =>
    createWallet(
      { db, signer, lostKeys, now: new Date() },
      { accountId: owner.accountId, family: 'evm', name: 'x' },
    )
  const first = await signerOf('first')
  expect(existsSync(first.file)).toBe(false)
  await make(first)
  const { keyId } = await first.signer.vaultKey({ make: false })
  if (keyId === null) throw new Error('no key')
  await checkVaultKey({ db, signer: first.signer })

  const missing = await signerOf('missing')
  const wrong = join(folder, 'other', 'vault.key')
  const { keyId: otherId } = openFileVault(wrong)
  const other = await signerOf('other')
  for (const [signer, found] of [
    [missing, `found no key at ${missing.file}`],
    [other, `found the key ${otherId} at ${wrong}`],
  ] as const) {
    const sentence = expect.objectContaining({
      name: 'SignerConfigError',
      message: expect.stringMatching(
        new RegExp(`^VAULT_KEY_FILE: expected the key ${keyId}, .*; ${found}. Set VAULT_KEY_FILE`),
      ),
    })
    await expect(make(signer)).rejects.toEqual(sentence)
    await expect(prepareVaultKey({ db, signer: signer.signer })).rejects.toEqual(sentence)
    await expect(checkVaultKey({ db, signer: signer.signer })).rejects.toEqual(sentence)
  }
  expect(existsSync(missing.file)).toBe(false)
  expect(await readWallets(db, owner.accountId)).toHaveLength(1)

  await make(missing, [keyId])
  expect(await prepareVaultKey({ db, signer: missing.signer })).toEqual([keyId])
  // Secrets of webhooks count as well.
  await db.insert(webhookEndpoint).values({
    id: 'whk_1',
    accountId: owner.accountId,
    url: 'https://shop.example',
    events: [],
    secrets: [
      {
        id: 'whs_1',
        vaultKeyId: 'third',
        wrappedKey: 'AA==',
        sealedSecret: 'AA==',
        expiresAt: null,
      },
    ],
    cursor: 0n,
  })
  expect(await prepareVaultKey({ db, signer: missing.signer })).toEqual([keyId, 'third'].toSorted())
})

test('the key file is made once, for its owner alone, and one that others may read is refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-vault-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'data', 'vault.key')
  const first = openFileVault(file)
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
  const text = readFileSync(file, 'utf8')
  const second = openFileVault(file)
  expect([second.keyId, readFileSync(file, 'utf8')]).toEqual([first.keyId, text])
  expect(first.keyId).not.toContain(text.slice(0, 8))
  const dataKey = randomBytes(32)
  expect(Buffer.from(await second.unwrap(await first.wrap(dataKey, 'a'), 'a'))).toEqual(dataKey)
  await expect(second.unwrap(await first.wrap(dataKey, 'a'), 'b')).rejects.toThrow(
    'unable to authenticate',
  )
  chmodSync(file, 0o640)
  expect(() => openFileVault(file)).toThrow(
    /^VAULT_KEY_FILE: expected a file that only its owner may read/,
  )
  writeFileSync(join(folder, 'short'), 'abc', { mode: 0o600 })
  expect(() => openFileVault(join(folder, 'short'))).toThrow(
    'VAULT_KEY_FILE: expected 64 hex digits',
  )
  expect(() => openFileVault(join(file, 'vault.key'))).toThrow(
    'VAULT_KEY_FILE: expected a file that can be read or made',
  )
})
