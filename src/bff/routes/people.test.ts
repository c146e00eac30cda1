import { request } from 'node:http'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  acceptInvitation,
  changeRole,
  findInvitation,
  findRole,
  removeRole,
} from '#bff/db/people.ts'
import { hashCookieValue } from '#bff/session/random.ts'
import { reasonCodeOf } from '#contract/reasons.ts'
import type { AuditEntry, People } from '#contract/people-endpoints.ts'
import type { Role } from '#contract/role.ts'
import { Fixture } from '#testing/fixture.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import {
  evmWallet,
  type BrowserResponse,
  type TestBrowser,
  type TestWallet,
} from '#testing/test-browser.ts'

const DAY_MS = 86_400_000

let fixture: Fixture
let owner: { wallet: TestWallet; browser: TestBrowser }
let clock = Date.now()

beforeAll(async () => {
  const wallet = evmWallet()
  fixture = await Fixture.open({
    bff: { operatorWallets: [wallet.address] },
    overrides: { now: () => new Date(clock) },
  })
  owner = { wallet, browser: fixture.browser() }
})
afterAll(() => fixture?.[Symbol.asyncDispose]())
beforeEach(async () => {
  // What one address may ask in a minute is not what is tried.
  clock += 61_000
  await asOwner('truncate bff.wallet_role, bff.invitation, bff.audit_entry')
  await owner.browser.signIn(owner.wallet)
})

/** What the proxy never does to its tables. */
const asOwner = (statement: string) => {
  const { config, db } = fixture.bff.context
  return executeAsOwner({ target: config.database, db }, statement)
}

const reasonOf = ({ status, json }: BrowserResponse) => [status, reasonCodeOf(json.error?.details)]
const peopleIn = ({ json }: BrowserResponse) => json as unknown as People
const roleIn = async (browser: TestBrowser) => (await browser.get('/api/session')).json.session.role

async function invite(role: Role, { wallet, browser } = owner): Promise<string> {
  const answer = await browser.post(
    '/api/people/invite',
    { role },
    await browser.approve(wallet, { kind: 'invite', role }),
  )
  expect(answer.status, answer.text).toBe(200)
  return (answer.json as unknown as { code: string }).code
}

const join = ({ wallet, browser }: Person, code: string) =>
  browser.post('/api/people/join', { code, walletAddress: wallet.address })

type Person = typeof owner

async function signedIn(): Promise<Person> {
  const person = { wallet: evmWallet(), browser: fixture.browser() }
  await person.browser.signIn(person.wallet)
  return person
}

async function joined(role: Role): Promise<Person> {
  const person = await signedIn()
  const answer = await join(person, await invite(role))
  expect(answer.status, answer.text).toBe(200)
  return person
}

async function log(before?: string): Promise<AuditEntry[]> {
  const answer = await owner.browser.post('/api/audit-log/read', { ...(before && { before }) })
  expect(answer.status, answer.text).toBe(200)
  return (answer.json as unknown as { entries: AuditEntry[] }).entries
}

test('an invitation gives its role once, to a wallet that is signed in', async () => {
  const code = await invite('operator')
  const stranger = await signedIn()
  expect(reasonOf(await join({ ...stranger, browser: fixture.browser() }, code))).toEqual([
    401,
    'sign_in_required',
  ])
  const other = await stranger.browser.post('/api/people/join', {
    code,
    walletAddress: evmWallet().address,
  })
  expect(other.status).toBe(400)
  expect((await join(stranger, code)).json).toMatchObject({ role: 'operator' })
  expect(await roleIn(stranger.browser)).toBe('operator')
  expect(reasonOf(await join(await signedIn(), code))).toEqual([403, 'invitation_over'])
  expect(peopleIn(await owner.browser.get('/api/people'))).toMatchObject({
    people: [
      { wallet: owner.wallet.address, role: 'owner', configured: true, givenBy: null },
      {
        wallet: stranger.wallet.address,
        role: 'operator',
        configured: false,
        givenBy: owner.wallet.address,
        givenAt: clock,
      },
    ],
    invitations: [],
  })
})

test('an invitation says whose it is and what it gives to who has its link, and nothing once it is over', async () => {
  const code = await invite('viewer')
  const stranger = fixture.browser()
  const read = () => stranger.post('/api/people/invitation/read', { code })
  const expiresAt = clock + 7 * 24 * 3_600_000
  expect((await read()).json).toEqual({
    role: 'viewer',
    createdBy: owner.wallet.address,
    expiresAt,
  })
  const wrong = await stranger.post('/api/people/invitation/read', { code: 'a'.repeat(43) })
  expect(reasonOf(wrong)).toEqual([403, 'invitation_over'])
  expect((await join(await signedIn(), code)).status).toBe(200)
  expect(reasonOf(await read())).toEqual([403, 'invitation_over'])
})

