import { serve } from '@hono/node-server'
import { Hono } from 'hono'

const { PAYDESK_URL = '', PAYDESK_KEY = '', PAY_TO = '', PORT } = process.env
const native = '11111111111111111111111111111111'
const price = {
  scheme: 'exact',
  network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  amount: '10000000',
  asset: native,
  payTo: PAY_TO,
  maxTimeoutSeconds: 300,
}
const extra = { assetTransferMethod: 'txid', paymentFlow: 'upfront' }
// The memo of each order. Everybody reads memos on the chain, so none may reveal its order.
const orders = new Map<string, string>()

const app = new Hono().get('/article', async (c) => {
  const paymentProof = c.req.header('PAYMENT-SIGNATURE')
  const paid = paymentProof === undefined ? {} : JSON.parse(atob(paymentProof))
  const order = paid.resource?.url
  if (!orders.has(order)) {
    const resource = { url: `${c.req.url}?order=${crypto.randomUUID()}` }
    const memo = crypto.randomUUID()
    const accepts = [{ ...price, extra: { ...extra, memo } }]
    orders.set(resource.url, memo)
    c.header(
      'PAYMENT-REQUIRED',
      btoa(JSON.stringify({ x402Version: 2, error: 'Payment required', resource, accepts })),
    )
    return c.json({}, 402)
  }
  const headers = { authorization: `Bearer ${PAYDESK_KEY}`, 'content-type': 'application/json' }
  const body = JSON.stringify({
    network: price.network,
    walletAddress: PAY_TO,
    paymentProof,
    expectedAmount: 0.01,
    assetTransferMethod: 'txid',
    resource: order,
    memo: orders.get(order),
  })
  const answer = await fetch(`${PAYDESK_URL}/payment/receive`, { method: 'POST', headers, body })
  const { verified, status, error } = await answer.json()
  // 202: on its way, 502: nobody knows yet. Either way the buyer sends the same header again, and is never charged twice.
  // Of all who present a payment, one is served: an order is removed when it is.
  return verified && orders.delete(order)
    ? c.text('The article.', 200, { 'cache-control': 'private, no-store' })
    : new Response(JSON.stringify({ status, error }), { status: answer.status })
})

serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' })
