import { randomBytes } from 'node:crypto'
import { stdout } from 'node:process'
import { parseArgs } from 'node:util'
import { checksum, isApiKey } from '#contract/api-key-body.ts'
import { openDatabase } from '#postgres/open.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { authenticate } from '#service/keys/authenticate.ts'
import { createTestDatabase } from '#testing/postgres.ts'
import { createTestKey } from '#testing/service-app.ts'

/**
 * `npm run bench:keys`: whether the time that the service takes to refuse a key tells how much of it is right. Keys that differ from a valid one in their
 * first character are compared with keys that differ in their last one, in random order; Welch's t beyond 4.5 would be a difference.
 */

const { values } = parseArgs({ options: { samples: { type: 'string', default: '5000' } } })
const samples = Number(values.samples)
const PREFIX = 8
const SECRET = 40

await using database = await createTestDatabase('postgres')
await using opened = await openDatabase(database.target, SERVICE_SCHEMA)
const { key } = await createTestKey(opened.db)
const kinds = [PREFIX, PREFIX + SECRET - 1].map((at) => ({ at, times: new Array<number>() }))

for (let round = 0; round < samples + 500; round++)
  for (const kind of randomBytes(1).readUInt8() % 2 === 0 ? kinds : kinds.toReversed()) {
    const wrong = otherAt(kind.at)
    const from = performance.now()
    if (await authenticate(opened.db, wrong, new Date())) throw new Error('A wrong key passed.')
    const took = performance.now() - from
    if (round >= 500) kind.times.push(took)
  }

const [first = describe([]), last = describe([])] = kinds.map(({ times }) => describe(trim(times)))
const t = (first.mean - last.mean) / Math.sqrt(first.error + last.error)
stdout.write(
  `${JSON.stringify({ samples, firstWrongMs: first.mean, lastWrongMs: last.mean, welchT: t })}\n` +
    `${Math.abs(t) < 4.5 ? 'No difference is measured.' : 'A difference is measured.'} The key is compared by its SHA-256 (src/service/keys/hash-key.ts).\n`,
)

/** The valid key with another character at one place, and the checksum that makes it a key. */
function otherAt(at: number): string {
  const character = key.charAt(at) === 'A' ? 'B' : 'A'
  const body = `${key.slice(0, at)}${character}${key.slice(at + 1, PREFIX + SECRET)}`
  const wrong = `${body}${checksum(body)}`
  if (!isApiKey(wrong)) throw new Error('Expected a well-formed key.')
  return wrong
}

/** Without the slowest tenth: collections and the scheduler. */
function trim(times: readonly number[]): number[] {
  return times.toSorted((one, other) => one - other).slice(0, Math.floor(times.length * 0.9))
}

function describe(times: readonly number[]): { mean: number; error: number } {
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length
  const variance = times.reduce((sum, time) => sum + (time - mean) ** 2, 0) / (times.length - 1)
  return { mean, error: variance / times.length }
}
