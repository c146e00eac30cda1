import { serve } from '@hono/node-server'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/hono'
import { Hono } from 'hono'

const { PAYDESK_URL, PAYDESK_KEY, PAY_TO = '', USDC = '', PORT } = process.env
const headers = { Authorization: `Bearer ${PAYDESK_KEY}` }
const facilitator = new HTTPFacilitatorClient({
  url: `${PAYDESK_URL}/facilitator`,
  createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: headers }),
})
const resources = new x402ResourceServer(facilitator).register('eip155:31337', new ExactEvmScheme())
const price = {
  asset: USDC,
  amount: '1000000',
  extra: { name: 'USD Coin', version: '2', assetTransferMethod: 'eip3009' },
}

const app = new Hono()
app.use(
  paymentMiddleware(
    {
      'GET /article': {
        accepts: { scheme: 'exact', network: 'eip155:31337', payTo: PAY_TO, price },
      },
    },
    resources,
  ),
)
app.get('/article', (c) => c.text('The article.'))

serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' })
