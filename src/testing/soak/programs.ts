import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { event } from '#service/db/schema/payment.ts'
import { openHarness, type Till } from '../chaos/harness.ts'
import { ORIGIN } from '../fixture.ts'
import { createTestDatabase, databaseVariables } from '../postgres.ts'
import { startProxyProcess, startServiceProcess } from '../service-process.ts'
import type { SoakSample } from './measured.ts'

export const PROGRAMS = ['service', 'bff'] as const
export type ProgramName = (typeof PROGRAMS)[number]

export type SoakPrograms = AsyncDisposable & {
  service: string
  proxy: string
  key: string
  /** Managed wallets with money on both chains. */
  tills: readonly Till[]
  /** How many events the service has recorded. */
  countEvents: () => Promise<number>
  measure: (program: ProgramName) => Promise<SoakSample>
  /** Writes the program's heap to a file. */
  writeSnapshot: (program: ProgramName) => Promise<string>
}

const MEASURED = fileURLToPath(new URL('measured.ts', import.meta.url))

/**
 * Service and proxy, each a process as an operator starts it, so that nothing of the tests is in the memory that is measured. Both chains, the
 * database and the service's signer are other processes.
 */
export async function openPrograms(snapshotFolder: string | undefined): Promise<SoakPrograms> {
  await using stack = new AsyncDisposableStack()
  const folder = snapshotFolder ?? mkdtempSync(join(tmpdir(), 'paydesk-soak-'))
  if (snapshotFolder === undefined)
    stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const { db, env, key, tills } = stack.use(await openHarness())
  const database = stack.use(await createTestDatabase('postgres'))
  if (!('url' in database.target)) throw new Error('Expected a server.')
  const measured = { NODE_OPTIONS: `--import=${MEASURED}`, SOAK_FOLDER: folder }
  const service = stack.use(await startServiceProcess({ ...env, ...measured }))
  const proxy = stack.use(
    await startProxyProcess({
      ...measured,
      ...databaseVariables(database.target),
      NETWORKS: env['NETWORKS'] ?? '',
      SERVICE_URL: service.url,
      SERVICE_API_KEY: key,
      ALLOWED_ORIGINS: ORIGIN,
      SELLER_WALLETS: tills.map(({ payee }) => payee).join(),
      TRUSTED_PROXY_HOPS: '1',
    }),
  )
  const get = (program: ProgramName, path: string) =>
    new Promise<string>((resolve, reject) => {
      const socketPath = join(folder, `${program}.sock`)
      request({ socketPath, path, agent: false }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => (text += part))
        response.once('end', () => resolve(text))
      })
        .once('error', reject)
        .end()
    })
  const opened = stack.move()
  return {
    service: service.url,
    proxy: proxy.url,
    key,
    tills,
    countEvents: () => db.$count(event),
    measure: async (program) => JSON.parse(await get(program, '/')),
    writeSnapshot: (program) => get(program, '/snapshot'),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
