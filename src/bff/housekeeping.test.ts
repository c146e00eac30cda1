import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createId } from '#contract/payment.ts'
import { Fixture } from '#testing/fixture.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import { evmWallet } from '#testing/test-browser.ts'
import { findMailAddress, hashAddress } from './db/mail.ts'
import { mailAddress, mailItem, mailMessage } from './db/mail-schema.ts'
import { removeRole } from './db/people.ts'
import { session, walletRole } from './db/schema.ts'
import { sweep } from './housekeeping.ts'

const DAY_MS = 86_400_000
const owner = evmWallet().address
let fixture: Fixture
let ahead = 0
const now = () => new Date(Date.now() + ahead)

beforeAll(async () => {
  fixture = await Fixture.open({ bff: { operatorWallets: [owner] }, overrides: { now } })
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

const asOwner = (statement: string) => {
  const { config, db } = fixture.bff.context
  return executeAsOwner({ target: config.database, db }, statement)
}

async function addAddress(wallet: string): Promise<void> {
  const { db } = fixture.bff.context
  await db.insert(mailAddress).values({
    wallet,
    address: `${wallet}@example.com`,
    language: 'en',
    kinds: ['payment_confirmed'],
    codeAttempts: 0,
    confirmedAt: now(),
    unsubscribeToken: wallet,
    updatedAt: now(),
  })
  await db
    .insert(mailItem)
    .values({ wallet, key: 'one', kind: 'payment_confirmed', facts: {}, createdAt: now() })
}

test('the e-mail address of a person is deleted a week after the role ended, also where the configuration gave it', async () => {
  const { context } = fixture.bff
  const { db, config } = context
  onTestFinished(() => void (config.operatorWallets = [owner]))
  const [viewer, kept] = [evmWallet().address, evmWallet().address]
  for (const wallet of [owner, viewer, kept]) await addAddress(wallet)
  for (const wallet of [viewer, kept])
    await db.insert(walletRole).values({ wallet, role: 'viewer', givenBy: owner, givenAt: now() })
  const found = async () => {
    await sweep(context)
    const rows = await Promise.all(
      [owner, viewer, kept].map((wallet) => findMailAddress(db, wallet)),
    )
    const items = await db.select().from(mailItem)
    expect(items.map(({ wallet }) => wallet).toSorted()).toEqual(
      rows.flatMap((row) => row?.wallet ?? []).toSorted(),
    )
    return rows.map((row) => row !== undefined)
  }
  // Who has a role keeps it, however long nobody has changed it or the proxy was off.
  ahead += 20 * DAY_MS
  expect(await found()).toEqual([true, true, true])
  config.operatorWallets = []
  await removeRole(db, viewer, { configured: false })
  ahead += 6 * DAY_MS
  expect(await found()).toEqual([true, true, true])
  ahead += 2 * DAY_MS
  expect(await found()).toEqual([false, false, true])
})

test('an e-mail that waited for 30 days, while none were sent, is forgotten with the earlier address in it', async () => {
  const { context } = fixture.bff
  const [old, fresh] = [createId('mal'), createId('mal')]
  for (const [id, days] of [
    [old, 31],
    [fresh, 29],
  ] as const)
    await context.db.insert(mailMessage).values({
      id,
      wallet: owner,
      kind: 'moved',
      addressHash: hashAddress('before@example.com'),
      state: 'pending',
      attempts: 0,
      nextAttemptAt: now(),
      earlier: { address: 'before@example.com', language: 'en' },
      createdAt: new Date(now().getTime() - days * DAY_MS),
    })
  await sweep(context)
  const left = await context.db.select().from(mailMessage)
  expect(left.map(({ id }) => id)).toEqual([fresh])
})

test('what cannot be removed is named in the log, and the rest is removed all the same', async () => {
  const { context } = fixture.bff
  await fixture.browser().signIn(evmWallet())
  expect(await context.db.$count(session)).toBe(1)
  ahead += DAY_MS
  await asOwner('alter table bff.invitation rename to moved')
  onTestFinished(() => asOwner('alter table bff.moved rename to invitation'))
  await sweep(context)
  expect(await context.db.$count(session)).toBe(0)
  const failed = fixture.log.filter((line) => line.includes('housekeeping failed'))
  expect(failed).toHaveLength(1)
  expect(failed[0]).toContain('"what":"invitations"')
})
