import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** What a receiver took, in the order of its arrival. */
export type ReceivedWebhook = {
  id: string
  headers: IncomingHttpHeaders
  body: string
  type: string
  cursor: string | null
  previous: string | null
  paymentId: string | undefined
  /** What it was answered; 0 while it hangs. */
  status: number
}

/** `hang`: takes a request and never answers. */
export type ReceiverMode = number | 'hang'

/** A merchant's server on this machine, which a test has fail, hang, and recover. */
export class WebhookReceiver implements AsyncDisposable {
  readonly received: ReceivedWebhook[] = []
  /** Decides each answer. */
  answer: (webhook: Omit<ReceivedWebhook, 'status'>) => ReceiverMode = () => 200
  /** Called when a request has come. */
  onReceived: () => void = () => {}
  readonly #server = createServer((request, response) => {
    void text(request).then((body) => {
      const message: {
        type: string
        cursor: string | null
        previous: string | null
        data?: { paymentId: string } | null
      } = JSON.parse(body)
      const webhook = {
        id: String(request.headers['webhook-id']),
        headers: request.headers,
        body,
        type: message.type,
        cursor: message.cursor,
        previous: message.previous,
        paymentId: message.data?.paymentId,
      }
      const mode = this.answer(webhook)
      this.received.push({ ...webhook, status: mode === 'hang' ? 0 : mode })
      if (mode !== 'hang') response.writeHead(mode).end(`answered ${mode}`)
      this.onReceived()
    })
  })

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver()
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/webhooks`
  }

  /** What it took and answered with 2xx. */
  get accepted(): ReceivedWebhook[] {
    return this.received.filter(({ status }) => status >= 200 && status < 300)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
