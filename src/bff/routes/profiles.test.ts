import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { CustomerExport, CustomerProfile } from '#contract/customer-endpoints.ts'
import { SEARCHED_PARTIES } from '#contract/payment-search.ts'
import { createPaymentId } from '#contract/payment.ts'
import { Fixture } from '#testing/fixture.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import { evmWallet, type BrowserResponse, type TestBrowser } from '#testing/test-browser.ts'
import { insertContact } from '../db/contacts.ts'
import { auditEntry, customerProfile, linkPayment, paymentContact } from '../db/schema.ts'

let fixture: Fixture
let owner: TestBrowser
let viewer: TestBrowser
let clock = Date.now()
const ana = evmWallet().address
const ben = evmWallet().address

beforeAll(async () => {
  const wallet = evmWallet()
  fixture = await Fixture.open({
    bff: { operatorWallets: [wallet.address] },
    overrides: { now: () => new Date(clock) },
  })
  owner = fixture.browser()
  await owner.signIn(wallet)
  viewer = fixture.browser()
  const reader = evmWallet()
  await viewer.signIn(reader)
  await asOwner(
    `insert into bff.wallet_role values ('${reader.address}', 'viewer', '${wallet.address}', now())`,
  )
})
afterAll(() => fixture?.[Symbol.asyncDispose]())
beforeEach(async () => {
  clock += 61_000
  await asOwner('truncate bff.customer_profile, bff.payment_contact, bff.audit_entry')
})

const asOwner = (statement: string) => {
  const { config, db } = fixture.bff.context
  return executeAsOwner({ target: config.database, db }, statement)
}
const profilesIn = ({ json }: BrowserResponse) =>
  (json as unknown as { profiles: CustomerProfile[] }).profiles
const read = async (who: TestBrowser, ...wallets: string[]) =>
  profilesIn(await who.post('/api/customers/profiles/read', { wallets }))
const find = async (who: TestBrowser, text: string) =>
  profilesIn(await who.post('/api/customers/profiles/find', { text })).map(
    ({ walletAddress }) => walletAddress,
  )
/** The payments that a search of the list finds. */
const search = async (who: TestBrowser, q: string) => {
  const { json } = await who.get(`/api/payments?q=${encodeURIComponent(q)}`)
  return (json as unknown as { payments: { paymentId: string }[] }).payments.map(
    ({ paymentId }) => paymentId,
  )
}
const write = (change: object, walletAddress = ana) =>
  owner.post('/api/customers/profiles', { walletAddress, ...change })

test('a change leaves what it does not name, and null takes an e-mail address away', async () => {
  expect((await write({ name: ' Ana Pérez ', email: 'ana@shop.example' })).status).toBe(200)
  await write({ labels: ['wholesale', 'wholesale', 'Berlin'], note: 'Pays late.' })
  expect(await read(owner, ana, ben)).toEqual([
    {
      walletAddress: ana,
      name: 'Ana Pérez',
      email: 'ana@shop.example',
      labels: ['wholesale', 'Berlin'],
      note: 'Pays late.',
      updatedAt: clock,
    },
  ])
  await write({ email: null })
  expect(await read(owner, ana)).toMatchObject([{ name: 'Ana Pérez', email: null }])
  expect((await write({ email: 'nobody' })).json.error?.details).toHaveProperty('email')
})

test('a viewer reads no e-mail address, and finds nobody by one', async () => {
  await write({ name: 'Ana', email: 'ana@shop.example' })
  expect(await read(viewer, ana)).toMatchObject([{ name: 'Ana', email: null }])
  expect(await find(owner, 'ANA@shop')).toEqual([ana])
  expect(await find(viewer, 'ana@shop')).toEqual([])
  expect(await find(viewer, 'ana')).toEqual([ana])
})

test('a customer is found by the beginnings of words of the name and the labels', async () => {
  await write({ name: 'Ana María Pérez', labels: ['Wholesale North'] })
  await write({ name: '王小明', labels: ["O'Brien & Sons"] }, ben)
  expect(await find(owner, 'pér ana')).toEqual([ana])
  expect(await find(owner, 'north')).toEqual([ana])
  expect(await find(owner, '王')).toEqual([ben])
  expect(await find(owner, "o'brien & sons")).toEqual([ben])
  for (const odd of ["'", ':* | !', '%', '\\', 'érez'])
    expect(await find(owner, odd), odd).toEqual([])
})

