import { afterAll, beforeAll, expect, test } from 'vitest'
import { reasonCodeOf } from '#contract/reasons.ts'
import { apiKeyHint } from '#contract/api-key-body.ts'
import { Fixture } from '#testing/fixture.ts'
import { evmWallet, type BrowserResponse, type TestBrowser } from '#testing/test-browser.ts'

const wallets = { operator: evmWallet(), buyer: evmWallet() }

let fixture: Fixture
let operator: TestBrowser
let buyer: TestBrowser

beforeAll(async () => {
  fixture = await Fixture.open({
    scopes: ['keys:manage', 'payment:read', 'token:read'],
    bff: { operatorWallets: [wallets.operator.address] },
  })
  operator = fixture.browser()
  buyer = fixture.browser()
  await operator.signIn(wallets.operator)
  await buyer.signIn(wallets.buyer)
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

type Key = {
  id: string
  name: string
  key?: string
  hint: string
  status: string
  rotation: { replacedBy: string | null }
  graceEndsAt?: number
}
const body = (answer: BrowserResponse) =>
  answer.json as unknown as Key & { keys: Key[]; totalRequests: number }
const confirm = (name: string) => ({
  'X-Confirm': encodeURIComponent(name),
  'Content-Type': 'application/json',
  'X-Requested-By': 'paydesk',
})

type Terms = { name: string; scopes: string[] }
const createOperation = (terms: Terms) => ({ kind: 'create', terms })
const rotateOperation = (id: string, name: string, graceSeconds: number) => ({
  kind: 'rotate',
  id,
  name,
  scopes: ['payment:read'],
  plan: 'standard',
  expiresAt: null,
  graceSeconds,
})

/** The headers of a request that the owner's wallet has approved. */
const approve = (
  operation: object,
  { who = operator, by = wallets.operator, as = wallets.operator } = {},
): Promise<Record<string, string>> => who.approve(as, operation, by)

const post = async (terms: Terms, headers: Record<string, string>) =>
  operator.post('/api/api-keys', terms, { ...confirm(terms.name), ...headers })

async function create(name: string, scopes = ['payment:read']): Promise<Key> {
  const answer = await post({ name, scopes }, await approve(createOperation({ name, scopes })))
  expect(answer.status, answer.text).toBe(200)
  return body(answer)
}

const keys = async () => body(await operator.get('/api/api-keys')).keys
const remove = (id: string, name: string) =>
  operator.send('DELETE', `/api/api-keys/${id}`, { headers: confirm(name) })

test('people of the account see keys, owners make them, others learn nothing', async () => {
  for (const [method, path, reason] of [
    ['GET', '/api/api-keys', 'viewer_required'],
    ['GET', '/api/usage', 'viewer_required'],
    ['POST', '/api/api-keys', 'owner_required'],
  ] as const) {
    const send = (who: TestBrowser) =>
      method === 'GET'
        ? who.get(path)
        : who.post(path, { name: 'x', scopes: ['payment:read'] }, confirm('x'))
    expect((await send(buyer)).json.error).toMatchObject({
      code: 'FORBIDDEN',
      details: { reason: { code: reason, params: {} } },
    })
    expect((await send(fixture.browser())).status).toBe(401)
  }
})

test('a key is shown once, works at the service, and stands in no log', async () => {
  const made = await create('Käse & Söhne')
  expect(made.key).toMatch(/^pk_live_/)
  const direct = await fetch(`${fixture.service.url}/payments`, {
    headers: { Authorization: `Bearer ${made.key}` },
  })
  expect(direct.status).toBe(200)
  const listed = (await operator.get('/api/api-keys')).text
  expect(listed).toContain(made.id)
  expect(listed).not.toContain(made.key)
  expect(fixture.log.join('')).not.toContain(made.key?.slice(8))
})

test('a repeated request makes no second key and tells none', async () => {
  const terms = { name: 'once', scopes: ['payment:read'] }
  const headers = {
    ...(await approve(createOperation(terms))),
    'Idempotency-Key': 'once-1234567890abcdef',
  }
  const first = await post(terms, headers)
  const again = await post(terms, headers)
  expect([first.status, again.status]).toEqual([200, 403])
  expect(again.json.error.details).toMatchObject({ reason: { code: 'approval_over' } })
  // With a fresh signature it is the same request still, and the service tells no key twice.
  const third = await post(terms, { ...headers, ...(await approve(createOperation(terms))) })
  expect(third.status).toBe(409)
  for (const answer of [again, third]) expect(answer.text).not.toContain(body(first).key)
  expect((await keys()).filter(({ name }) => name === 'once')).toHaveLength(1)
})

test('a stolen session creates no key: an operator wallet signs for exactly these terms, once', async () => {
  const terms = { name: 'stolen', scopes: ['payment:read'] }
  const reasonOf = (answer: BrowserResponse) => [
    answer.status,
    reasonCodeOf(answer.json.error.details),
  ]
  expect(reasonOf(await post(terms, {}))).toEqual([403, 'approval_required'])
  expect(reasonOf(await post(terms, { 'X-Approval': 'apr_1111111111111111 0x00' }))).toEqual([
    403,
    'approval_required',
  ])
  const forged = await approve(createOperation(terms), { by: wallets.buyer })
  expect(reasonOf(await post(terms, forged))).toEqual([403, 'approval_signature'])
  // A refused signature has used its text up.
  expect(reasonOf(await post(terms, forged))).toEqual([403, 'approval_over'])
  const narrow = await approve(createOperation(terms))
  expect(
    reasonOf(await post({ ...terms, scopes: ['payment:read', 'keys:manage'] }, narrow)),
  ).toEqual([403, 'approval_signature'])
  const ofRotation = await approve(rotateOperation('key_1111111111111111111111', 'stolen', 60))
  expect(reasonOf(await post(terms, ofRotation))).toEqual([403, 'approval_signature'])
  const other = fixture.browser()
  await other.signIn(wallets.operator)
  const elsewhere = await approve(createOperation(terms), { who: other })
  expect(reasonOf(await post(terms, elsewhere))).toEqual([403, 'approval_over'])
  expect((await keys()).some(({ name }) => name === 'stolen')).toBe(false)
})

test('an owner requests an approval, for an owner’s wallet of the session', async () => {
  const ask = (who: TestBrowser, signer: string) =>
    who.post('/api/approvals', {
      signer,
      operation: createOperation({ name: 'x', scopes: ['payment:read'] }),
    })
  expect((await ask(buyer, wallets.buyer.address)).json.error).toMatchObject({
    code: 'FORBIDDEN',
    details: { reason: { code: 'owner_required', params: {} } },
  })
  expect((await ask(fixture.browser(), wallets.operator.address)).status).toBe(401)
  for (const signer of [wallets.buyer.address, 'nobody', '']) {
    expect((await ask(operator, signer)).json.error).toMatchObject({
      code: 'FORBIDDEN',
      details: { reason: { code: 'approval_signer', params: {} } },
    })
  }
})

test.each([-9e18, 9e18])(
  'an approval of a key that ends at %d names the field',
  async (expiresAt) => {
    const terms = { name: 'x', scopes: ['payment:read'], expiresAt }
    for (const [operation, field] of [
      [createOperation(terms), 'operation.terms.expiresAt'],
      [{ ...rotateOperation(`key_${'1'.repeat(22)}`, 'x', 60), expiresAt }, 'operation.expiresAt'],
    ] as const) {
      const asked = { signer: wallets.operator.address, operation }
      const answer = await operator.post('/api/approvals', asked)
      expect([answer.status, Object.keys(answer.json.error.details ?? {})]).toEqual([400, [field]])
    }
  },
)

test('what is not confirmed by its name does not happen', async () => {
  const made = await create('confirmed')
  expect(
    (await operator.post('/api/api-keys', { name: 'silent', scopes: ['payment:read'] })).json.error
      .details,
  ).toHaveProperty('X-Confirm')
  expect(
    (await operator.post(`/api/api-keys/${made.id}/rotate`, { graceSeconds: 60 })).status,
  ).toBe(400)
  expect((await remove(made.id, 'another name')).status).toBe(400)
  expect(
    (
      await operator.send('DELETE', `/api/api-keys/${made.id}`, {
        headers: { ...confirm('x'), 'X-Confirm': '%' },
      })
    ).status,
  ).toBe(400)
  expect((await keys()).find(({ id }) => id === made.id)).toMatchObject({
    status: 'active',
    rotation: { replacedBy: null },
  })
  expect((await keys()).some(({ name }) => name === 'silent')).toBe(false)
})

test('a key is rotated with its grace, then deleted', async () => {
  const made = await create('till')
  const path = `/api/api-keys/${made.id}/rotate`
  const silent = await operator.post(path, { graceSeconds: 60 }, confirm('till'))
  expect(silent.json.error.details).toMatchObject({ reason: { code: 'approval_required' } })
  const longer = await approve(rotateOperation(made.id, 'till', 60))
  const refused = await operator.post(
    path,
    { graceSeconds: 86_400 },
    { ...confirm('till'), ...longer },
  )
  expect(refused.json.error.details).toMatchObject({ reason: { code: 'approval_signature' } })
  const rotated = await operator.post(
    path,
    { graceSeconds: 60 },
    { ...confirm('till'), ...(await approve(rotateOperation(made.id, 'till', 60))) },
  )
  expect(rotated.status, rotated.text).toBe(200)
  expect(body(rotated).graceEndsAt).toBeGreaterThan(Date.now())
  expect((await keys()).find(({ id }) => id === made.id)?.rotation.replacedBy).toBe(
    body(rotated).id,
  )
  expect((await remove(body(rotated).id, 'till')).status).toBe(200)
  expect((await keys()).find(({ id }) => id === body(rotated).id)?.status).toBe('deleted')
  expect((await remove('key_1111111111111111111111', 'till')).status).toBe(404)
})

test('a key is replaced by one that may do what the owner read and signed, or not at all', async () => {
  const made = await create('kiosk', ['payment:read', 'token:read'])
  const rotation = {
    ...rotateOperation(made.id, 'kiosk', 60),
    scopes: ['payment:read', 'token:read'],
  }
  const rotate = async (operation: object) =>
    operator.post(
      `/api/api-keys/${made.id}/rotate`,
      { graceSeconds: 60 },
      { ...confirm('kiosk'), ...(await approve(operation)) },
    )
  for (const other of [
    { scopes: ['payment:read'] },
    { scopes: ['payment:read', 'token:read', 'keys:manage'] },
    { plan: 'premium' },
    { expiresAt: Date.now() + 86_400_000 },
  ]) {
    const { error } = (await rotate({ ...rotation, ...other })).json
    expect(reasonCodeOf(error.details), JSON.stringify(other)).toBe('approval_signature')
  }
  const rotated = await rotate(rotation)
  expect(rotated.status, rotated.text).toBe(200)
})

test('the key of the proxy is listed without its hint, and cannot delete itself', async () => {
  const answer = await operator.get('/api/api-keys')
  expect(answer.text).not.toContain(apiKeyHint(fixture.key))
  const own = body(answer).keys.find(({ hint }) => hint === '')
  expect(own).toMatchObject({ name: 'test', status: 'active' })
  for (const response of [
    await remove(own?.id ?? '', 'test'),
    await operator.post(`/api/api-keys/${own?.id}/rotate`, { graceSeconds: 0 }, confirm('test')),
  ]) {
    expect(response.json.error).toMatchObject({
      code: 'FORBIDDEN',
      details: { reason: { code: 'own_key', params: {} } },
    })
  }
})

test('a scope that the proxy lacks is refused as such, not as a server error', async () => {
  const terms = { name: 'spender', scopes: ['payment:send'] }
  const answer = await post(terms, await approve(createOperation(terms)))
  expect(answer.json.error).toMatchObject({
    code: 'FORBIDDEN',
    message: 'A key cannot grant a scope it lacks: payment:send.',
  })
})

test('usage is counted per key', async () => {
  const answer = await operator.get('/api/usage?period=hour')
  expect(answer.status).toBe(200)
  expect(body(answer).totalRequests).toBeGreaterThan(0)
})

test('without keys:manage the proxy says what its operator has to do', async () => {
  await using poor = await Fixture.open({
    scopes: ['payment:read'],
    bff: { operatorWallets: [wallets.operator.address] },
  })
  const browser = poor.browser()
  await browser.signIn(wallets.operator)
  expect((await browser.get('/api/api-keys')).json.error).toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    details: {
      reason: { code: 'scope_missing', params: {} },
      operator: expect.stringContaining('keys:manage'),
    },
  })
})
