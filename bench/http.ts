import { bodyOf, signAuthorization } from './actions.ts'
import { QUICK, runBench } from './bench.ts'
import { openBenchFixture } from './fixture.ts'
import { compare } from './load.ts'
import { startPeer } from './peers/start.ts'

/**
 * `npm run bench:http`: an authenticated JSON POST that is refused by its content, so that no chain
 * is asked: bearer, limit, schema, log and answer, beside the same work on Express.
 */

const LOAD = { connections: 32, ms: QUICK ? 1_000 : 3_000, rounds: QUICK ? 6 : 12 }

await runBench('http', async (bench) => {
  await using fixture = await openBenchFixture()
  const proof = await signAuthorization(fixture)
  const body = JSON.stringify(bodyOf(proof)).replaceAll(fixture.networks[0].network, 'eip155:999')
  const headers = { authorization: `Bearer ${fixture.key}` }
  await using peer = await startPeer('express', { API_KEY: fixture.key })
  const serverOf = (name: string, { url, pid }: { url: string; pid: number }) => ({
    name,
    pid,
    next: () => ({ url: `${url}/facilitator/verify`, method: 'POST' as const, headers, body }),
  })
  const found = await compare(
    { peer: serverOf('Express', peer), ours: serverOf('the service', fixture.service) },
    LOAD,
  )
  bench.add({
    name: 'authenticated JSON POST on Postgres, c=32, requests a second',
    peer: found.perSecond.peer.p50,
    ours: found.perSecond.ours.p50,
    value: found.perSecond.ratio.p10,
    least: 1,
    unit: '×',
  })
  bench.add({
    name: '… CPU of a request, ms',
    peer: found.cpu.peer.p50,
    ours: found.cpu.ours.p50,
    value: found.cpu.ratio.p50,
    unit: '×',
  })
})
