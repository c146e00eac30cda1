import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { EgressError, EgressRefusedError, send, type ExternalRequest } from './exchange.ts'
import { refuseUrl } from './public-address.ts'

export type StreamLimits = {
  /** From the DNS lookup to the headers of the answer. */
  answerMs: number
  /** Between two pieces of the body, while the reader waits for one. */
  silentMs: number
  /** From the DNS lookup to the last byte, however slowly the reader takes them. */
  totalMs: number
  maxBytes: number
  /** For tests and the embedded network: `http://127.0.0.1` is allowed, and nothing else. */
  loopback: boolean
}

/** An answer whose body is read piece by piece. Its reader consumes `body` or calls `close`. */
export type ExternalStream = {
  status: number
  headers: IncomingHttpHeaders
  /** Throws an EgressError when the body is cut, too long, too slow or silent. */
  body: AsyncGenerator<Uint8Array, void>
  close: () => void
}

/**
 * Calls a public address under the same rules as `exchange`, for an answer that is larger than
 * memory: nothing is buffered beyond what the reader takes.
 * @throws EgressError
 */
export async function openStream(
  question: ExternalRequest,
  limits: StreamLimits,
): Promise<ExternalStream> {
  const refused = refuseUrl(question.url, limits.loopback)
  if (refused) throw new EgressRefusedError(refused)
  const stop = new AbortController()
  const abort = (why: string) => () => stop.abort(new Error(why))
  const total = setTimeout(abort('The answer took too long.'), limits.totalMs)
  const answer = setTimeout(abort('The address did not answer in time.'), limits.answerMs)
  try {
    const { loopback } = limits
    const response = await send(question, { loopback, signal: stop.signal })
    // Destroying it without a reader must be no unhandled error.
    response.on('error', () => undefined)
    response.once('close', () => clearTimeout(total))
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: read(response, limits),
      close: () => void response.destroy(),
    }
  } catch (error) {
    clearTimeout(total)
    throw new EgressError(stop.signal.aborted ? stop.signal.reason : error)
  } finally {
    clearTimeout(answer)
  }
}

async function* read(
  response: IncomingMessage,
  { maxBytes, silentMs }: StreamLimits,
): AsyncGenerator<Uint8Array, void> {
  const pieces: AsyncIterator<Buffer> = response[Symbol.asyncIterator]()
  let size = 0
  try {
    for (;;) {
      const silent = setTimeout(
        () => response.destroy(new Error('The address fell silent.')),
        silentMs,
      )
      const { done, value } = await pieces.next().finally(() => clearTimeout(silent))
      if (done) return
      size += value.length
      if (size > maxBytes) throw new Error(`Expected at most ${maxBytes} bytes.`)
      yield value
    }
  } catch (error) {
    throw new EgressError(error)
  } finally {
    response.destroy()
  }
}
