import { createHash } from 'node:crypto'
import { Hono, type Context, type MiddlewareHandler } from 'hono'
import { html } from 'hono/html'
import { type Network, familyOf } from '#contract/network.ts'
import { TXID_METHOD } from '#x402/methods.ts'
import { writeChallenge, type Requirements } from '#x402/requirements.ts'
import { encodeSettlement } from '#x402/payload.ts'
import { shopPage } from './button-shop.ts'
import { ORDER, Quotes, type QuotedOption } from './quote.ts'
import { readPayment } from './read-payment.ts'
import {
  receivePayment,
  type ReceivedPayment,
  type Service,
  type ReceiveVerdict,
} from './service-client.ts'

export type Product = {
  path: `/${string}`
  title: string
  mimeType: string
  content: string
  /** Read at every visit. */
  offers: () => Promise<QuotedOption[]>
}

export type SellerOptions = {
  /** Where buyers reach this server. */
  url: string
  service: Service
  networks: readonly Network[]
  products: readonly Product[]
}

/**
 * A shop that is paid by x402, versions 1 and 2: it asks 402, has the service check the payment that comes back (`POST /payment/receive`), and
 * serves. It keeps nothing: repeating a request with the same payment gets the same page and is never charged twice. A payment of version 1 that names
 * no page is served once.
 */
export function createSeller(options: SellerOptions): Hono {
  const app = new Hono()
  const quotes = new Quotes(
    createHash('sha256').update(`quotes\n${options.service.apiKey}`).digest('hex'),
  )
  const failedOnce = new Set<string>()
  app.use(applyCors)
  app.get('/', (c) => {
    if (c.req.header('accept')?.includes('text/html')) return c.html(indexPage(options.products))
    return c.json({
      resources: options.products.map(({ path, title, mimeType }) => ({
        url: `${options.url}${path}`,
        title,
        mimeType,
      })),
    })
  })
  app.get('/health/live', (c) => c.json({ status: 'ok' }))
  app.get('/health/ready', async (c) =>
    (await isReady(options.service))
      ? c.json({ status: 'ok' })
      : c.json({ status: 'unavailable' }, 503),
  )
  for (const product of options.products)
    app.get(product.path, (c) => handleRequest(c, { product, options, quotes, failedOnce }))
  return app
}

/** What a person sees of the shop; a program gets the same as JSON. */
function indexPage(products: readonly Product[]) {
  const articles = products.map(({ path, title }) => html`<li><a href="${path}">${title}</a></li>`)
  return shopPage(
    'Demo shop',
    html`<p>Articles that are paid over x402:</p>
      <ul>
        ${articles}
      </ul>
      <p><a href="/button">A print that is sold with the pay button</a></p>`,
  )
}

type Shop = { product: Product; options: SellerOptions; quotes: Quotes; failedOnce: Set<string> }

async function handleRequest(c: Context, shop: Shop): Promise<Response> {
  const { product, options, quotes } = shop
  const demo = readDemo(c.req.query('demo'))
  const url = new URL(`${product.path}${new URL(c.req.url).search}`, options.url)
  url.searchParams.delete(ORDER)
  const offers = await product.offers()
  // Both names are of the same thing; the version stands inside.
  const header = c.req.header('payment-signature') ?? c.req.header('x-payment')
  const requestPayment = (error: string, now = offers) =>
    challenge(c, { error, url, offers: now, product, quotes, demo })
  if (header === undefined) return requestPayment('Payment required')

  const read = readPayment({ header, url, offers }, { quotes, networks: options.networks })
  if (!read.ok) {
    writeSettlementHeaders(c, { success: false, errorReason: read.reason })
    return read.readable ? requestPayment(read.message) : c.json({ error: read.message }, 400)
  }
  if (
    demo.has('price-rises') &&
    !raise(offers).some(({ amount }) => amount === read.question.expectedAmount)
  ) {
    return requestPayment(
      'The price has risen since it was told. This payment was not used.',
      raise(offers),
    )
  }
  const { once } = read
  const verdict = await receivePayment(options.service, read.question, { once })
  if (verdict.state === 'paid') {
    const { payment } = verdict
    if (once && payment.alreadyProcessed && !shop.failedOnce.has(header))
      return refuse(c, SERVED_BEFORE, requestPayment)
    return serve(c, shop, { payment, demo, header, once })
  }
  return verdict.state === 'refused' ? refuse(c, verdict, requestPayment) : wait(c, verdict)
}

const SERVED_BEFORE = {
  state: 'refused',
  reason: 'already_used',
  message: 'This payment was served before, and it does not say for whom.',
} as const

type PaymentChallenge = {
  error: string
  url: URL
  offers: readonly QuotedOption[]
  product: Product
  quotes: Quotes
  demo: Demo
}

/** 402: version 2 in the header, version 1 in the body. */
function challenge(
  c: Context,
  { error, url, offers, product, quotes, demo }: PaymentChallenge,
): Response {
  const { url: order, accepts } = quotes.write(offers, { url, now: Date.now() })
  const resource = { url: order, description: product.title, mimeType: product.mimeType }
  const write = (chosen: readonly Requirements[]) =>
    writeChallenge({ error, resource, accepts: chosen })
  c.header('PAYMENT-REQUIRED', write(accepts).header)
  return c.json(demo.has('hidden-headers') ? {} : write(accepts.filter(versionOne)).body, 402)
}

