import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'

export type ExchangeRequest = {
  method: string
  url: URL
  headers: Record<string, string>
  body?: string
  timeoutMs: number
  /** Whether the first answer, or none, is all there is: a second try whose refusal would be taken for that of the first. */
  once?: boolean
}
export type UpstreamResponse = { status: number; headers: IncomingHttpHeaders; text: string }

/** A page of 500 rows whose metadata is as large as it may be. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024

export class UpstreamError extends Error {
  override name = 'UpstreamError'
  readonly kind: 'unreachable' | 'timeout' | 'too_large'

  constructor(kind: 'unreachable' | 'timeout' | 'too_large', options?: ErrorOptions) {
    super(`The payment service: ${kind}.`, options)
    this.kind = kind
  }
}

/** Requests over connections that stay open. Node's own client: the global fetch costs several times the CPU for one hop. */
export class Exchanger {
  readonly #http = new HttpAgent({
    keepAlive: true,
    maxSockets: 64,
    maxFreeSockets: 16,
    timeout: 60_000,
  })
  readonly #https = new HttpsAgent({
    keepAlive: true,
    maxSockets: 64,
    maxFreeSockets: 16,
    timeout: 60_000,
  })

  /**
   * One request, one deadline over all of it. A kept connection that the service closed in the same moment is tried once more:
   * reads and requests with an idempotency key, which is all that is ever sent, do no harm twice.
   */
  async send(exchange: ExchangeRequest): Promise<UpstreamResponse> {
    const deadline = AbortSignal.timeout(exchange.timeoutMs)
    try {
      return await this.#sendOnce(exchange, deadline)
    } catch (error) {
      if (!(error instanceof ReusedSocketError) || exchange.once) throw error
      return this.#sendOnce(exchange, deadline)
    }
  }

  #sendOnce(exchange: ExchangeRequest, signal: AbortSignal): Promise<UpstreamResponse> {
    const secure = exchange.url.protocol === 'https:'
    const options = {
      method: exchange.method,
      headers: exchange.headers,
      agent: secure ? this.#https : this.#http,
      signal,
    }
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        if (signal.aborted) reject(new UpstreamError('timeout', { cause: error }))
        else if (request.reusedSocket && !answered)
          reject(new ReusedSocketError('unreachable', { cause: error }))
        else
          reject(
            error instanceof UpstreamError
              ? error
              : new UpstreamError('unreachable', { cause: error }),
          )
      }
      let answered = false
      const request = (secure ? httpsRequest : httpRequest)(exchange.url, options, (response) => {
        answered = true
        const chunks: Buffer[] = []
        let size = 0
        response.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size > MAX_ANSWER_BYTES) response.destroy(new UpstreamError('too_large'))
          else chunks.push(chunk)
        })
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        )
        response.on('error', fail)
      })
      request.on('error', fail)
      request.end(exchange.body)
    })
  }

  close(): void {
    this.#http.destroy()
    this.#https.destroy()
  }
}

class ReusedSocketError extends UpstreamError {}