test('a merchant finds their own customers alone, and nobody by a name that was deleted', async () => {
  const neighbourWallet = evmWallet()
  await using other = await Fixture.open({
    bff: { operatorWallets: [neighbourWallet.address] },
    overrides: { now: () => new Date(clock) },
  })
  const neighbour = other.browser()
  await neighbour.signIn(neighbourWallet)
  await write({ name: 'Ada Lovelace' })
  await neighbour.post('/api/customers/profiles', { walletAddress: ben, name: 'Ada Byron' })
  const [shop, customer] = [evmWallet().address, evmWallet()]
  const paid = await fixture.createPayment({ sender: ana, recipient: shop })
  const theirs = await other.createPayment({ sender: ben, recipient: shop })
  // Who is Ada there is nobody here, although they paid here too.
  await fixture.createPayment({ sender: ben, recipient: shop })
  expect(await find(owner, 'ada')).toEqual([ana])
  expect(await find(neighbour, 'ada')).toEqual([ben])
  expect(await search(owner, 'ada love')).toEqual([paid])
  expect(await search(viewer, 'ada')).toEqual([paid])
  expect(await search(owner, 'ada status:failed')).toEqual([])
  expect(await search(neighbour, 'ada')).toEqual([theirs])

  // A payer sees their own payments, and no name that the merchant gave them or anybody else.
  const payer = fixture.browser()
  await payer.signIn(customer)
  await write({ name: 'Ada Payer' }, customer.address)
  await fixture.createPayment({ sender: customer.address, recipient: shop })
  expect(await search(payer, 'ada')).toEqual([])
  const refused = await payer.post('/api/customers/profiles/find', { text: 'ada' })
  expect(refused.status).toBe(403)

  for (const walletAddress of [ana, customer.address])
    await owner.post('/api/customers/profiles/delete', { walletAddress })
  expect(await find(owner, 'ada')).toEqual([])
  expect(await search(owner, 'ada')).toEqual([])
  expect(await find(neighbour, 'ada')).toEqual([ben])
})

test('a word of more customers than a search takes finds them, and the payments of none', async () => {
  for (let count = 0; count <= SEARCHED_PARTIES; count++) {
    const { address } = evmWallet()
    await write({ labels: ['wholesale'] }, address)
    const paid = await fixture.createPayment({ sender: address, recipient: ben })
    const found = await search(owner, 'whole')
    if (count < SEARCHED_PARTIES) expect(found).toHaveLength(count + 1)
    else expect(found).toEqual([])
    expect(await search(owner, paid)).toEqual([paid])
  }
  expect(await find(owner, 'whole')).toHaveLength(SEARCHED_PARTIES + 1)
})

async function typedAtCheckout(sender: string, seen: boolean): Promise<string> {
  const { db } = fixture.bff.context
  const paymentId = createPaymentId()
  const email = `${paymentId}@shop.example`
  await insertContact(db, { paymentId, sender, email, createdAt: new Date(clock) })
  await asOwner(
    `insert into bff.payment_link (id, link, created_by, created_at) values ('lnk', 'x', 'x', now()) on conflict do nothing`,
  )
  await db.insert(linkPayment).values({
    id: `lpm_${paymentId}`,
    linkId: 'lnk',
    paymentId,
    status: seen ? 'finalized' : 'created',
    arrival: seen ? 1 : null,
    createdAt: new Date(clock),
  })
  return email
}

test('an export has everything personal of a wallet, and nothing that was typed with an unpaid order', async () => {
  await write({ name: 'Ana', email: 'ana@shop.example', note: 'Pays late.' })
  const paid = await typedAtCheckout(ana, true)
  await typedAtCheckout(ana, false)
  await typedAtCheckout(ben, true)
  const answer = await owner.post('/api/customers/profiles/export', { walletAddress: ana })
  expect(answer.json as unknown as CustomerExport).toMatchObject({
    walletAddress: ana,
    exportedAt: clock,
    profile: { name: 'Ana', email: 'ana@shop.example', note: 'Pays late.' },
    checkouts: [{ email: paid, createdAt: clock }],
  })
})

test('a deletion takes everything personal of one wallet, and the log has the wallet alone', async () => {
  const { db } = fixture.bff.context
  await write({ name: 'Ana', email: 'ana@shop.example', note: 'Pays late.' })
  await write({ name: 'Ben' }, ben)
  await typedAtCheckout(ana, true)
  await typedAtCheckout(ana, false)
  const other = await typedAtCheckout(ben, true)
  for (let repeated = 0; repeated < 2; repeated++) {
    const answer = await owner.post('/api/customers/profiles/delete', { walletAddress: ana })
    expect(answer.json).toEqual({ deleted: true })
  }
  expect((await db.select().from(customerProfile)).map(({ wallet }) => wallet)).toEqual([ben])
  expect((await db.select().from(paymentContact)).map(({ email }) => email)).toEqual([other])
  const entries = await db.select().from(auditEntry).orderBy(auditEntry.id)
  expect(entries.map(({ action, subject, outcome }) => [action, subject, outcome])).toEqual([
    ['profileWrite', ana, 'done'],
    ['profileWrite', ben, 'done'],
    ['profileDelete', ana, 'done'],
    ['profileDelete', ana, 'done'],
  ])
  // Random ids are left out: one of them may happen to spell a name.
  const told = entries.map(({ wallet, role, action, subject }) => [wallet, role, action, subject])
  expect(JSON.stringify(told)).not.toMatch(/Ana|late|shop\.example/)
})
