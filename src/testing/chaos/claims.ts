import { count, eq } from 'drizzle-orm'
import { claim } from '#service/db/schema/proof.ts'
import { ApiClient } from '../api-client.ts'
import { alter, withHighS } from '../proofs.ts'
import { startServiceProcess } from '../service-process.ts'
import { EVM_METHODS, HOLDER_METHODS, SOLANA_METHODS, type Presented } from '../tenant-proofs.ts'
import { pause, runCommand } from './command.ts'
import { openFaultHarness } from './fault-harness.ts'
import { openPremiumAccount } from './harness.ts'
import { present, type SettledProof } from './load.ts'
import { checkProofs, checkRunning } from './measure.ts'
import type { SeededRng } from './rng.ts'

/**
 * Proofs of every method, each presented many times at once to four service processes on one Postgres: as it was
 * made, and as others can write it without the payer's key, at `/payment/receive` and at
 * `/facilitator/settle`, by the merchant and by another account. Every proof buys one thing. A round
 * is 9 proofs, 32 presentations each; with 17 rounds in the long form, 200 presentations each.
 */
const PROCESSES = 4
const SHORT_AT_ONCE = 8
const LONG_AT_ONCE = 50
const METHODS = [...EVM_METHODS, ...HOLDER_METHODS, ...SOLANA_METHODS]
const PAUSE_MS = 150

type Spelling = (header: string) => string
/** The same payment, written otherwise. */
const SPELLINGS: readonly Spelling[] = [
  (header) => header,
  (header) => (signatureOf(header).startsWith('0x') ? withHighS(header) : header),
  // The recovery byte as 0 and 1.
  (header) =>
    payloadOf(header, ({ signature, ...rest }) => ({
      ...rest,
      signature: String(signature).replace(/1b$/, '00').replace(/1c$/, '01'),
    })),
  (header) =>
    payloadOf(header, (payload) =>
      JSON.parse(
        JSON.stringify(payload).replaceAll(
          /"(txRef|nonce)":"0x([0-9a-f]+)"/g,
          (_, field: string, digits: string) => `"${field}":"0x${digits.toUpperCase()}"`,
        ),
      ),
    ),
  (header) => payloadOf(header, (payload) => ({ ...payload, unknown: 'field' })),
  (header) => header.replaceAll('=', ''),
  // The payload in the envelope of version 1.
  (header) =>
    alter(header, ({ accepted, payload }) => ({
      x402Version: 1,
      scheme: 'exact',
      network: accepted.network,
      payload,
    })),
  // Base64 without its padding, or with an unused bit set.
  (header) =>
    payloadOf(header, ({ transaction, ...rest }) => ({
      ...rest,
      ...(typeof transaction === 'string' && { transaction: respell(transaction) }),
    })),
]

await runCommand('chaos:claims', { short: 1, long: 17 }, async ({ rounds, rng, measure }) => {
  const atOnce = rounds === 1 ? SHORT_AT_ONCE : LONG_AT_ONCE
  await using harness = await openFaultHarness({ rng })
  await using stack = new AsyncDisposableStack()
  const services = await Promise.all(
    Array.from({ length: PROCESSES }, () => startServiceProcess(harness.env)),
  )
  for (const service of services) stack.use(service)
  const other = await openPremiumAccount(harness.db)
  const settled: SettledProof[] = []
  const told = { granted: 0, again: 0, refused: 0, stranger: 0 }

  for (let round = 0; round < rounds; round++) {
    const proofs = await Promise.all(
      METHODS.map(async (method) => {
        const payTo = await harness.openPayee(method.startsWith('evm') ? 'evm' : 'solana')
        return harness.prove({ method, payTo, validSeconds: 1_800 })
      }),
    )
    const works = proofs.flatMap((proof) => {
      const result: SettledProof = { proof, grants: 0, cutOff: 0, refusal: undefined }
      settled.push(result)
      return services.flatMap(({ url }) =>
        Array.from({ length: atOnce }, async (_, index) => {
          const stranger = index % 8 === 7
          const api = new ApiClient(url, stranger ? other.key : harness.key)
          // The first two are as the payer made them: one of them must be granted.
          const written = index < 2 ? proof : respelled(proof, rng)
          const decided = await untilDecided(api, written, index % 2 === 1)
          if (decided === 'granted') {
            result.grants++
            told.granted++
            if (stranger) told.stranger++
          } else if (decided === 'told before') told.again++
          else told.refused++
        }),
      )
    })
    await Promise.all(works)
  }
  const all = rounds * METHODS.length
  const presented = all * PROCESSES * atOnce
  measure('presentations', presented, `${all} proofs × ${PROCESSES} processes × ${atOnce}`, true)
  measure('grants', told.granted, `exactly ${all}`, told.granted === all)
  measure('grants to another account', told.stranger, '0', told.stranger === 0)
  const [claims] = await harness.db
    .select({ all: count() })
    .from(claim)
    .where(eq(claim.attempt, 'granted'))
  measure('granted claims', claims?.all ?? 0, `exactly ${all}`, claims?.all === all)
  console.log(
    `told again: ${told.again}; refused as another spelling, or to another account: ${told.refused}`,
  )
  await checkRunning(measure, services)
  await checkProofs(measure, harness, { settled })
})

async function untilDecided(api: ApiClient, proof: Presented, atFacilitator: boolean) {
  for (;;) {
    // So many at once are more connections than the service takes from one address.
    const decided = await present(api, proof, atFacilitator).catch(() => 'undecided' as const)
    if (decided !== 'undecided') return decided
    await pause(PAUSE_MS)
  }
}

function respelled(proof: Presented, rng: SeededRng): Presented {
  return { ...proof, header: rng.pick(SPELLINGS)(proof.header) }
}

type Payload = Record<string, unknown>

function payloadOf(header: string, change: (payload: Payload) => Payload): string {
  return alter(header, (value) => ({ ...value, payload: change(value.payload) }))
}

function signatureOf(header: string): string {
  let found = ''
  alter(header, ({ payload }) => {
    found = String(payload.signature ?? '')
    return {}
  })
  return found
}

function respell(base64: string): string {
  return base64.endsWith('=') ? base64.replaceAll('=', '') : `${base64}\n`
}