test('of ten who use one invitation at the same time, one gets the role', async () => {
  const code = await invite('viewer')
  const people = await Promise.all(Array.from({ length: 10 }, signedIn))
  const answers = await Promise.all(people.map((person) => join(person, code)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  const roles = await Promise.all(people.map(({ browser }) => roleIn(browser)))
  expect(roles.filter((role) => role === 'viewer')).toHaveLength(1)
  expect((await log()).filter(({ action }) => action === 'peopleJoin')).toHaveLength(1)
})

test('an invitation ends after seven days, and when an owner withdraws it', async () => {
  const [late, withdrawn] = [await invite('viewer'), await invite('viewer')]
  const { invitations } = peopleIn(await owner.browser.get('/api/people'))
  expect(invitations).toHaveLength(2)
  const id = invitations.find(({ createdBy }) => createdBy === owner.wallet.address)?.id
  const left = await owner.browser.post('/api/people/uninvite', { id })
  expect(peopleIn(left).invitations).toHaveLength(1)
  const answers = [await join(await signedIn(), late), await join(await signedIn(), withdrawn)]
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 403]))
  const code = await invite('viewer')
  clock += 7 * DAY_MS
  expect(reasonOf(await join(await signedIn(), code))).toEqual([403, 'invitation_over'])
})

test('an invitation never lowers a role, and stays open', async () => {
  const operator = await joined('operator')
  const code = await invite('viewer')
  expect(reasonOf(await join(operator, code))).toEqual([403, 'role_held'])
  expect(reasonOf(await join(owner, code))).toEqual([403, 'role_held'])
  expect((await join(await signedIn(), code)).status).toBe(200)
  expect(await roleIn(operator.browser)).toBe('operator')
})

test('of two invitations that one wallet accepts at once, the higher role stays', async () => {
  const wallet = evmWallet().address
  const { db, config } = fixture.bff.context
  const [low, high] = [await invite('viewer'), await invite('operator')]
  const open = async (code: string) => {
    const found = await findInvitation(db, hashCookieValue(code), new Date(clock))
    if (!found) throw new Error('Expected an invitation.')
    return found
  }
  const acceptance = {
    wallet,
    at: new Date(clock),
    requestId: 'r',
    configuredOwners: config.operatorWallets,
  }
  const [lowOpen, highOpen] = [await open(low), await open(high)]
  expect(await acceptInvitation(db, highOpen, acceptance)).toBe('joined')
  // Read before the other one was accepted.
  expect(await acceptInvitation(db, lowOpen, acceptance)).toBe('held')
  expect(await findRole(db, wallet)).toBe('operator')
  expect(await open(low)).toMatchObject({ role: 'viewer' })
  expect(await acceptInvitation(db, highOpen, acceptance)).toBe('over')
})

test('an owner whose role has ended changes no role with a request that was under way', async () => {
  const [former, viewer] = [await joined('owner'), await joined('viewer')]
  const { db, config } = fixture.bff.context
  const { address } = viewer.wallet
  const change = {
    role: 'owner',
    givenBy: former.wallet.address,
    givenAt: new Date(clock),
  } as const
  const given = { ...change, configuredOwners: config.operatorWallets }
  await removeRole(db, former.wallet.address, { configured: false })
  expect(await changeRole(db, address, given)).toBe('refused')
  expect(await findRole(db, address)).toBe('viewer')
  expect(await changeRole(db, address, { ...given, givenBy: owner.wallet.address })).toBe('changed')
})

