import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '#postgres/open.ts'
import { deployment } from '#service/db/schema/wallet.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { createTestDatabase } from './postgres.ts'

test('databases that a test uses together are of different deployments, whatever others are made between', async () => {
  const ids: string[] = []
  for (let made = 0; made < 4; made++) {
    const database = await createTestDatabase('postgres', 'service')
    onTestFinished(() => database[Symbol.asyncDispose]())
    const opened = await openDatabase(database.target, SERVICE_SCHEMA)
    onTestFinished(() => opened[Symbol.asyncDispose]())
    const [row] = await opened.db.select().from(deployment)
    ids.push(row?.id ?? '')
    for (let other = 0; other < 3; other++) {
      const proxy = await createTestDatabase('postgres', 'bff')
      onTestFinished(() => proxy[Symbol.asyncDispose]())
    }
  }
  expect(new Set(ids).size).toBe(4)
})
