import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiKeyHint } from '#contract/api-key.ts'
import { Desk } from '#testing/desk.ts'
import { evmWallet, type Answer, type Browser } from '#testing/desk-browser.ts'

const wallets = { operator: evmWallet(), buyer: evmWallet() }

let desk: Desk
let operator: Browser
let buyer: Browser

beforeAll(async () => {
  desk = await Desk.open({ scopes: ['keys:manage', 'payment:read', 'token:read'], bff: { operatorWallets: [wallets.operator.address] } })
  operator = desk.browser()
  buyer = desk.browser()
  await operator.signIn(wallets.operator)
  await buyer.signIn(wallets.buyer)
})
afterAll(() => desk?.[Symbol.asyncDispose]())

type Key = { id: string; name: string; key?: string; hint: string; status: string; rotation: { replacedBy: string | null }; graceEndsAt?: number }
const body = (answer: Answer) => answer.json as unknown as Key & { keys: Key[]; totalRequests: number }
const confirm = (name: string) => ({ 'X-Confirm': encodeURIComponent(name), 'Content-Type': 'application/json', 'X-Requested-By': 'paydesk' })

async function create(name: string, scopes = ['payment:read']): Promise<Key> {
  const answer = await operator.post('/api/api-keys', { name, scopes }, confirm(name))
  expect(answer.status, answer.text).toBe(200)
  return body(answer)
}

const keys = async () => body(await operator.get('/api/api-keys')).keys
const remove = (id: string, name: string) => operator.send('DELETE', `/api/api-keys/${id}`, { headers: confirm(name) })

test('only the operator manages keys, and nobody without a session', async () => {
  for (const [method, path] of [
    ['GET', '/api/api-keys'],
    ['GET', '/api/usage'],
    ['POST', '/api/api-keys'],
  ] as const) {
    const send = (who: Browser) => (method === 'GET' ? who.get(path) : who.post(path, { name: 'x', scopes: ['payment:read'] }, confirm('x')))
    expect((await send(buyer)).json.error).toMatchObject({ code: 'FORBIDDEN', details: { reason: 'operator_required' } })
    expect((await send(desk.browser())).status).toBe(401)
  }
})

test('a key is shown once, works at the service, and stands in no log', async () => {
  const made = await create('Käse & Söhne')
  expect(made.key).toMatch(/^pk_live_/)
  const direct = await fetch(`${desk.service.url}/payments`, { headers: { Authorization: `Bearer ${made.key}` } })
  expect(direct.status).toBe(200)
  const listed = (await operator.get('/api/api-keys')).text
  expect(listed).toContain(made.id)
  expect(listed).not.toContain(made.key)
  expect(desk.log.join('')).not.toContain(made.key?.slice(8))
})

test('a repeated request makes no second key and tells none', async () => {
  const headers = { ...confirm('once'), 'Idempotency-Key': 'once-1234567890abcdef' }
  const first = await operator.post('/api/api-keys', { name: 'once', scopes: ['payment:read'] }, headers)
  const again = await operator.post('/api/api-keys', { name: 'once', scopes: ['payment:read'] }, headers)
  expect([first.status, again.status]).toEqual([200, 409])
  expect(again.text).not.toContain(body(first).key)
  expect((await keys()).filter(({ name }) => name === 'once')).toHaveLength(1)
})

test('what is not confirmed by its name does not happen', async () => {
  const made = await create('confirmed')
  expect((await operator.post('/api/api-keys', { name: 'silent', scopes: ['payment:read'] })).json.error.details).toHaveProperty('X-Confirm')
  expect((await operator.post(`/api/api-keys/${made.id}/rotate`, { graceSeconds: 60 })).status).toBe(400)
  expect((await remove(made.id, 'another name')).status).toBe(400)
  expect((await operator.send('DELETE', `/api/api-keys/${made.id}`, { headers: { ...confirm('x'), 'X-Confirm': '%' } })).status).toBe(400)
  expect((await keys()).find(({ id }) => id === made.id)).toMatchObject({ status: 'active', rotation: { replacedBy: null } })
  expect((await keys()).some(({ name }) => name === 'silent')).toBe(false)
})

test('a key is rotated with its grace, then deleted', async () => {
  const made = await create('till')
  const rotated = await operator.post(`/api/api-keys/${made.id}/rotate`, { graceSeconds: 60 }, confirm('till'))
  expect(rotated.status, rotated.text).toBe(200)
  expect(body(rotated).graceEndsAt).toBeGreaterThan(Date.now())
  expect((await keys()).find(({ id }) => id === made.id)?.rotation.replacedBy).toBe(body(rotated).id)
  expect((await remove(body(rotated).id, 'till')).status).toBe(200)
  expect((await keys()).find(({ id }) => id === body(rotated).id)?.status).toBe('deleted')
  expect((await remove('key_1111111111111111111111', 'till')).status).toBe(404)
})

test("the desk's own key is in the list without its hint, and cannot end itself", async () => {
  const answer = await operator.get('/api/api-keys')
  expect(answer.text).not.toContain(apiKeyHint(desk.key))
  const own = body(answer).keys.find(({ hint }) => hint === '')
  expect(own).toMatchObject({ name: 'test', status: 'active' })
  for (const response of [await remove(own?.id ?? '', 'test'), await operator.post(`/api/api-keys/${own?.id}/rotate`, { graceSeconds: 0 }, confirm('test'))]) {
    expect(response.json.error).toMatchObject({ code: 'FORBIDDEN', details: { reason: 'own_key' } })
  }
})

test('a scope the desk has not got is refused in words, not as a broken desk', async () => {
  const answer = await operator.post('/api/api-keys', { name: 'spender', scopes: ['payment:send'] }, confirm('spender'))
  expect(answer.json.error).toMatchObject({ code: 'FORBIDDEN', message: 'A key cannot grant a scope it lacks: payment:send.' })
})

test('usage is counted per key', async () => {
  const answer = await operator.get('/api/usage?period=hour')
  expect(answer.status).toBe(200)
  expect(body(answer).totalRequests).toBeGreaterThan(0)
})

test('without keys:manage the desk says what its operator has to do', async () => {
  await using poor = await Desk.open({ scopes: ['payment:read'], bff: { operatorWallets: [wallets.operator.address] } })
  const browser = poor.browser()
  await browser.signIn(wallets.operator)
  expect((await browser.get('/api/api-keys')).json.error).toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    details: { reason: 'scope_missing', operator: expect.stringContaining('keys:manage') },
  })
})
