import type { Presented } from '#testing/tenant-proofs.ts'
import { bodyOf, signAuthorization, verify } from './actions.ts'
import { QUICK, runBench, type Bench } from './bench.ts'
import { startCountingProxy } from './counting-proxy.ts'
import { openBenchFixture, type BenchFixture } from './fixture.ts'
import { compare } from './load.ts'
import { startOfficialPeer, type Peer } from './peers/start.ts'

/**
 * `npm run bench:verify`: an EIP-3009 payment on EVM at `/facilitator/verify`, beside the official
 * facilitator, on one chain, each behind a counting proxy; near the chain, and 25 ms away.
 */

const ROUNDS = QUICK ? 4 : 12
const MS = QUICK ? 1_500 : 4_000
const PROOFS = 32
const FAR_MS = 25

await runBench('verify', async (bench) => {
  await using fixture = await openBenchFixture()
  await using rpc = await startCountingProxy(fixture.evm.rpcUrl)
  await using peer = await startOfficialPeer(fixture, rpc.url)
  const proofs = await Promise.all(Array.from({ length: PROOFS }, () => signAuthorization(fixture)))
  for (const proof of proofs) await verify(fixture.api, proof)
  const side = { fixture, peer, rpc, proofs }
  await measure(bench, side, 32)
  rpc.delayMs = fixture.rpc.evm.delayMs = FAR_MS
  await measure(bench, side, 1)
})

type Sides = {
  fixture: BenchFixture
  peer: Peer
  rpc: Awaited<ReturnType<typeof startCountingProxy>>
  proofs: readonly Presented[]
}

async function measure(
  bench: Bench,
  { fixture, peer, rpc, proofs }: Sides,
  connections: number,
): Promise<void> {
  const bodies = proofs.map((proof) => JSON.stringify(bodyOf(proof)))
  let place = 0
  const serverOf = (name: string, url: string, pid: number) => ({
    name,
    pid,
    next: () => ({
      url,
      method: 'POST' as const,
      headers: { authorization: `Bearer ${fixture.key}` },
      body: bodies[place++ % bodies.length] ?? '',
    }),
  })
  // The monitor's calls of the service are part of its count: they are few beside these.
  rpc.take()
  fixture.rpc.evm.take()
  const started = place
  const found = await compare(
    {
      peer: serverOf('the official facilitator', `${peer.url}/verify`, peer.pid),
      ours: serverOf(
        'the service',
        `${fixture.service.url}/facilitator/verify`,
        fixture.service.pid,
      ),
    },
    { connections, ms: MS, rounds: ROUNDS },
  )
  const far = rpc.delayMs > 0
  if (far) {
    bench.add({
      name: `verify at +${rpc.delayMs} ms, c=${connections}, p50 in ms`,
      peer: found.p50.peer.p50,
      ours: found.p50.ours.p50,
      value: found.p50.ratio.p90,
      most: 0.4,
      unit: '×',
    })
    return
  }
  bench.add({
    name: `verify, c=${connections}, requests a second`,
    peer: found.perSecond.peer.p50,
    ours: found.perSecond.ours.p50,
    value: found.perSecond.ratio.p10,
    least: 10,
    unit: '×',
  })
  bench.add({
    name: '… CPU of a request, ms',
    peer: found.cpu.peer.p50,
    ours: found.cpu.ours.p50,
    value: found.cpu.ratio.p90,
    most: 0.1,
    unit: '×',
  })
  // Warm-up and rounds of both: their shares are those of the requests.
  const all = place - started
  const share = found.requests.ours.p50 / (found.requests.ours.p50 + found.requests.peer.p50)
  const each = fixture.rpc.evm.take().requests / (all * share)
  bench.add({
    name: '… RPC requests each (about)',
    peer: rpc.take().requests / (all * (1 - share)),
    ours: each,
    value: each,
    most: 1.1,
    unit: '',
  })
}
