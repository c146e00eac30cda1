import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { OFFLINE_NETWORKS } from '#testing/fixture.ts'
import { createTestDatabase } from '#testing/postgres.ts'
import { createTestKey, startTestApp } from '#testing/service-app.ts'
import { routes } from '../api/handlers.ts'

type Reply = { status: number; body: Record<string, unknown> & { error?: Record<string, unknown> } }

/** The endpoints of payout wallets, over HTTP. */
async function open() {
  const database = await createTestDatabase('pglite', 'service')
  const { payoutList, payoutChallenge, payoutRegister, payoutRelease } = routes
  const app = await startTestApp({
    target: database.target,
    networks: OFFLINE_NETWORKS,
    routes: { payoutList, payoutChallenge, payoutRegister, payoutRelease },
  })
  onTestFinished(() => app[Symbol.asyncDispose]())
  const owner = await createTestKey(app.context.db)
  async function ask(
    key: string,
    [method, path, body]: readonly [string, string, object?],
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const answer = await new Promise<{ status: number; body: string }>((resolve, reject) => {
      const sent = request(`${app.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
      })
      sent.once('error', reject)
      sent.once(
        'response',
        (response) =>
          void text(response).then(
            (body) => resolve({ status: response.statusCode ?? 0, body }),
            reject,
          ),
      )
      sent.end(body && JSON.stringify(body))
    })
    return { status: answer.status, body: JSON.parse(answer.body) as Reply['body'] }
  }
  const challenge = (key: string, { address }: PrivateKeyAccount, headers = {}) =>
    ask(key, ['POST', '/wallets/payout/challenge', { walletAddress: address }], headers)
  async function register(key: string, wallet: PrivateKeyAccount): Promise<Reply> {
    const { body } = await challenge(key, wallet)
    const signature = await wallet.signMessage({ message: String(body.message) })
    return ask(key, ['POST', '/wallets/payout', { challengeId: body.challengeId, signature }])
  }
  return { app, owner, ask, challenge, register }
}

const newWallet = () => privateKeyToAccount(generatePrivateKey())

test('a wallet is proven, listed and released; another account reads why it cannot have it', async () => {
  const { app, owner, ask, register } = await open()
  const wallet = newWallet()
  expect(await register(owner.key, wallet)).toMatchObject({
    status: 200,
    body: { wallet: { walletAddress: wallet.address, proof: 'signature' } },
  })
  const stranger = await createTestKey(app.context.db)
  expect(await register(stranger.key, wallet)).toMatchObject({
    status: 403,
    body: {
      error: {
        code: 'FORBIDDEN',
        message: expect.stringContaining('must release it first'),
        details: { reason: { code: 'wallet_owned', params: {} } },
      },
    },
  })
  expect((await ask(stranger.key, ['GET', '/wallets/payout'])).body).toEqual({
    success: true,
    wallets: [],
  })
  const path = `/wallets/payout/${wallet.address}`
  expect(await ask(stranger.key, ['DELETE', path])).toMatchObject({ status: 404 })
  expect(await ask(owner.key, ['DELETE', path])).toMatchObject({
    status: 200,
    body: { released: [{ walletAddress: wallet.address }] },
  })
  expect(await ask(owner.key, ['DELETE', path])).toMatchObject({ status: 404 })
  expect(await register(stranger.key, wallet)).toMatchObject({ status: 200 })
})

test('the scope wallets:manage is needed', async () => {
  const { app, ask } = await open()
  const { key } = await createTestKey(app.context.db, {
    scopes: ['payment:send', 'payment:receive', 'payment:read', 'keys:manage'],
  })
  const { address } = newWallet()
  for (const row of [
    ['GET', '/wallets/payout'],
    ['POST', '/wallets/payout/challenge', { walletAddress: address }],
    ['POST', '/wallets/payout', { challengeId: `wch_${'1'.repeat(22)}`, signature: '0x' }],
    ['DELETE', `/wallets/payout/${address}`],
  ] as const)
    expect(await ask(key, row), row[1]).toMatchObject({
      status: 403,
      body: { error: { details: { scope: 'wallets:manage' } } },
    })
})

test('the text names the service, whatever Host the request says', async () => {
  const { app, owner, challenge } = await open()
  const { host, port } = app.context.config
  const { body } = await challenge(owner.key, newWallet(), { host: 'evil.example' })
  expect(body.message).toMatch(
    new RegExp(`^${host}:${port} wants you to sign in with your Ethereum account:`),
  )
  expect(body.message).not.toContain('evil')
  expect(body.message).toContain(`\nURI: http://${host}:${port}\n`)
  Object.assign(app.context.config, { publicUrl: 'https://payments.example.com' })
  expect((await challenge(owner.key, newWallet(), { host: 'evil.example' })).body.message).toMatch(
    /^payments\.example\.com wants you to sign in/,
  )
})

test('bad input is refused by its field, never with a 5xx', async () => {
  const { owner, ask } = await open()
  const id = `wch_${'1'.repeat(22)}`
  const rows: [string, object, string][] = [
    ['/wallets/payout/challenge', {}, 'walletAddress'],
    ['/wallets/payout/challenge', { walletAddress: '0x12' }, 'walletAddress'],
    [
      '/wallets/payout/challenge',
      { walletAddress: newWallet().address, network: 'eip155:1' },
      'network',
    ],
    [
      '/wallets/payout/challenge',
      { walletAddress: newWallet().address, accountId: 'acc_x' },
      'accountId',
    ],
    ['/wallets/payout', { challengeId: "wch_'; drop table", signature: '0x' }, 'challengeId'],
    ['/wallets/payout', { challengeId: `wch_${'\0'.repeat(22)}`, signature: '0x' }, 'challengeId'],
    ['/wallets/payout', { challengeId: id, signature: '' }, 'signature'],
    ['/wallets/payout', { challengeId: id, signature: 'a'.repeat(40_000) }, 'signature'],
    ['/wallets/payout', { challengeId: id, signature: '0x00' }, 'challengeId'],
  ]
  for (const [path, body, field] of rows)
    expect(
      await ask(owner.key, ['POST', path, body]),
      JSON.stringify(body).slice(0, 80),
    ).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_PARAMETERS', details: { [field]: expect.any(String) } } },
    })
  expect(await ask(owner.key, ['DELETE', '/wallets/payout/bob'])).toMatchObject({ status: 400 })
})
