import { bodyOf, settle, signAuthorization } from './actions.ts'
import { runBench } from './bench.ts'
import { startCountingProxy } from './counting-proxy.ts'
import { openBenchFixture } from './fixture.ts'
import { startOfficialPeer } from './peers/start.ts'

/** `npm run bench:settle`: 64 payments settled at once with one key, beside the official facilitator, with blocks of a second. */

const AT_ONCE = 64
/** How long the peer is waited for: some of its calls never end. */
const PATIENCE_MS = 100_000

await runBench('settle', async (bench) => {
  await using fixture = await openBenchFixture()
  await using rpc = await startCountingProxy(fixture.evm.rpcUrl)
  await using peer = await startOfficialPeer(fixture, rpc.url)
  const sign = () => Promise.all(Array.from({ length: AT_ONCE }, () => signAuthorization(fixture)))
  const proofs = await sign()
  fixture.rpc.evm.take()
  const started = performance.now()
  const settled = await Promise.all(proofs.map((proof) => settle(fixture.api, proof)))
  const ms = performance.now() - started
  const ours = settled.filter(Boolean).length
  const asked = fixture.rpc.evm.take()

  const theirProofs = await sign()
  const theirs = await Promise.all(
    theirProofs.map(async (proof) => {
      try {
        const answer = await fetch(`${peer.url}/settle`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(bodyOf(proof)),
          signal: AbortSignal.timeout(PATIENCE_MS),
        })
        const body: unknown = await answer.json()
        return typeof body === 'object' && body !== null && Reflect.get(body, 'success') === true
      } catch {
        return false
      }
    }),
  )
  const succeeded = theirs.filter(Boolean).length
  const theirCalls = rpc.take()
  bench.add({
    name: `settled of ${AT_ONCE} at once`,
    peer: succeeded,
    ours,
    value: ours,
    least: AT_ONCE,
    unit: '',
  })
  bench.add({
    name: '… RPC requests each',
    peer: theirCalls.requests / AT_ONCE,
    ours: asked.requests / AT_ONCE,
    value: asked.requests / AT_ONCE,
    most: 1.3,
    unit: '',
  })
  bench.add({
    name: '… seconds until all',
    ours: ms / 1_000,
    value: ms / 1_000,
    most: 3,
    unit: 's',
  })
})
