import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

const { PORT = '4600', WEBHOOK_SECRET = '' } = process.env
const webhook = new Webhook(WEBHOOK_SECRET)

/** The ids that were processed. Keep them in your database, each written in the commit that processes its event. */
const processed = new Set<string>()

/** @returns the status of the answer */
function receive(body: string, headers: Record<string, string>): number {
  // The signature is over the bytes: verify before you parse.
  try {
    webhook.verify(body, headers)
  } catch {
    return 401
  }
  const id = headers['webhook-id'] ?? ''
  if (processed.has(id)) return 200
  const { type, data } = JSON.parse(body)
  // Deliver when the type is `payment.finalized`: nothing reverts that.
  console.log(type, data?.paymentId, data?.amountAtomic)
  processed.add(id)
  return 200
}

createServer(async (request, response) => {
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
  response.writeHead(receive(await text(request), Object.fromEntries(headers))).end()
}).listen(Number(PORT), '127.0.0.1', () => console.log('listening'))