test('who stole the session of an owner gives nobody a role', async () => {
  const viewer = await joined('viewer')
  const thief = evmWallet()
  const { browser, wallet } = owner
  const change = { walletAddress: viewer.wallet.address, role: 'owner' as const }
  const attempts: [string, object, Record<string, string>, string][] = [
    ['/api/people/invite', { role: 'owner' }, {}, 'approval_required'],
    ['/api/people/change', change, {}, 'approval_required'],
    [
      '/api/people/invite',
      { role: 'owner' },
      await browser.approve(wallet, { kind: 'invite', role: 'owner' }, thief),
      'approval_signature',
    ],
    [
      '/api/people/invite',
      { role: 'owner' },
      await browser.approve(wallet, { kind: 'invite', role: 'viewer' }),
      'approval_signature',
    ],
    [
      '/api/people/change',
      change,
      await browser.approve(wallet, { ...change, kind: 'changeRole', role: 'viewer' }),
      'approval_signature',
    ],
    [
      '/api/people/change',
      change,
      await browser.approve(wallet, {
        ...change,
        kind: 'changeRole',
        walletAddress: thief.address,
      }),
      'approval_signature',
    ],
  ]
  for (const [path, body, headers, reason] of attempts)
    expect(reasonOf(await browser.post(path, body, headers))).toEqual([403, reason])
  const used = await browser.approve(wallet, { kind: 'invite', role: 'viewer' })
  expect((await browser.post('/api/people/invite', { role: 'viewer' }, used)).status).toBe(200)
  expect(reasonOf(await browser.post('/api/people/invite', { role: 'viewer' }, used))).toEqual([
    403,
    'approval_over',
  ])
  expect(await roleIn(viewer.browser)).toBe('viewer')
})

test('a role that is changed or taken away counts from the next request on', async () => {
  const person = await joined('operator')
  expect(reasonOf(await person.browser.get('/api/links'))).toEqual([200, undefined])
  const { address } = person.wallet
  const change = async (role: Role) =>
    owner.browser.post(
      '/api/people/change',
      { walletAddress: address, role },
      await owner.browser.approve(owner.wallet, {
        kind: 'changeRole',
        walletAddress: address,
        role,
      }),
    )
  expect((await change('viewer')).status).toBe(200)
  expect(reasonOf(await person.browser.post('/api/links/short', {})), 'a link of a viewer').toEqual(
    [403, 'operator_required'],
  )
  expect((await person.browser.get('/api/links')).status).toBe(200)
  expect((await owner.browser.post('/api/people/remove', { walletAddress: address })).status).toBe(
    200,
  )
  expect(reasonOf(await person.browser.get('/api/links'))).toEqual([403, 'viewer_required'])
  expect(await roleIn(person.browser)).toBeNull()
  expect((await change('operator')).status, 'a person who was removed').toBe(404)
})

test('live events of the account end with the role, while the stream is open', async () => {
  const viewer = await joined('viewer')
  const [ofViewer, ofOwner] = [viewer.browser.events(), owner.browser.events()]
  for (const reader of [ofViewer, ofOwner])
    await expect.poll(() => reader.lastEventId).toBeDefined()
  const before = await fixture.createPayment({})
  for (const reader of [ofViewer, ofOwner])
    await expect.poll(() => reader.told).toEqual([`${before} created`])
  const { address } = viewer.wallet
  await owner.browser.post('/api/people/remove', { walletAddress: address })
  const after = await fixture.createPayment({})
  await expect.poll(() => ofOwner.told.at(-1)).toBe(`${after} created`)
  // To the viewer's own wallet: it is read after the other.
  const own = await fixture.createPayment({ recipient: address })
  await expect.poll(() => ofViewer.told.at(-1)).toBe(`${own} created`)
  expect(ofViewer.told).toEqual([`${before} created`, `${own} created`])
  for (const reader of [ofViewer, ofOwner]) reader.close()
})

test('nobody changes or removes an owner of the configuration', async () => {
  const second = await joined('owner')
  const { address } = owner.wallet
  const change = { walletAddress: address, role: 'viewer' }
  expect(
    reasonOf(
      await second.browser.post(
        '/api/people/change',
        change,
        await second.browser.approve(second.wallet, { kind: 'changeRole', ...change }),
      ),
    ),
  ).toEqual([403, 'role_configured'])
  expect(
    reasonOf(await second.browser.post('/api/people/remove', { walletAddress: address })),
  ).toEqual([403, 'role_configured'])
  expect(await roleIn(owner.browser)).toBe('owner')
})

test('an owner who was removed invites nobody with a signature made before', async () => {
  const second = await joined('owner')
  const approved = await second.browser.approve(second.wallet, { kind: 'invite', role: 'owner' })
  const code = await invite('owner', second)
  await owner.browser.post('/api/people/remove', { walletAddress: second.wallet.address })
  expect(
    reasonOf(await second.browser.post('/api/people/invite', { role: 'owner' }, approved)),
  ).toEqual([403, 'owner_required'])
  expect(reasonOf(await join(await signedIn(), code)), 'their open invitation').toEqual([
    403,
    'invitation_over',
  ])
})

