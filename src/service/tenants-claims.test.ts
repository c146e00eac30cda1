import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { at, classOf, succeed } from '#testing/api-client.ts'
import {
  expectLedger,
  isConfirmedRow,
  readHoldings,
  readRows,
  readStatus,
  type Baseline,
} from '#testing/tenant-ledger.ts'
import {
  buildOrder,
  payOrder,
  report,
  untilPaid,
  untilUnmatched,
  WALLET_FEES,
  type TenantOrder,
} from '#testing/tenant-orders.ts'
import {
  atFacilitator,
  payPlain,
  proveSent,
  receive,
  type Presented,
} from '#testing/tenant-proofs.ts'
import { openTenants, type Tenants } from '#testing/two-tenants.ts'

/** A buyer who pays once and wants two things for it: an order and a resource, or two resources, through every pair of doors. */

const [FIRST, SECOND] = ['https://shop.example/first', 'https://shop.example/second'] as const

let t: Tenants
let before: Baseline
let mining: NodeJS.Timeout

beforeAll(async () => {
  t = await openTenants()
  before = await readHoldings(t, t.a)
  mining = setInterval(() => void t.evm.mine().catch(() => undefined), 100)
})

afterAll(async () => {
  clearInterval(mining)
  await t?.[Symbol.asyncDispose]()
})

type Bare = {
  payer: PrivateKeyAccount
  hash: string
  proofFor: (resource: string) => Promise<Presented>
}
type Sent = Bare & { order: TenantOrder }

const AMOUNT = { whole: 0.01, atomic: 10n ** 16n }

/** The buyer pays an order of A's; `resource`: what the order is for. */
async function payFor(
  resource?: string,
  changes: Parameters<typeof payOrder>[3] = {},
): Promise<Sent> {
  const payer = await t.payer()
  const terms = {
    from: payer.address,
    to: t.a.payout.evm.address,
    amount: AMOUNT.whole,
    ...(resource !== undefined && { resource }),
  }
  const order = await buildOrder(t.a, terms)
  return { order, ...provable(payer, await payOrder(t, payer, order, changes)) }
}

/** The buyer pays, and there is no order. */
async function payBare(): Promise<Bare> {
  const payer = await t.payer()
  return provable(
    payer,
    await payPlain(t, payer, { to: t.a.payout.evm.address, value: AMOUNT.atomic }),
  )
}

function provable(payer: PrivateKeyAccount, hash: string): Bare {
  const terms = { method: 'evm txid' as const, payTo: t.a.payout.evm.address }
  return {
    payer,
    hash,
    proofFor: (resource) =>
      proveSent(t, { ...terms, resource }, { payer, hash, atomic: AMOUNT.atomic }),
  }
}

/** What gives a payment to an order, each another door. */
const ORDER_DOORS = {
  'the monitor': async (resource: string | undefined) => {
    const sent = await payFor(resource)
    await untilPaid(t, t.a, sent.order)
    return sent
  },
  'a report': async (resource: string | undefined) => {
    const sent = await payFor(resource)
    expect((await report(t.a, sent.order, sent.hash)).status).toBe(200)
    await untilPaid(t, t.a, sent.order)
    return sent
  },
  'a manual assignment': async (resource: string | undefined) => {
    const sent = await payFor(resource, WALLET_FEES)
    const { transferId } = await untilUnmatched(t, t.a, sent.hash)
    succeed(
      await t.a.api.post(`/unmatched/${transferId}/assign`, {
        paymentId: sent.order.paymentId,
        by: 'Ada',
        note: 'She called.',
      }),
    )
    return sent
  },
} as const

const PROOF_DOORS = {
  '/payment/receive': async (proof: Presented) => classOf(await receive(t.a, proof)),
  '/facilitator/settle': async (proof: Presented) =>
    classOf(await atFacilitator(t.a, 'settle', proof)),
} as const

const USED = ['already_used', 'resource_mismatch'].flatMap((reason) => [
  `INVALID_PAYMENT_PROOF ${reason}`,
  `REFUSED ${reason}`,
])
const doors = <T extends object>(table: T) => Object.entries(table) as [string, T[keyof T]][]

describe.each(doors(ORDER_DOORS))('a payment that %s gave to an order', (_, pay) => {
  test.each(doors(PROOF_DOORS))('buys no resource beside it at %s', async (_door, present) => {
    const [unnamed, named] = await Promise.all([pay(undefined), pay(FIRST)])
    for (const sent of [unnamed, named]) {
      expect(USED).toContain(await present(await sent.proofFor(SECOND)))
      expect(await paidRows(sent.hash)).toBeLessThanOrEqual(1)
    }
  })
})

describe.each(doors(PROOF_DOORS))('a payment that bought a resource at %s', (_, first) => {
  test.each(doors(PROOF_DOORS))('buys no other one at %s', async (_door, second) => {
    const sent = await payBare()
    expect(await first(await sent.proofFor(FIRST))).toBe('ALLOWED')
    expect(USED).toContain(await second(await sent.proofFor(SECOND)))
    expect(await paidRows(sent.hash)).toBe(1)
  })

  test('does not confirm an order beside it: one of the two, however they race', async () => {
    const rounds = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const sent = await payFor()
        const [granted] = await Promise.all([
          first(await sent.proofFor(SECOND)),
          report(t.a, sent.order, sent.hash),
        ])
        return { sent, granted }
      }),
    )
    await settleOrders()
    for (const { sent, granted } of rounds) {
      const paid = isConfirmedRow({
        status: String(at((await readStatus(t.a, sent.order.paymentId)).body, 'status')),
      })
      expect(
        [granted === 'ALLOWED', paid].filter(Boolean),
        `${granted}, and the order is ${paid ? '' : 'not '}paid`,
      ).toHaveLength(1)
      expect(await paidRows(sent.hash)).toBe(1)
    }
  })
})

test.each([
  ['the very resource of the order', FIRST, FIRST],
  ['its resource, where the question names none', FIRST, undefined],
])('a proof for %s is that order', async (_, resource, asked) => {
  const sent = await payFor(resource)
  await untilPaid(t, t.a, sent.order)
  const proof = await sent.proofFor(FIRST)
  const reply = await receive(t.a, proof, { resource: asked })
  expect(reply.body).toMatchObject({ verified: true, paymentId: sent.order.paymentId })
  expect(await paidRows(sent.hash)).toBe(1)
})

test('a payment of an order without a resource buys none, where the question names none', async () => {
  const sent = await payFor(undefined)
  await untilPaid(t, t.a, sent.order)
  expect(classOf(await receive(t.a, await sent.proofFor(SECOND), { resource: undefined }))).toBe(
    'INVALID_PAYMENT_PROOF already_used',
  )
  expect(await paidRows(sent.hash)).toBe(1)
})

test('the books of the merchant are those of the chain', () => expectLedger(t, t.a, before))

/** A payment made after all others is found: the monitor has looked at those. */
async function settleOrders(): Promise<void> {
  const sent = await payFor()
  await untilPaid(t, t.a, sent.order)
}

async function paidRows(hash: string): Promise<number> {
  return (await readRows(t.a)).filter((row) => row.signature === hash && isConfirmedRow(row)).length
}
