import { expect } from 'vitest'
import WebSocket from 'ws'

type Message = {
  type: string
  id?: string
  code?: string
  lastEventId?: string
  keys?: string[]
  paymentId?: string
  status?: string
  events?: unknown[]
}

/** A client of `/ws` that keeps all it hears. */
export class SocketClient {
  readonly messages: Message[] = []
  readonly ws: WebSocket
  closed: { code: number; reason: string } | undefined

  constructor(app: { port: number }) {
    this.ws = new WebSocket(`ws://127.0.0.1:${app.port}/ws`)
    this.ws.on('message', (data) => this.messages.push(JSON.parse(String(data))))
    this.ws.on('close', (code, reason) => (this.closed = { code, reason: String(reason) }))
    this.ws.on('error', () => {})
  }

  async say(request: object | string): Promise<void> {
    if (this.ws.readyState === WebSocket.CONNECTING)
      await new Promise((resolve) => this.ws.once('open', resolve))
    this.ws.send(typeof request === 'string' ? request : JSON.stringify(request))
  }

  async hear(type: string): Promise<Message> {
    await expect
      .poll(() => this.messages.some((message) => message.type === type), { timeout: 90_000 })
      .toBe(true)
    return this.messages.find((message) => message.type === type) as Message
  }

  events(kind = 'payment'): Message[] {
    return this.messages.filter((message) => message.type === kind)
  }

  async enter(apiKey: string, keys: string[], since?: string): Promise<Message> {
    await this.say({ method: 'authenticate', apiKey })
    await this.hear('authenticated')
    await this.say({ method: 'subscribe', keys, since })
    return await this.hear('subscribed')
  }

  async end(): Promise<void> {
    this.ws.terminate()
    await expect.poll(() => this.closed !== undefined).toBe(true)
  }
}