type Served = { payment: ReceivedPayment; demo: Demo; header: string; once: boolean }

const LARGE = 2 * 1024 * 1024

function serve(
  c: Context,
  { product, failedOnce }: Shop,
  { payment, demo, header, once }: Served,
): Response {
  writeSettlementHeaders(c, { success: true }, payment)
  if (demo.has('error-after-payment') && !failedOnce.has(header)) {
    failedOnce.add(header)
    return c.json(
      {
        error:
          'The page could not be generated. The payment was received. Retry with the same payment.',
      },
      500,
    )
  }
  if (once) failedOnce.delete(header)
  if (demo.has('redirect-after-payment')) return c.redirect('/')
  const content = demo.has('large-answer') ? product.content.padEnd(LARGE) : product.content
  return c.body(content, 200, { 'Content-Type': product.mimeType })
}

function refuse(
  c: Context,
  { reason, message }: Extract<ReceiveVerdict, { state: 'refused' }>,
  requestPayment: (error: string) => Response,
): Response {
  writeSettlementHeaders(c, { success: false, errorReason: reason })
  return reason === 'malformed' ? c.json({ error: message }, 400) : requestPayment(message)
}

/** Neither served nor asked to pay again: the money may be on its way. */
function wait(
  c: Context,
  verdict: Extract<ReceiveVerdict, { state: 'pending' | 'undecided' }>,
): Response {
  if (verdict.state === 'undecided') {
    c.header('Retry-After', String(verdict.retryAfter))
    return c.json(
      {
        status: 'undecided',
        error: verdict.message,
        hint: 'Nothing is decided. Ask again with the same payment.',
      },
      502,
    )
  }
  const { paymentId, signature } = verdict.payment
  writeSettlementHeaders(c, { success: false, errorReason: 'settlement_pending' }, verdict.payment)
  c.header('Retry-After', '2')
  return c.json(
    {
      status: 'pending',
      paymentId,
      transaction: signature,
      hint: 'The payment is on its way. Ask again with the same payment.',
    },
    202,
  )
}

function writeSettlementHeaders(
  c: Context,
  outcome: { success: boolean; errorReason?: string },
  payment?: ReceivedPayment,
): void {
  const value = encodeSettlement({
    ...outcome,
    transaction: payment?.signature ?? '',
    network: payment?.network ?? '',
    ...(payment?.sender && { payer: payment.sender }),
  })
  c.header('PAYMENT-RESPONSE', value)
  c.header('X-PAYMENT-RESPONSE', value)
}

async function isReady({ url }: Service): Promise<boolean> {
  try {
    return (await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(4_000) })).ok
  } catch {
    return false
  }
}

/** Whether a payment by these terms can be told in version 1: there, a Solana transaction that was sent already names no terms. */
function versionOne({ network, extra }: Requirements): boolean {
  return !(familyOf(network) === 'solana' && extra.assetTransferMethod === TXID_METHOD)
}

/** The official client sends the last one as a header of its request. */
const REQUEST_HEADERS =
  'x-payment, payment-signature, idempotency-key, content-type, access-control-expose-headers'
const EXPOSED_HEADERS = 'PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, Retry-After'

/** Any page may pay here: nothing depends on who asks, only on what was paid. */
const applyCors: MiddlewareHandler = async (c, next) => {
  c.header('Access-Control-Allow-Origin', '*')
  c.header('Cache-Control', 'no-store')
  c.header('X-Content-Type-Options', 'nosniff')
  if (!readDemo(c.req.query('demo')).has('hidden-headers'))
    c.header('Access-Control-Expose-Headers', EXPOSED_HEADERS)
  if (c.req.method !== 'OPTIONS') return next()
  return c.body(null, 204, {
    'Access-Control-Allow-Methods': 'GET, HEAD, OPTIONS',
    'Access-Control-Allow-Headers': REQUEST_HEADERS,
    'Access-Control-Max-Age': '600',
  })
}

/**
 * What a visitor may ask this shop to get wrong, in the query parameter `demo`, several with commas: to see what a client does then.
 *
 * error-after-payment     the page fails once after it was paid; the same payment gets it at the next try
 * price-rises             the price has doubled by the time the payment comes
 * large-answer            the page has 2 MB
 * redirect-after-payment  the payment is answered with 302, to the list of the articles
 * hidden-headers          the 402 keeps its headers from pages of other origins, and says nothing in its body
 */
const DEMOS = [
  'error-after-payment',
  'price-rises',
  'large-answer',
  'redirect-after-payment',
  'hidden-headers',
] as const
type Demo = ReadonlySet<(typeof DEMOS)[number]>

function readDemo(text: string | undefined): Demo {
  const requested = text?.split(',') ?? []
  return new Set(DEMOS.filter((demo) => requested.includes(demo)))
}

function raise(offers: readonly QuotedOption[]): QuotedOption[] {
  return offers.map((option) => ({ ...option, amount: double(option.amount) }))
}

/** Twice a decimal, digit by digit. */
function double(text: string): string {
  const [whole = '0', fraction = ''] = text.split('.')
  const digits = (BigInt(whole + fraction) * 2n).toString().padStart(fraction.length + 1, '0')
  const point = digits.length - fraction.length
  return fraction === ''
    ? digits
    : `${digits.slice(0, point)}.${digits.slice(point)}`.replace(/\.?0+$/, '')
}
