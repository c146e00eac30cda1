import 'fake-indexeddb/auto'
import { openDB } from 'idb'
import { expect, test } from 'vitest'
import { journalEntry, openJournal, readOwner } from './journal.ts'
import { reduce, type PaymentState } from './machine.ts'
import { open } from './testing/open.ts'

test('a settlement that was begun under the names of version 1 is read under those of version 2', async () => {
  const order = {
    id: 'order',
    createdAt: 1,
    amountAtomic: 5n,
    description: 'deed',
    sponsor: 'fee payer',
    deed: { kind: 'settle', way: 'carry_out', proof: 'proof' },
  }
  const bytes = new Uint8Array([1, 2])
  const state = { step: 'rejected', order, built: { bytes }, trouble: { title: 'refused' } }
  const before = await openDB('former', 1, {
    upgrade(database) {
      const store = database.createObjectStore('payments', { keyPath: 'id' })
      store.createIndex('open', 'open')
      store.createIndex('updatedAt', 'updatedAt')
    },
  })
  const allowance = { ...state, order: { ...order, deed: { kind: 'allow' } } }
  await before.put('payments', { id: 'order', revision: 3, open: 1, state, earlier: [allowance] })
  before.close()

  const entry = await openJournal('former').read('order')
  expect(entry).toMatchObject({
    revision: 3,
    open: 1,
    state: {
      step: 'rejected',
      built: { bytes },
      userError: { title: 'refused' },
      order: {
        amountAtomic: 5n,
        description: 'deed',
        feePayer: 'fee payer',
        operation: { kind: 'settle', way: 'execute', proof: 'proof' },
      },
    },
    earlier: [{ order: { operation: { kind: 'approve' } } }],
  })
  expect(JSON.stringify(entry?.state.order.operation)).not.toContain('carry_out')
})

test('a transaction that a search found is not free while another payment has its hash, has its nonce, or may be in the wallet', async () => {
  const { dependencies, browser } = open('evm')
  dependencies.keepsNonce = false
  const run = await browser.reviewed('other')
  const order = dependencies.order('searching')
  const { now } = dependencies
  const owner = (signature: string, { nonce = 7, known = false, later = 0 } = {}) =>
    readOwner(
      [browser.journal],
      { order, sent: { bytes: null, signature: null, ...(known && { nonce }) } },
      { signature, nonce, now: now + later },
    )
  expect(await owner('0xsped-up')).toBe('free')
  void run.sign([])
  await browser.still()
  expect(await owner('0xsped-up')).toBe('open')
  // The tab of the other one may be gone: its answer is not waited for without end.
  expect(await owner('0xsped-up', { later: 6 * 60_000 })).toBe('free')

  dependencies.approve()
  await browser.pass(5)
  expect(run.state()).toMatchObject({ step: 'submitted', sent: { nonce: 7 } })
  expect(await owner('0xpay-other')).toBe('other')
  expect(await owner('0xsped-up')).toBe('open')
  expect(await owner('0xsped-up', { nonce: 8 })).toBe('free')
  // Two payments were built with one nonce, which the wallet kept.
  expect(await owner('0xsped-up', { known: true })).toBe('free')
  run.close()
})

test('the e-mail address of a payer and the proofs of others go with the end of a payment, and with each attempt that another one follows', async () => {
  const { browser } = open('evm')
  const run = await browser.reviewed('typed')
  const reviewed = run.state()
  run.close()
  const order = {
    ...reviewed.order,
    link: { text: 'code', setBy: 'Shop', returnUrl: null, email: 'ana@post.example' },
    operation: {
      kind: 'settle' as const,
      way: 'execute' as const,
      proof: 'hidden',
      asset: 'token',
      amountAtomic: 5n,
      resource: null,
      memo: null,
    },
  }
  const first = journalEntry(undefined, { ...reviewed, order }, 1)
  expect(first.state.order).toEqual(order)

  const rebuilt = journalEntry(first, reduce(first.state, { type: 'rebuild' }), 2)
  expect(rebuilt.state).toMatchObject({ attempt: 2, order })
  const without = {
    ...order,
    link: { text: 'code', setBy: 'Shop', returnUrl: null },
    operation: { ...order.operation, proof: '' },
  }
  expect(rebuilt.earlier.map((state) => state.order)).toEqual([without])

  if (!('built' in reviewed)) throw new Error('Expected what was built.')
  const landed = {
    signature: '0xpay',
    height: 1,
    blockHash: null,
    confirmations: 9,
    requiredConfirmations: 2,
    feeAtomic: 1n,
  }
  const paid = {
    order,
    attempt: 2,
    built: reviewed.built,
    sent: { bytes: new Uint8Array([1]), signature: '0xpay' },
    landed,
  }
  const stored = (state: PaymentState) => journalEntry(rebuilt, state, 3).state
  // A reorganization may still have it built again.
  expect(stored({ ...paid, step: 'confirmed' }).order).toEqual(order)
  expect(stored({ ...paid, step: 'finalized' })).toMatchObject({
    order: without,
    sent: { bytes: null, signature: '0xpay' },
  })
  expect(stored({ order, attempt: 2, step: 'cancelled' }).order).toEqual(without)
  const failed = { ...paid, landed: null, detail: null, reason: 'expired' as const }
  expect(stored({ ...failed, step: 'failed' }).order.link).toEqual(order.link)
})
