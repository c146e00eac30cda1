import { get, type IncomingMessage } from 'node:http'

export type StreamedEvent = {
  id: string
  event: string
  data: { id: string; paymentId: string; status: string }
}

/** Reads server-sent events as the standard says, and keeps all of them. */
export class EventReader {
  readonly events: StreamedEvent[] = []
  /** Every byte that came. */
  raw = ''
  status: number | undefined
  lastEventId: string | undefined
  ended = false
  #response: IncomingMessage | undefined
  readonly #request: ReturnType<typeof get>

  constructor(url: string, headers: Record<string, string>) {
    this.#request = get(url, { headers, agent: false }, (response) => {
      this.status = response.statusCode
      this.#response = response
      response.setEncoding('utf8')
      let rest = ''
      response.on('data', (chunk: string) => {
        this.raw += chunk
        const blocks = (rest + chunk).split('\n\n')
        rest = blocks.pop() ?? ''
        for (const block of blocks) this.#read(block)
      })
      response.on('close', () => (this.ended = true))
    })
    this.#request.on('error', () => (this.ended = true))
  }

  get payments(): StreamedEvent[] {
    return this.events.filter(({ event }) => event === 'payment')
  }

  /** `paymentId status` of each event, in the order they came. */
  get told(): string[] {
    return this.payments.map(({ data }) => `${data.paymentId} ${data.status}`)
  }

  pause(): void {
    this.#response?.pause()
  }

  close(): void {
    this.#request.destroy()
  }

  #read(block: string): void {
    const fields = new Map(
      block
        .split('\n')
        .map((line) => [
          line.slice(0, line.indexOf(':')),
          line.slice(line.indexOf(':') + 1).trimStart(),
        ]),
    )
    this.lastEventId = fields.get('id') ?? this.lastEventId
    const data = fields.get('data')
    if (data !== undefined && fields.get('event') !== 'beat')
      this.events.push({
        id: this.lastEventId ?? '',
        event: fields.get('event') ?? 'message',
        data: JSON.parse(data),
      })
  }
}
