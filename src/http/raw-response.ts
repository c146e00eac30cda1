import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorBody, problems, type ProblemError } from '#contract/problem.ts'

/** How long a client gets to read the last answer and to close its side, in milliseconds. */
const CLOSE_WITHIN_MS = 1_000

export type RawResponse = { status: number; headers: Record<string, string>; body: string }

/**
 * A problem in the error envelope, for a request that does not reach the application. It ends the connection.
 * @param status in place of the status of the problem's code, where HTTP has a more exact one
 */
export function rawResponse(
  problem: ProblemError,
  now: Date,
  status: number = problems[problem.code].status,
): RawResponse {
  const requestId = crypto.randomUUID()
  const body = JSON.stringify(errorBody(problem, requestId, now.getTime()))
  const { retryAfter } = problem.facts
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': requestId,
    ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
    Connection: 'close',
  }
  return { status, headers, body }
}

export function rawText({ status, headers, body }: RawResponse): string {
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...head, '', body].join('\r\n')
}

/** Sends the last answer of a connection and frees its descriptor, also when the client never reads and never closes. */
export function endWith(socket: Duplex, answer: RawResponse): void {
  socket.on('error', () => socket.destroy())
  socket.end(rawText(answer))
  // What the client still sends is read and dropped: closing over unread bytes would reset the connection before it reads the answer.
  socket.resume()
  const cut = setTimeout(() => socket.destroy(), CLOSE_WITHIN_MS)
  socket.once('close', () => clearTimeout(cut))
}

/** Answers an upgrade that is refused, and frees the descriptor. */
export function refuseUpgrade(socket: Duplex, problem: ProblemError, now: Date): void {
  endWith(socket, rawResponse(problem, now))
}