test('an invitation does not come back with the role of the owner who made it', async () => {
  const second = await joined('owner')
  const { address } = second.wallet
  const setRole = async (role: Role) =>
    owner.browser.post(
      '/api/people/change',
      { walletAddress: address, role },
      await owner.browser.approve(owner.wallet, {
        kind: 'changeRole',
        walletAddress: address,
        role,
      }),
    )
  const before = await invite('owner', second)
  expect((await setRole('viewer')).status).toBe(200)
  expect((await setRole('owner')).status).toBe(200)
  expect(reasonOf(await join(await signedIn(), before))).toEqual([403, 'invitation_over'])

  const earlier = await invite('owner', second)
  await owner.browser.post('/api/people/remove', { walletAddress: address })
  expect((await join(second, await invite('owner'))).status).toBe(200)
  expect(reasonOf(await join(await signedIn(), earlier))).toEqual([403, 'invitation_over'])
})

test('what an owner signs is theirs, though the session has another owner’s wallet too', async () => {
  const signer = await joined('owner')
  const { address } = signer.wallet
  // The browser of the other owner proves this one's wallet as well, and acts for the other one.
  const { browser } = owner
  await browser.signIn(signer.wallet)
  const [operator, code] = [
    await joined('viewer'),
    await invite('operator', { wallet: signer.wallet, browser }),
  ]
  const change = { walletAddress: operator.wallet.address, role: 'operator' as const }
  const approved = await browser.approve(signer.wallet, { kind: 'changeRole', ...change })
  const { people, invitations } = peopleIn(
    await browser.post('/api/people/change', change, approved),
  )
  expect(people.find(({ wallet }) => wallet === change.walletAddress)?.givenBy).toBe(address)
  expect(invitations.map(({ createdBy }) => createdBy)).toEqual([address])
  const signed = (await log()).filter(({ wallet }) => wallet === address)
  expect(signed.map(({ action, role, outcome }) => [action, role, outcome])).toEqual([
    ['peopleChange', 'owner', 'done'],
    ['peopleInvite', 'owner', 'done'],
    ['peopleJoin', 'owner', 'done'],
  ])
  await browser.post('/api/people/remove', { walletAddress: address })
  expect(reasonOf(await join(await signedIn(), code))).toEqual([403, 'invitation_over'])
})

test('who names the wallet of another owner without its signature is recorded themselves', async () => {
  const second = await joined('owner')
  const { browser, wallet } = owner
  await browser.signIn(second.wallet)
  const operation = { kind: 'invite', role: 'viewer' }
  const forged = await browser.approve(second.wallet, operation, wallet)
  expect(reasonOf(await browser.post('/api/people/invite', { role: 'viewer' }, forged))).toEqual([
    403,
    'approval_signature',
  ])
  expect((await log())[0]).toMatchObject({
    wallet: wallet.address,
    action: 'peopleInvite',
    outcome: 'FORBIDDEN',
  })
})

test('an owner whose role ends while an invitation of theirs is accepted has given nothing', async () => {
  const second = await joined('owner')
  const code = await invite('operator', second)
  const guest = await signedIn()
  const { db } = fixture.bff.context
  const removed = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const removing = db.transaction(async (tx) => {
    await removeRole(tx, second.wallet.address, { configured: false })
    removed.resolve()
    await gate.promise
  })
  await removed.promise
  const joining = join(guest, code)
  await expect
    .poll(async () => {
      const waiting = sql`select count(*)::int as count from pg_locks where not granted`
      return (await db.execute<{ count: number }>(waiting)).rows[0]?.count
    })
    .not.toBe(0)
  gate.resolve()
  await removing
  expect(reasonOf(await joining)).toEqual([403, 'invitation_over'])
  expect(await roleIn(guest.browser)).toBeNull()
})

test('a role that an owner of the configuration was also given is listed, and can be removed', async () => {
  const person = await joined('operator')
  const { address } = person.wallet
  const { operatorWallets } = fixture.bff.context.config
  fixture.bff.context.config.operatorWallets = [...operatorWallets, address]
  try {
    expect(await roleIn(person.browser)).toBe('owner')
    const listed = peopleIn(await owner.browser.get('/api/people')).people
    expect(listed.filter(({ wallet }) => wallet === address)).toEqual([
      {
        wallet: address,
        role: 'owner',
        configured: true,
        givenRole: 'operator',
        givenBy: owner.wallet.address,
        givenAt: clock,
      },
    ])
    const left = await owner.browser.post('/api/people/remove', { walletAddress: address })
    expect(peopleIn(left).people.find(({ wallet }) => wallet === address)).toEqual({
      wallet: address,
      role: 'owner',
      configured: true,
      givenBy: null,
      givenAt: null,
    })
    expect(
      reasonOf(await owner.browser.post('/api/people/remove', { walletAddress: address })),
    ).toEqual([403, 'role_configured'])
    expect(await roleIn(person.browser)).toBe('owner')
  } finally {
    fixture.bff.context.config.operatorWallets = operatorWallets
  }
  expect(await roleIn(person.browser)).toBeNull()
})

