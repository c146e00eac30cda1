import pg from 'pg'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { startProxyProcess } from '#testing/service-process.ts'
import { TestBrowser } from '#testing/test-browser.ts'
import { evmSigner } from '#testing/two-tenants.ts'
import { buildDraft, openDraftPayer } from './actions.ts'
import { QUICK, runBench } from './bench.ts'
import { openBenchFixture } from './fixture.ts'
import { compare } from './load.ts'
import { startPeer } from './peers/start.ts'

/** `npm run bench:bff`: a signed-in page of 20 payments through the proxy, beside http-proxy in front of the same service. */

const LOAD = { connections: 32, ms: QUICK ? 1_000 : 3_000, rounds: QUICK ? 6 : 12 }
const PAGE = 20
const ORIGIN = 'http://localhost:4173'

await runBench('bff', async (bench) => {
  await using fixture = await openBenchFixture()
  const { key, networks, payees, databaseUrl } = fixture
  for (let payment = 0; payment < PAGE; payment++)
    await buildDraft(fixture, 'ETH', await openDraftPayer(fixture, 'ETH'))
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(`update service.payment set status = 'finalized', draft = false`)
  await client.end()
  const operator = evmSigner(privateKeyToAccount(generatePrivateKey()))
  await using bff = await startProxyProcess({
    SERVICE_URL: fixture.service.url,
    SERVICE_API_KEY: key,
    DATABASE_URL: databaseUrl,
    NETWORKS: JSON.stringify(networks),
    ALLOWED_ORIGINS: ORIGIN,
    SELLER_WALLETS: Object.values(payees).join(','),
    OPERATOR_WALLETS: operator.address,
    LOG_LEVEL: 'info',
  })
  const browser = new TestBrowser(() => bff.url, ORIGIN)
  const answer = await browser.signIn(operator)
  if (answer.status !== 200) throw new Error(answer.text)
  await using peer = await startPeer('http-proxy', { TARGET: fixture.service.url, API_KEY: key })
  const path = `/payments?limit=${PAGE}`
  const found = await compare(
    {
      peer: {
        name: 'http-proxy',
        pid: peer.pid,
        next: () => ({ url: `${peer.url}${path}`, method: 'GET' as const }),
      },
      ours: {
        name: 'the proxy',
        pid: bff.pid,
        next: () => ({
          url: `${bff.url}/api${path}`,
          method: 'GET' as const,
          headers: browser.headers(),
        }),
      },
    },
    LOAD,
  )
  bench.add({
    name: `page of ${PAGE}, c=32, requests a second`,
    peer: found.perSecond.peer.p50,
    ours: found.perSecond.ours.p50,
    value: found.perSecond.ratio.p10,
    least: 1,
    unit: '×',
    note: 'the proxy merges equal reads of one second, http-proxy waits for the service each time',
  })
  bench.add({
    name: '… CPU of a request in the proxy, ms',
    peer: found.cpu.peer.p50,
    ours: found.cpu.ours.p50,
    value: found.cpu.ratio.p50,
    unit: '×',
  })
})
