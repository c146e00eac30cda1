import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { openFileVault } from '#signer/vaults.ts'
import { Fixture, ORIGIN } from '#testing/fixture.ts'
import { databaseVariables } from '#testing/postgres.ts'
import { evmWallet } from '#testing/test-browser.ts'
import { fileSale } from '../db/schema.ts'

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))
const PAGE = `${ORIGIN}/file`
const PUBLIC_URL = 'https://files.example'

test('a source key that is missing or another one is never replaced before the operator says that it is lost', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-sk-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const fileOf = (name: string) => join(folder, name, 'source.key')
  const filesWith = (name: string, lostKeys: string[] = []) => ({
    files: { publicUrl: PUBLIC_URL, keyFile: fileOf(name), lostKeys, maxBytes: 9, loopback: true },
  })
  const source = createServer((request, response) =>
    response.writeHead(request.headers['x-key'] === 'known' ? 200 : 403).end('the file'),
  )
  source.listen(0, '127.0.0.1')
  await once(source, 'listening')
  onTestFinished(() => void source.close())
  const url = `http://127.0.0.1:${(source.address() as AddressInfo).port}/guide`

  const seller = evmWallet()
  const wallets = { sellerWallets: [seller.address], operatorWallets: [seller.address] }
  await using fixture = await Fixture.open({ bff: { ...wallets, ...filesWith('first') } })
  let shop = fixture.browser()
  await shop.signIn(seller)
  const create = () =>
    shop.post('/api/files', {
      name: 'The guide',
      prices: [{ currency: 'ETH', amount: '0.01' }],
      source: { kind: 'https', url, credential: { type: 'header', name: 'X-Key', value: 'known' } },
      page: PAGE,
    })
  const restart = async (...files: Parameters<typeof filesWith>) => {
    fixture.log.length = 0
    await fixture.startBff(filesWith(...files))
    shop = fixture.browser()
    await shop.signIn(seller)
  }
  expect(existsSync(fileOf('first'))).toBe(true)
  expect((await create()).status).toBe(200)
  const { keyId } = openFileVault(fileOf('first'))
  const { keyId: otherId } = openFileVault(fileOf('other'))
  const target = fixture.bff.context.config.database
  await fixture.stopBff()
  for (const [name, found] of [
    ['missing', `found no file at ${fileOf('missing')}`],
    ['other', `found the key ${otherId} at ${fileOf('other')}`],
  ] as const)
    await expect(fixture.startBff(filesWith(name))).rejects.toMatchObject({
      name: 'SignerConfigError',
      message: expect.stringMatching(
        new RegExp(
          `^SOURCE_KEY_FILE: expected the key ${keyId}, .*; ${found}. Set SOURCE_KEY_FILE`,
        ),
      ),
    })
  expect(existsSync(fileOf('missing'))).toBe(false)

  // The operator is told in a sentence, without a stack.
  const program = spawn(process.execPath, [MAIN], {
    env: {
      ...databaseVariables(target),
      PORT: '0',
      NETWORKS: JSON.stringify(fixture.networks),
      SERVICE_URL: fixture.service.url,
      SERVICE_API_KEY: fixture.key,
      ALLOWED_ORIGINS: ORIGIN,
      SELLER_WALLETS: seller.address,
      PUBLIC_URL,
      SOURCE_KEY_FILE: fileOf('missing'),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void program.kill('SIGKILL'))
  let said = ''
  program.stderr.on('data', (text: Buffer) => (said += String(text)))
  const [code] = (await once(program, 'exit')) as [number | null]
  expect([code, said.trim().split('\n')]).toEqual([
    1,
    [expect.stringMatching(/^SOURCE_KEY_FILE: /)],
  ])

  // A proxy that was started with another key before anything was sealed seals nothing.
  await restart('first')
  const rows = () => fixture.bff.context.db.select().from(fileSale)
  const [{ credential } = { credential: null }] = await rows()
  await fixture.bff.context.db.update(fileSale).set({ credential: null })
  await fixture.stopBff()
  await restart('other')
  await fixture.bff.context.db.update(fileSale).set({ credential })
  const refused = await create()
  expect([refused.status, refused.text]).toEqual([
    503,
    expect.stringContaining('Nothing was stored.'),
  ])
  expect(await rows()).toHaveLength(1)
  await fixture.stopBff()

  // The key is lost with all copies.
  await restart('missing', [keyId])
  expect(fixture.log.join('\n')).toContain(`"vaultKeyIds":["${keyId}"]`)
  const { keyId: newId } = openFileVault(fileOf('missing'))
  expect((await create()).status).toBe(200)
  const sealing = (await rows()).map((row) => row.credential?.vaultKeyId)
  expect(new Set(sealing)).toEqual(new Set([keyId, newId]))
  await fixture.stopBff()

  // With both keys in use the newer one is enough, and the older one is named.
  await restart('missing')
  expect(fixture.log.join('\n')).toContain(`"vaultKeyIds":["${keyId}"]`)
})
