import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { preparePayers, runPurchases, type ClientName } from './purchase-run.ts'
import { openPurchaseShop, type PurchaseShop } from './purchase-shop.ts'

/** The short form of `npm run chaos:purchases`. */

const PURCHASES = 8

let shop: PurchaseShop
let payers: Awaited<ReturnType<typeof preparePayers>>

beforeAll(async () => {
  shop = await openPurchaseShop(7)
  payers = await preparePayers(shop)
})

afterAll(() => shop?.[Symbol.asyncDispose]())

describe('while RPC endpoints fail, what a buyer was charged is delivered or refundable, and never charged twice', () => {
  test.each<ClientName>(['@x402/fetch', 'x402-fetch'])('%s', async (client) => {
    const report = await runPurchases(shop, { client, count: PURCHASES, payers })
    expect(report).toMatchObject({
      purchases: PURCHASES,
      charged: report.delivered + report.refundable,
      chargedTwice: 0,
      lost: 0,
      unpaid: 0,
      listedWrongly: 0,
    })
    expect(report.charged).toBeGreaterThan(0)
  })
})
