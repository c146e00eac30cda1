import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

const { PORT = '4600', WEBHOOK_SECRET = '', PAYDESK_URL = '', PAYDESK_KEY = '' } = process.env
const webhook = new Webhook(WEBHOOK_SECRET)

/** Your orders by their reference, with what each costs. */
const asset = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
const price = { network: 'eip155:31337', asset, amountAtomic: '10000000000000000' }
const orders = new Map([['order-17', price]])
/** The webhooks that were processed, and the payments that were delivered. Keep both in your database, written in the commit that processes the event. */
const processed = new Set<string>()
const delivered = new Set<string>()

/** Delivers what a payment bought. The event only names it: all else is what the service says of it now. */
async function deliver(paymentId: string): Promise<void> {
  const response = await fetch(`${PAYDESK_URL}/payment/status/${paymentId}`, {
    headers: { authorization: `Bearer ${PAYDESK_KEY}` },
  })
  if (!response.ok) throw new Error(`The status of ${paymentId} answered ${response.status}.`)
  const { status, direction, network, asset, amountAtomic, metadata, refundOf, refund } =
    await response.json()
  // A refund that you make is a payment too, with the reference of the original.
  const received = status === 'finalized' && direction === 'received' && refundOf === null
  const refunded = refund.state !== 'none' || refund.pendingAtomic !== '0'
  // Strangers may pay any amount of anything under your references.
  const reference = metadata?.referenceId
  const order = orders.get(reference)
  const fits =
    order?.network === network && order?.asset === asset && order?.amountAtomic === amountAtomic
  if (!received || refunded || !fits || delivered.has(paymentId)) return
  delivered.add(paymentId)
  console.log('deliver', reference, paymentId)
}

/** @returns the status of the answer */
async function receive(body: string, headers: Record<string, string>): Promise<number> {
  // The signature is over the bytes: verify before you parse.
  try {
    webhook.verify(body, headers)
  } catch {
    return 401
  }
  const id = headers['webhook-id'] ?? ''
  if (processed.has(id)) return 200
  const { type, data } = JSON.parse(body)
  try {
    // Nothing reverts a finalized payment.
    if (type === 'payment.finalized') await deliver(data.paymentId)
  } catch (error) {
    console.error(error)
    return 503 // The event comes again.
  }
  console.log(type, data?.paymentId, data?.amountAtomic)
  processed.add(id)
  return 200
}

createServer(async (request, response) => {
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
  // Anybody can send something here: a webhook has at most 1 MB, and says its length.
  if (!(Number(request.headers['content-length']) <= 1_000_000))
    return response.writeHead(413, { connection: 'close' }).end()
  try {
    response.writeHead(await receive(await text(request), Object.fromEntries(headers))).end()
  } catch {
    response.destroy() // The sender left before the end of the request.
  }
}).listen(Number(PORT), '127.0.0.1', () => console.log('listening'))
