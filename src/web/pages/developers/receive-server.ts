import { familyOf, type Asset, type Network } from '#contract/network.ts'

/** 0.01 of the asset. */
const PRICE_DECIMALS = 2

type Environment = {
  serviceUrl: string | null
  /** The first one that can be paid on the network is; the reader fills it in where there is none. */
  wallets: readonly string[]
  /** A key that was made a moment ago; a placeholder without one. */
  key?: string
}

/** Browsers rename a download whose name begins with a dot. */
export const ENV_FILE = 'paydesk.env'

/** The variables of the server and the commands below, as an env file. */
export function environmentOf(
  { network, testnet }: Pick<Network, 'network' | 'testnet'>,
  { serviceUrl, wallets, key = `pk_${testnet ? 'test' : 'live'}_…` }: Environment,
): string {
  const isEvm = familyOf(network) === 'evm'
  return [
    `PAYDESK_URL=${serviceUrl ?? 'https://payments.example'}`,
    `PAYDESK_KEY=${key}`,
    `PAY_TO=${wallets.find((wallet) => wallet.startsWith('0x') === isEvm) ?? ''}`,
    'PORT=3000',
    '',
  ].join('\n')
}

/** How the server is started, and asked for the first time. */
export const RUN_COMMANDS = `npm install hono @hono/node-server
# Node 22.18 or later runs TypeScript as it is.
node --env-file=${ENV_FILE} server.ts
curl -i http://127.0.0.1:3000/article

# The key alone: the newest payments.
. ./${ENV_FILE}
curl "$PAYDESK_URL/payments?limit=10" -H "Authorization: Bearer $PAYDESK_KEY"
`

const METHOD = "{ assetTransferMethod: 'txid', paymentFlow: 'upfront' }"

/** What a payer signs after an EVM payment names the order. */
const EVM = {
  offer: `const accepts = [{ ...price, extra: ${METHOD} }]`,
  memo: '',
  newOrder: '',
  received: '',
}

/** Nobody signs for an order on Solana: the memo is all that ties a transfer to it. */
const SOLANA = {
  offer: `const extra = ${METHOD}`,
  memo: `
// Everybody reads memos on the chain, so the memo of an order must not reveal it.
const memoOf = (order: string) => codeOf(\`memo \${order}\`)`,
  newOrder: `
    const accepts = [{ ...price, extra: { ...extra, memo: memoOf(resource.url) } }]`,
  received: `
    memo: memoOf(order),`,
}

/**
 * A whole server that is paid 0.01 of an asset for each article: the examples `receive` and
 * `receive-solana` with the network and the asset of the reader. A test compares them.
 */
export function receiveServer({ network, assets: [asset] }: Pick<Network, 'network' | 'assets'>) {
  const { offer, memo, newOrder, received } = familyOf(network) === 'evm' ? EVM : SOLANA
  return `import { createHmac, randomUUID } from 'node:crypto'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'

const { PAYDESK_URL = '', PAYDESK_KEY = '', PAY_TO = '', PORT } = process.env
const native = '${asset?.address}'
const price = {
  scheme: 'exact',
  network: '${network}',
  amount: '${priceOf(asset)}',
  asset: native,
  payTo: PAY_TO,
  maxTimeoutSeconds: 300,
}
${offer}
// The name of an order is signed with PAYDESK_KEY: it is valid after a restart, but not with another key.
const codeOf = (text: string) => createHmac('sha256', PAYDESK_KEY).update(text).digest('base64url')${memo}

const app = new Hono().get('/article', async (c) => {
  const paymentProof = c.req.header('PAYMENT-SIGNATURE')
  const paid = paymentProof === undefined ? {} : JSON.parse(atob(paymentProof))
  const order = paid.resource?.url
  const [named, code] = String(order).split('&code=')
  if (code !== codeOf(\`\${c.req.path} \${named}\`)) {
    const url = new URL(\`?order=\${randomUUID()}\`, c.req.url).href
    const resource = { url: \`\${url}&code=\${codeOf(\`\${c.req.path} \${url}\`)}\` }${newOrder}
    c.header(
      'PAYMENT-REQUIRED',
      btoa(JSON.stringify({ x402Version: 2, error: 'Payment required', resource, accepts })),
    )
    return c.json({}, 402)
  }
  const headers = { authorization: \`Bearer \${PAYDESK_KEY}\`, 'content-type': 'application/json' }
  const body = JSON.stringify({
    network: price.network,
    walletAddress: PAY_TO,
    paymentProof,
    expectedAmount: 0.01,
    assetTransferMethod: 'txid',
    resource: order,${received}
  })
  const answer = await fetch(\`\${PAYDESK_URL}/payment/receive\`, { method: 'POST', headers, body })
  const { verified, alreadyProcessed, status, error } = await answer.json()
  // 202: on its way, 502: nobody knows yet. Either way the buyer sends the same header again, and is never charged twice.
  if (!verified) return new Response(JSON.stringify({ status, error }), { status: answer.status })
  // Of all who present a payment one is served, and nobody after a refund.
  if (alreadyProcessed) return c.json({ error: 'This payment was served or refunded before.' }, 409)
  return c.text('The article.', 200, { 'cache-control': 'private, no-store' })
})

serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' })
`
}

function priceOf(asset: Asset | undefined): string {
  return `1${'0'.repeat((asset?.decimals ?? 0) - PRICE_DECIMALS)}`
}
