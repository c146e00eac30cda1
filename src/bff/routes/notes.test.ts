import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPaymentId } from '#contract/payment.ts'
import { Fixture } from '#testing/fixture.ts'
import { evmWallet, type BrowserResponse, type TestBrowser } from '#testing/test-browser.ts'

const wallets = {
  operator: evmWallet(),
  second: evmWallet(),
  buyer: evmWallet(),
  stranger: evmWallet(),
}
const people = {} as Record<keyof typeof wallets, TestBrowser>

let fixture: Fixture
let payment: string

beforeAll(async () => {
  fixture = await Fixture.open({
    bff: { operatorWallets: [wallets.operator.address, wallets.second.address] },
  })
  payment = await fixture.createPayment({ sender: wallets.buyer.address })
  for (const name of Object.keys(wallets) as (keyof typeof wallets)[]) {
    people[name] = fixture.browser()
    await people[name].signIn(wallets[name])
  }
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

type Note = { paymentId: string; labels: string[]; note: string; reconciledAt: number | null }
const notes = (answer: BrowserResponse) => (answer.json as unknown as { notes: Note[] }).notes
const read = async (who: TestBrowser, ...paymentIds: string[]) =>
  notes(await who.post('/api/notes/read', { paymentIds }))
const write = (who: TestBrowser, change: object) =>
  who.post('/api/notes', { paymentIds: [payment], ...change })

test('operators share their notes; the payer has notes of their own, and a stranger none', async () => {
  expect(
    (
      await write(people.operator, {
        addLabels: ['rent', 'May'],
        note: 'Paid late',
        reconciled: true,
      })
    ).status,
  ).toBe(200)
  expect(await read(people.second, payment)).toMatchObject([
    { labels: ['rent', 'May'], note: 'Paid late', reconciledAt: expect.any(Number) },
  ])
  expect(await read(people.buyer, payment)).toEqual([])
  await write(people.buyer, { note: 'my coffee' })
  expect(await read(people.buyer, payment)).toMatchObject([{ note: 'my coffee', labels: [] }])
  expect(await read(people.operator, payment)).toMatchObject([{ note: 'Paid late' }])
  expect((await write(people.stranger, { note: 'x' })).status).toBe(404)
  expect((await fixture.browser().post('/api/notes/read', { paymentIds: [payment] })).status).toBe(
    401,
  )
})

test('a change leaves what it does not name, and the time of a mark that is set again', async () => {
  const [before] = await read(people.operator, payment)
  const [after] = notes(
    await write(people.second, {
      addLabels: ['late', 'rent'],
      removeLabels: ['May'],
      reconciled: true,
    }),
  )
  expect(after).toMatchObject({
    labels: ['rent', 'late'],
    note: 'Paid late',
    reconciledAt: before?.reconciledAt,
  })
  expect(notes(await write(people.second, { reconciled: false }))).toMatchObject([
    { reconciledAt: null, labels: ['rent', 'late'] },
  ])
})

test('two writers at once lose nothing of each other', async () => {
  const labels = Array.from({ length: 8 }, (_, index) => `l${index}`)
  await write(people.operator, { removeLabels: ['rent', 'late'] })
  await Promise.all(
    labels.map((label, index) =>
      write(index % 2 ? people.operator : people.second, { addLabels: [label] }),
    ),
  )
  expect((await read(people.operator, payment))[0]?.labels.toSorted()).toEqual(labels)
})

test('labels are counted, the most used first', async () => {
  const other = await fixture.createPayment({})
  await people.operator.post('/api/notes', { paymentIds: [payment, other], addLabels: ['both'] })
  const answer = (await people.operator.get('/api/notes/labels')).json as unknown as {
    labels: { label: string; payments: number }[]
  }
  expect(answer.labels[0]).toEqual({ label: 'both', payments: 2 })
})

test('bounds are told: length, number, and what a label may hold', async () => {
  for (const change of [
    { addLabels: ['a,b'] },
    { addLabels: [' '] },
    { addLabels: ['x'.repeat(41)] },
    { note: 'x'.repeat(2001) },
    { note: '\0' },
    { paymentIds: [] },
    { paymentIds: ['x'] },
    { other: 1 },
  ]) {
    expect((await write(people.operator, change)).status, JSON.stringify(change)).toBe(400)
  }
  const many = Array.from({ length: 21 }, createPaymentId)
  expect(
    (await write(people.buyer, { paymentIds: many, note: 'x' })).json.error.details,
  ).toHaveProperty('paymentIds')
  expect((await write(people.operator, { paymentIds: many, note: 'x' })).status).toBe(200)
})
