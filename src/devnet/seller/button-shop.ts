import { Hono } from 'hono'
import { html } from 'hono/html'
import * as v from 'valibot'
import { PaymentStatusBody } from '#contract/payment-body.ts'
import type { Service } from './service-client.ts'

export type ButtonShopOptions = {
  /** The dashboard, which serves the pay button. */
  webUrl: string
  service: Service
  /** The networks where the print may be paid for, as CAIP-2 ids: the coins of another may be worth nothing. */
  networks: readonly string[]
}

/** What the seller's link for it must ask for. */
const PRINT = { reference: 'PRINT-1', amount: '0.01', symbol: 'ETH' }

const LINK_FORM = html`<form>
  <p>
    <label>
      A payment link over ${PRINT.amount} ${PRINT.symbol} with the reference ${PRINT.reference}:
      <input name="link" type="url" required />
    </label>
  </p>
  <button>Show the button</button>
</form>`

/**
 * A page of another origin with the pay button, and the page that its buyers come back to. The buyer's browser only names a payment: whether it
 * was made, to this seller, by a link and for this print, is what the service says.
 */
export function createButtonShop({ webUrl, service, networks }: ButtonShopOptions): Hono {
  const app = new Hono()
  app.get('/button', (c) => {
    const link = c.req.query('link') ?? ''
    if (!/^https?:\/\//.test(link)) return c.html(shopPage('Demo shop', LINK_FORM))
    return c.html(
      shopPage(
        'Demo shop',
        html`<p>One print, 30 × 40 cm.</p>
          <script
            async
            src="${webUrl}/button.js"
            data-link="${link}"
            data-text="Buy this print"
          ></script>
          <p>Or with a link of the page itself: <a href="${link}" data-paydesk>the print</a>.</p>`,
      ),
    )
  })
  app.get('/thanks', async (c) => {
    const id = c.req.query('payment') ?? ''
    const payment = await readPayment(service, id)
    if (!payment || !networks.includes(payment.network) || !isForThePrint(payment))
      return c.html(shopPage('Not paid', html`<p>We know no payment of this print here.</p>`), 404)
    if (wentBack(payment))
      return c.html(
        shopPage('Refunded', html`<p>This payment was refunded: nothing is delivered for it.</p>`),
        410,
      )
    if (payment.status === 'confirmed' || payment.status === 'finalized')
      return c.html(
        shopPage('Thank you', html`<p>We received ${payment.amount} ${payment.symbol}.</p>`),
      )
    return c.html(
      shopPage(
        'Payment on its way',
        html`<meta http-equiv="refresh" content="1" />
          <p>This page looks again by itself.</p>`,
      ),
    )
  })
  return app
}

/** Only the proxy sets `paymentLink`; beside it, the reference is the one of the link. */
function isForThePrint({ direction, amount, symbol, metadata }: PaymentStatusBody): boolean {
  return (
    direction === 'received' &&
    typeof metadata?.['paymentLink'] === 'string' &&
    metadata['referenceId'] === PRINT.reference &&
    amount === PRINT.amount &&
    symbol === PRINT.symbol
  )
}

/** A refund does not change the status of what it returns. One that is built or sent counts too. */
function wentBack({ refund }: PaymentStatusBody): boolean {
  return refund.state !== 'none' || refund.pendingAtomic !== '0'
}

async function readPayment(
  { url, apiKey }: Service,
  id: string,
): Promise<PaymentStatusBody | undefined> {
  const response = await fetch(`${url}/payment/status/${encodeURIComponent(id)}`, {
    headers: { authorization: `Bearer ${apiKey}` },
    signal: AbortSignal.timeout(10_000),
  })
  return response.ok ? v.parse(PaymentStatusBody, await response.json()) : undefined
}

/** A page of the demo shop. */
export function shopPage(title: string, body: ReturnType<typeof html>) {
  return html`<!doctype html>
    <html lang="en">
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width" />
      <link rel="icon" href="data:," />
      <title>${title}</title>
      <h1>${title}</h1>
      ${body}
    </html>`
}
