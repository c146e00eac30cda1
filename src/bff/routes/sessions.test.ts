import { afterAll, beforeAll, expect, test } from 'vitest'
import { Fixture } from '#testing/fixture.ts'
import { evmWallet } from '#testing/test-browser.ts'

let fixture: Fixture
const owner = evmWallet()
const other = evmWallet()

beforeAll(async () => {
  fixture = await Fixture.open({})
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

test('the owner of a wallet sees where it is signed in and ends the other places, and nobody else’s', async () => {
  const [here, there, stranger] = [fixture.browser(), fixture.browser(), fixture.browser()]
  await here.signIn(owner)
  await there.signIn(owner)
  await there.signIn(other)
  await stranger.signIn(evmWallet())

  const list = await here.get('/api/sessions')
  expect(list.status).toBe(200)
  expect(list.json.sessions).toHaveLength(2)
  expect(list.json.sessions).toContainEqual(
    expect.objectContaining({ current: true, wallets: [owner.address] }),
  )
  expect(list.json.sessions).toContainEqual(
    expect.objectContaining({
      current: false,
      wallets: expect.arrayContaining([owner.address, other.address]),
    }),
  )
  for (const entry of list.json.sessions) {
    expect(Object.keys(entry).toSorted()).toEqual([
      'createdAt',
      'current',
      'expiresAt',
      'lastUsedAt',
      'wallets',
    ])
    expect(Math.abs(entry.lastUsedAt - entry.createdAt)).toBeLessThan(60_000)
  }

  expect((await here.post('/api/sessions/end-others', {})).json).toEqual({ ended: 1 })
  expect((await there.get('/api/session')).json).toEqual({ session: null })
  expect((await here.get('/api/session')).json.session.wallets).toEqual([owner.address])
  expect((await stranger.get('/api/session')).json.session).not.toBeNull()
  expect((await here.post('/api/sessions/end-others', {})).json).toEqual({ ended: 0 })
})

test('without a proven wallet there is nothing to list or to end', async () => {
  expect((await fixture.browser().get('/api/sessions')).status).toBe(401)
  expect((await fixture.browser().post('/api/sessions/end-others', {})).status).toBe(401)
})
