import { serve } from '@hono/node-server'
import { createButtonShop } from './button-shop.ts'
import { createSeller } from './seller.ts'
import { createCatalog } from './catalog.ts'
import { readConfig, readFeePayer } from './config.ts'

/** The demo shop as a separate program: it has an API key of the service and nothing else. */
const config = readConfig(process.env)
const service = { url: config.SERVICE_URL, apiKey: config.SERVICE_API_KEY }
const { networks } = config
const payTo = { evm: config.PAY_TO_EVM, solana: config.PAY_TO_SOLANA }
const products = createCatalog({ networks, payTo, feePayer: readFeePayer(service) })
const seller = createSeller({ url: config.URL, service, networks, products })
seller.route(
  '/',
  createButtonShop({
    webUrl: config.WEB_URL,
    service,
    networks: networks.map(({ network }) => network),
  }),
)
const { fetch } = seller

const server = serve({ fetch, hostname: config.HOST, port: config.PORT }, ({ port }) =>
  console.log(JSON.stringify({ msg: 'listening', port })),
)
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    server.close(() => process.exit(0))
    if ('closeIdleConnections' in server) server.closeIdleConnections()
  })
}
