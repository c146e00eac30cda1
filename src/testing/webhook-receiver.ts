import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { freePort } from '#devnet/options.ts'

/** What a receiver took, in the order of its arrival. */
export type ReceivedWebhook = {
  id: string
  /** What its endpoint's URL says after the host. */
  path: string
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

/** A merchant's server on this machine, which a test has fail, hang, go, and come back at its port. */
export class WebhookReceiver implements AsyncDisposable {
  readonly received: ReceivedWebhook[] = []
  /** Decides each answer; a promise holds the request. */
  answer: (webhook: Omit<ReceivedWebhook, 'status'>) => ReceiverMode | Promise<ReceiverMode> = () =>
    200
  /** Called when a request has come. */
  onReceived: () => void = () => {}
  #port = 0
  readonly #server = createServer((request, response) => {
    const take = async (body: string) => {
      const message: {
        type: string
        cursor: string | null
        previous: string | null
        data?: { paymentId: string } | null
      } = JSON.parse(body)
      const webhook = {
        id: String(request.headers['webhook-id']),
        path: String(request.url),
        headers: request.headers,
        body,
        type: message.type,
        cursor: message.cursor,
        previous: message.previous,
        paymentId: message.data?.paymentId,
      }
      const mode = await this.answer(webhook)
      this.received.push({ ...webhook, status: mode === 'hang' ? 0 : mode })
      if (mode !== 'hang') response.writeHead(mode).end(`answered ${mode}`)
      this.onReceived()
    }
    // A sender that dies, or a server that goes, ends a request before its end.
    void text(request).then(take, () => {})
  })

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver()
    // Nobody else gets it while the receiver is away.
    receiver.#port = await freePort()
    await receiver.open()
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/webhooks`
  }

  /** Listens, where it did before. */
  async open(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  /** Refuses connections, and ends those that are open. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  /** What it took and answered with 2xx. */
  get accepted(): ReceivedWebhook[] {
    return this.received.filter(({ status }) => status >= 200 && status < 300)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
