import { createHmac, randomUUID } from 'node:crypto'
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
// The name of an order is signed with PAYDESK_KEY: it is valid after a restart, but not with another key.
const codeOf = (text: string) => createHmac('sha256', PAYDESK_KEY).update(text).digest('base64url')
// Everybody reads memos on the chain, so the memo of an order must not reveal it.
const memoOf = (order: string) => codeOf(`memo ${order}`)

const app = new Hono().get('/article', async (c) => {
  const paymentProof = c.req.header('PAYMENT-SIGNATURE')
  const paid = paymentProof === undefined ? {} : JSON.parse(atob(paymentProof))
  const order = paid.resource?.url
  const [named, code] = String(order).split('&code=')
  if (code !== codeOf(`${c.req.path} ${named}`)) {
    const url = new URL(`?order=${randomUUID()}`, c.req.url).href
    const resource = { url: `${url}&code=${codeOf(`${c.req.path} ${url}`)}` }
    const accepts = [{ ...price, extra: { ...extra, memo: memoOf(resource.url) } }]
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
    memo: memoOf(order),
  })
  const answer = await fetch(`${PAYDESK_URL}/payment/receive`, { method: 'POST', headers, body })
  const { verified, alreadyProcessed, status, error } = await answer.json()
  // 202: on its way, 502: nobody knows yet. Either way the buyer sends the same header again, and is never charged twice.
  if (!verified) return new Response(JSON.stringify({ status, error }), { status: answer.status })
  // Of all who present a payment one is served, and nobody after a refund.
  if (alreadyProcessed) return c.json({ error: 'This payment was served or refunded before.' }, 409)
  return c.text('The article.', 200, { 'cache-control': 'private, no-store' })
})

serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' })
