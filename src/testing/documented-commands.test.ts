import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '#postgres/open.ts'
import { parseCommandLine } from '#service/admin/command-line.ts'
import { findCommand } from '#service/admin/run.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { openTestSigner } from './test-signer.ts'
import { createTestDatabase } from './postgres.ts'

/** Every admin command of docs/OPERATIONS.md, run in its order; `acc_…`, `key_…` and `0x…` mean what an earlier command made, and a wallet of that account. */

const ADMIN = /^ *(?:npm run admin --|docker compose .*src\/service\/admin\/main\.ts) (.+)$/gm

test('the admin commands of the document work as they are', async () => {
  const document = readFileSync(new URL('../../docs/OPERATIONS.md', import.meta.url), 'utf8')
  const commands = [...document.matchAll(ADMIN)]
    .map(([, command = '']) => command)
    .filter((command) => command !== '--help')
  expect(commands.length).toBeGreaterThan(15)

  await using database = await createTestDatabase('pglite', 'service')
  await using opened = await openDatabase(database.target, SERVICE_SCHEMA)
  const signer = openTestSigner()
  onTestFinished(() => signer[Symbol.asyncDispose]())
  const made = { account: '', key: '', accounts: 0 }
  for (const command of commands) {
    const filled = command
      .replaceAll('acc_…', made.account)
      .replaceAll('key_…', made.key)
      .replaceAll('0x…', `0x${'a'.repeat(39)}${made.accounts}`)
    const line = parseCommandLine(words(filled))
    const found = findCommand(line)
    // backup.test.ts runs those that work on a closed database.
    if ('runClosed' in found) continue
    const { value } = await found.run(
      { db: opened.db, signer: () => Promise.resolve(signer), now: new Date() },
      line.values,
    )
    const id = typeof value === 'object' && value !== null && 'id' in value ? String(value.id) : ''
    if (line.command === 'account create')
      Object.assign(made, { account: id, accounts: made.accounts + 1 })
    if (line.command === 'key create') made.key = id
  }
})

/** As a shell splits them; quotes only around whole words. */
function words(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
}
