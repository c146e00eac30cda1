import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { simpleParser, type ParsedMail } from 'mailparser'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** What the server took: whom the envelope named, the bytes, and what a mail program reads in them. */
export type ReceivedMail = { to: string[]; raw: string; mail: ParsedMail }

/** A mail server on this machine, which a test has fail, stop, and come back at its port. */
export class MailServer implements AsyncDisposable {
  readonly received: ReceivedMail[] = []
  /** The status that a message to an address gets: 250 accepts it. */
  answer: (to: string) => number = () => 250
  /** Connections in which a message was offered. */
  offered = 0
  port = 0
  readonly #options: SMTPServerOptions
  #server: SMTPServer | undefined

  constructor(options: SMTPServerOptions = {}) {
    this.#options = options
  }

  static async open(options: SMTPServerOptions = {}): Promise<MailServer> {
    const server = new MailServer(options)
    await server.start()
    return server
  }

  async start(): Promise<void> {
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      disableReverseLookup: true,
      logger: false,
      ...this.#options,
      onRcptTo: ({ address }, _session, done) => {
        this.offered += 1
        const status = this.answer(address)
        done(status === 250 ? null : Object.assign(new Error('not now'), { responseCode: status }))
      },
      onData: (stream, { envelope }, reply) => {
        void buffer(stream).then(async (bytes) => {
          const mail = await simpleParser(bytes)
          const to = envelope.rcptTo.map(({ address }) => address)
          this.received.push({ to, raw: bytes.toString(), mail })
          reply()
        })
      },
    })
    // A client that gives up ends its connection: that is what some tests want.
    server.on('error', () => {})
    const listening = server.listen(this.port, '127.0.0.1')
    await once(listening, 'listening')
    this.port = (listening.address() as AddressInfo).port
    this.#server = server
  }

  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server) await new Promise<void>((resolve) => server.close(resolve))
  }

  to(address: string): ReceivedMail[] {
    return this.received.filter(({ to }) => to.includes(address))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}
