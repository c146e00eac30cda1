import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endpoints } from '#contract/endpoints.ts'
import { startEvm, startSolana } from '#testing/local-chains.ts'
import { createTestDatabase, ENGINES } from '#testing/postgres.ts'
import { createTestKey } from '#testing/service-app.ts'
import { toConfig } from '../context/config.ts'
import { createService, type RunningService } from '../service.ts'
import { createWallet } from '../wallets/create-wallet.ts'
import { lines, runLines, type LineResult, formatReport } from './lines.ts'
import { limitLines } from './lines/limits.ts'
import { manualLines } from './lines/manual.ts'
import { createProbe } from './lines/probe.ts'
import { OTHER_EVM_ADDRESS } from './lines/line.ts'

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url))

/** What this service answers at all; a line about another endpoint fails, and is expected to. */
const mounted = new Set(Object.values(endpoints).map(({ method, path }) => `${method} ${path}`))

describe.each(ENGINES)('the service on %s', (engine) => {
  const stack = new AsyncDisposableStack()
  let service: RunningService
  let results: Map<string, LineResult>

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'paydesk-conformance-'))
    stack.defer(() => rmSync(folder, { recursive: true, force: true }))
    const { target } = stack.use(await createTestDatabase(engine, 'service'))
    const evm = stack.use(await startEvm({ slotsInEpoch: 32 }))
    const solana = stack.use(await startSolana({ slotTimeMs: 100 }))
    const wallet = await evm.wallet(10n ** 18n)
    const env = {
      PORT: '0',
      NETWORKS: JSON.stringify([evm.network, solana.network]),
      LOG_LEVEL: 'silent',
      DATA_DIR: folder,
    }
    service = stack.use(await createService({ ...toConfig(env), database: target }))
    const { key, accountId } = await createTestKey(service.context.db)
    const managed = await createWallet(
      { db: service.context.db, signer: service.context.signer, now: new Date() },
      { accountId, family: 'evm', name: 'conformance' },
    )
    await evm.client.setBalance({ address: managed.address as Hex, value: 10n ** 18n })
    await evm.client.setIntervalMining({ interval: 1 })
    const facts = {
      wallet: wallet.address,
      managedWallet: managed.address,
      recipient: OTHER_EVM_ADDRESS,
    }
    // The smaller plan's quota is used up sooner than it refills, however busy the machine is.
    const standard = await createTestKey(service.context.db, { plan: 'standard' })
    const others = lines.filter((line) => !limitLines.includes(line))
    const answered = [
      ...(await runLines(others, createProbe(service.url, key), facts)),
      ...(await runLines(limitLines, createProbe(service.url, standard.key), facts)),
    ]
    results = new Map(answered.map((result) => [result.id, result]))
  })
  afterAll(() => stack.disposeAsync())

  test.each(lines)('$id: $requirement', ({ id, endpoint }) => {
    const result = results.get(id)
    if (!result) throw new Error('This line was not run.')
    const expected = mounted.has(endpoint) ? ['pass', 'not asked'] : ['fail', 'not asked']
    expect(expected, formatReport([result])).toContain(result.verdict)
  })

  test('every line was asked, but for those that no request decides, and the proof of a hosted payment that has none yet', () => {
    const unasked = new Set(manualLines.map(({ id }) => id))
    const left = [...results.values()]
      .filter(({ id, verdict }) => verdict === 'not asked' && !unasked.has(id))
      .map(({ id, got }) => `${id}: ${got}`)
    expect(['', '4 hosted receive: the hosted payment has no proof yet']).toContain(left.join())
    for (const id of unasked)
      expect(results.get(id)).toMatchObject({
        verdict: 'not asked',
        got: expect.stringMatching(/\w/),
      })
  })
})

test('each line has a unique name, and the document lists them all', async () => {
  expect(new Set(lines.map(({ id }) => id)).size).toBe(lines.length)
  const byEndpoint = Map.groupBy(lines, ({ endpoint }) => endpoint)
  const list = [...byEndpoint].map(
    ([endpoint, own]) =>
      `## ${endpoint}\n\n${own.map(({ id, requirement }) => `- \`${id}\`: ${requirement}.`).join('\n')}\n`,
  )
  await expect(`${INTRODUCTION}\n${list.join('\n')}`).toMatchFileSnapshot('../CONFORMANCE.md')
})

test('the program ends with 1 when a line fails, with 2 when it is called wrongly, and tells how it is called', async () => {
  const away = await run('--base-url', 'http://127.0.0.1:2', '--api-key', 'pk_test_x')
  expect([away.code, away.err]).toEqual([1, ''])
  expect(away.out).toMatch(
    /FAIL {2}5 key invalid: A key that is none is refused\n {6}request .*\n {6}expected .*\n {6}got .*ECONNREFUSED/,
  )
  expect(away.out).toMatch(/\n\n0 passed, \d+ failed, \d+ not asked\n$/)
  expect(await run('--base-url', 'nowhere')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^Expected --base-url <url> and --api-key <key>\./),
  })
  expect(await run('--help')).toMatchObject({
    code: 0,
    out: expect.stringContaining('--managed-wallet'),
  })
})

function run(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    const said = { out: '', err: '' }
    child.stdout.on('data', (text: Buffer) => (said.out += String(text)))
    child.stderr.on('data', (text: Buffer) => (said.err += String(text)))
    child.once('close', (code) => resolve({ code, ...said }))
  })
}

const INTRODUCTION = `# What the specification says, line by line

Every line of the payment service's specification, in our own words. \`npm run conformance -- --base-url … --api-key …\` asks a running service each
of them and prints a table of requests, expectations and answers; of a line that HTTP alone cannot show it says why it is not asked, and \`--help\`
tells the options. In \`service/conformance/conformance.test.ts\` each line is a test of the same name against the real service, on both databases.

This file is written by that test: after a change run it once with \`--update\`.

What HTTP alone cannot show is held elsewhere: that a transaction is found or given up after its last block height in
\`service/monitor/evm.test.ts\` and \`service/monitor/solana.test.ts\`, what it contains in \`service/payments/build-evm.test.ts\` and
\`service/payments/build-solana.test.ts\`, facilitators that hang or lie in \`service/settlement/remote.test.ts\`, the exact quotas of the plans in
\`service/limits/limits.test.ts\`, rotation with a grace in \`service/keys/keys.test.ts\`.
`
