import 'fake-indexeddb/auto'
import { openDB } from 'idb'
import { expect, test } from 'vitest'
import { openJournal } from './journal.ts'

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