test('who is removed while the body of a request arrives changes nothing with it', async () => {
  const second = await joined('owner')
  const uninvite = await invite('viewer')
  const { invitations } = peopleIn(await owner.browser.get('/api/people'))
  const body = JSON.stringify({ id: invitations[0]?.id })
  const sent = Promise.withResolvers<number>()
  const asking = request(
    `${fixture.bff.url}/api/people/uninvite`,
    {
      method: 'POST',
      headers: second.browser.headers({
        'Content-Type': 'application/json',
        'Content-Length': String(body.length),
        'X-Requested-By': 'paydesk',
      }),
    },
    (response) => {
      response.resume()
      sent.resolve(response.statusCode ?? 0)
    },
  )
  asking.write(body.slice(0, -1))
  // The proxy has taken what it read so far: a request of the same session is answered after it.
  expect((await second.browser.get('/api/people')).status).toBe(200)
  await owner.browser.post('/api/people/remove', { walletAddress: second.wallet.address })
  asking.end(body.slice(-1))
  expect(await sent.promise).toBe(403)
  expect((await join(await signedIn(), uninvite)).status).toBe(200)
})

test('every change by a person of the account has an entry, done or refused', async () => {
  const operator = await joined('operator')
  const viewer = await joined('viewer')
  const made = await operator.browser.post('/api/links/short', {})
  expect(made.status, made.text).toBe(200)
  const { id } = (made.json as unknown as { link: { short: { id: string } } }).link.short
  expect((await operator.browser.post('/api/links/withdraw', { id })).status).toBe(200)
  const unknown = `lnk_${'1'.repeat(22)}`
  expect((await operator.browser.post('/api/links/withdraw', { id: unknown })).status).toBe(404)
  expect((await viewer.browser.post('/api/links/withdraw', { id })).status).toBe(403)
  const entries = await log()
  expect(entries.filter(({ action }) => action === 'peopleInvite')).toMatchObject([
    { wallet: owner.wallet.address, subject: 'viewer', outcome: 'done' },
    { wallet: owner.wallet.address, subject: 'operator', outcome: 'done' },
  ])
  expect(
    entries.filter(({ wallet }) => wallet === operator.wallet.address).toReversed(),
  ).toMatchObject([
    { action: 'peopleJoin', role: 'operator', outcome: 'done' },
    { action: 'shortLinkCreate', role: 'operator', outcome: 'done', subject: id },
    { action: 'linkWithdraw', outcome: 'done', subject: id },
    { action: 'linkWithdraw', outcome: 'NOT_FOUND', subject: unknown },
  ])
  // Who may not try at all changes nothing, and fills no log.
  expect(
    entries.filter(({ wallet }) => wallet === viewer.wallet.address).map(({ action }) => action),
  ).toEqual(['peopleJoin'])
  const ids = entries.map(({ id }) => Number(id))
  expect(ids).toEqual(ids.toSorted((a, b) => b - a))
})

test('an entry has the host of a webhook, and not the rest of its address, which may be a secret', async () => {
  const url = 'https://hooks.example.com/services/T0/hidden?token=hidden'
  await owner.browser.post('/api/webhooks', { url })
  const entries = await log()
  expect(entries[0]).toMatchObject({
    action: 'webhookCreate',
    subject: 'https://hooks.example.com',
  })
  expect(JSON.stringify(entries)).not.toContain('hidden')
})

test('without an entry there is no change', async () => {
  const linkCount = async () =>
    ((await owner.browser.get('/api/links')).json as unknown as { short: unknown[] }).short.length
  const before = await linkCount()
  await asOwner(
    'alter table bff.audit_entry add constraint nothing check (action is null) not valid',
  )
  const answer = await owner.browser.post('/api/links/short', {})
  expect(answer.status).toBe(500)
  await asOwner('alter table bff.audit_entry drop constraint nothing')
  expect(await linkCount()).toBe(before)
})

test('the log is read 50 entries at a time', async () => {
  for (let index = 0; index < 60; index += 1)
    await owner.browser.post('/api/links/withdraw', { id: `lnk_${'1'.repeat(22)}` })
  const first = await log()
  expect(first).toHaveLength(50)
  const rest = await log(first.at(-1)?.id)
  expect(rest).toHaveLength(10)
  expect(new Set([...first, ...rest].map(({ id }) => id)).size).toBe(60)
})
