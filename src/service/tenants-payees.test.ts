import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { at, classOf } from '#testing/api-client.ts'
import {
  expectLedger,
  readHoldings,
  readRows,
  readStatus,
  type Baseline,
} from '#testing/tenant-ledger.ts'
import { proveMemo } from '#testing/proofs.ts'
import { buildOrder, paySolanaOrder, report, untilPaid } from '#testing/tenant-orders.ts'
import {
  atFacilitator,
  EVM_METHODS,
  makeProof,
  payeeOf,
  receive,
  settleAlone,
  SOLANA_METHODS,
  type Presented,
} from '#testing/tenant-proofs.ts'
import { openTenants, type Tenants } from '#testing/two-tenants.ts'

/**
 * A thief sees a buyer's proof, or reads a Solana payment's signature and memo from the chain, and presents it before its seller does: under the
 * key of another merchant, under a key of an account that owns nothing, and without a key. The seller's payee is owned: only its owner
 * consumes, and the buyer never reads that the payment was used.
 */

const REFUSED_HERE = 'FORBIDDEN payee_not_owned'
const REFUSED_THERE = 'REFUSED payee_not_owned'

let t: Tenants
let before: Baseline
let mining: NodeJS.Timeout

beforeAll(async () => {
  t = await openTenants({ solana: true })
  before = await readHoldings(t, t.a)
  mining = setInterval(() => void t.evm.mine().catch(() => undefined), 100)
})

afterAll(async () => {
  clearInterval(mining)
  await t?.[Symbol.asyncDispose]()
})

describe.each([...EVM_METHODS, ...SOLANA_METHODS])('%s', (method) => {
  let proof: Presented
  beforeEach(async () => {
    proof = await makeProof(t, { method, payTo: payeeOf(t.a, method) })
  })

  test('is not consumed by a stranger who is first, with a key or without; its buyer gets what was bought', async () => {
    const keyless = { api: t.keyless }
    const refused = await Promise.all([
      ...[t.b, t.c].map(async (tenant) => [
        classOf(await receive(tenant, proof)),
        classOf(await atFacilitator(tenant, 'settle', proof)),
      ]),
      (async () => [REFUSED_HERE, classOf(await atFacilitator(keyless, 'settle', proof))])(),
    ])
    expect(refused).toEqual([
      [REFUSED_HERE, REFUSED_THERE],
      [REFUSED_HERE, REFUSED_THERE],
      [REFUSED_HERE, REFUSED_THERE],
    ])
    expect((await receive(t.a, proof)).body).toMatchObject({
      verified: true,
      alreadyProcessed: false,
    })
    expect(await rowsOf(proof)).toEqual({ A: 1, B: 0, C: 0, operator: 0 })
  })

  test('is consumed by its seller, once, at whichever door', async () => {
    expect((await receive(t.a, proof)).body).toMatchObject({
      verified: true,
      alreadyProcessed: false,
    })
    expect((await receive(t.a, proof)).body).toMatchObject({
      verified: true,
      alreadyProcessed: true,
    })
    expect(classOf(await atFacilitator(t.a, 'settle', proof))).toBe('REFUSED already_used')
  })

  test('is neither verified nor settled by the hands of a stranger', async () => {
    expect(classOf(await atFacilitator(t.b, 'verify', proof))).toBe(REFUSED_THERE)
    // Tokens of Solana name a fee payer: the facilitator, not the payee.
    const elsewhere = method === 'solana token' ? ['INVALID_PAYMENT_PROOF fee_payer_mismatch'] : []
    expect([REFUSED_HERE, ...elsewhere]).toContain(classOf(await settleAlone(t.b, proof)))
    expect(classOf(await atFacilitator({ api: t.keyless }, 'verify', proof))).toBe(REFUSED_THERE)
    expect((await atFacilitator(t.b, 'settle', proof)).body).toMatchObject({
      success: false,
      errorReason: 'payee_not_owned',
      transaction: '',
    })
    expect(classOf(await atFacilitator(t.a, 'settle', proof))).toBe('ALLOWED')
  })

  test('in a race with strangers is granted to its seller, once', async () => {
    const [own, again, other, settled] = await Promise.all([
      receive(t.a, proof),
      receive(t.a, proof),
      receive(t.b, proof),
      atFacilitator({ api: t.keyless }, 'settle', proof),
    ])
    expect([classOf(other), classOf(settled)]).toEqual([REFUSED_HERE, REFUSED_THERE])
    const told = [own, again]
      .map(({ body }) => at(body, 'alreadyProcessed'))
      .toSorted((x, y) => Number(x) - Number(y))
    expect([at(own.body, 'verified'), at(again.body, 'verified'), ...told]).toEqual([
      true,
      true,
      false,
      true,
    ])
  })
})

test('an order on Solana is its payer’s by its memo: an equal one of another account stays unpaid, and its payment buys nothing there', async () => {
  const payer = await t.solana.payer()
  const terms = { from: payer.publicKey.toBase58(), to: payeeOf(t.a, 'solana txid'), amount: 0.02 }
  const planted = await buildOrder(t.b, terms)
  const own = await buildOrder(t.a, { ...terms, resource: 'https://shop.example/order' })
  const signature = await paySolanaOrder(t, payer, own)
  await report(t.b, planted, signature)
  await untilPaid(t, t.a, own)
  expect(at((await readStatus(t.b, planted.paymentId)).body, 'status')).not.toMatch(
    /confirmed|finalized/,
  )
  const [network, resource, memo] = [
    t.solana.network.network,
    'https://shop.example/other',
    own.paymentId,
  ]
  const money = { asset: t.solana.sol, amount: 0.02, atomic: 20_000_000n }
  const header = proveMemo(
    { network, payTo: terms.to, lamports: money.atomic, memo, url: resource },
    signature,
  )
  const proof: Presented = {
    method: 'solana txid',
    header,
    payTo: terms.to,
    network,
    resource,
    memo,
    ...money,
    extra: { assetTransferMethod: 'txid' },
  }
  expect([
    classOf(await receive(t.b, proof)),
    classOf(await atFacilitator({ api: t.keyless }, 'settle', proof)),
  ]).toEqual([REFUSED_HERE, REFUSED_THERE])
  expect(classOf(await receive(t.a, proof))).toMatch(
    /^INVALID_PAYMENT_PROOF (already_used|resource_mismatch)$/,
  )
})

test('the books of the seller are those of the chain', () => expectLedger(t, t.a, before))

/** How many payments of each account are about the transfer that a proof is of. */
async function rowsOf({
  payTo,
  atomic,
  asset,
  memo,
  method,
}: Presented): Promise<Record<string, number>> {
  const tenants = [t.a, t.b, t.c, t.operator]
  const counts = await Promise.all(
    tenants.map(async (tenant) =>
      (await readRows(tenant)).filter(
        (row) => row.recipient === payTo && row.asset === asset.address,
      ),
    ),
  )
  const own = counts[0]?.at(0)
  expect({ memo, method, atomic: own?.amount }).toMatchObject({ atomic })
  return Object.fromEntries(
    tenants.map(({ name }, index) => [
      name,
      (counts[index] ?? []).filter(({ signature }) => signature === own?.signature).length,
    ]),
  )
}
