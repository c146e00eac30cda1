import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { ProblemError, errorBody, problems, type ProblemCode } from '#contract/problem.ts'

export type HttpServer = {
  port: number
  /** Stops accepting, lets what is in flight finish, and cuts what has not ended by then. */
  stop(withinMs: number): Promise<void>
}

type Options = {
  host: string
  port: number
  fetch: Parameters<typeof getRequestListener>[0]
  onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  now: () => Date
}

/** A client that sends slower than this occupies a connection for nothing. */
const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16 * 1024,
} as const

const MAX_CONNECTIONS = 2_000
const IDLE_SWEEP_MS = 50

export async function startServer({ host, port, fetch, onUpgrade, now }: Options): Promise<HttpServer> {
  const listener = getRequestListener(fetch)
  const server = createServer(LIMITS, (request, response) => {
    const reason = refusal(request)
    if (reason) refuse(response, reason, now())
    else void listener(request, response)
  })
  server.maxConnections = MAX_CONNECTIONS
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => answerBrokenRequest(error, socket, now()))
  server.on('upgrade', (request, socket, head) => {
    if (refusal(request)) socket.destroy()
    else onUpgrade(request, socket, head)
  })
  await listen(server, host, port)
  return { port: (server.address() as AddressInfo).port, stop: (withinMs) => stop(server, withinMs) }
}

/** Forms that two HTTP readers may understand differently, and that no client of ours sends. */
function refusal(request: IncomingMessage): string | undefined {
  if (request.httpVersion !== '1.1') return `Expected HTTP/1.1, received HTTP/${request.httpVersion}.`
  if (!request.url?.startsWith('/')) return 'Expected a path as the request target, received the absolute form.'
  let hosts = 0
  for (let index = 0; index < request.rawHeaders.length; index += 2) if (request.rawHeaders[index]?.toLowerCase() === 'host') hosts++
  return hosts === 1 ? undefined : `Expected one Host header, received ${hosts}.`
}

function refuse(response: ServerResponse, message: string, now: Date): void {
  const { status, headers, body } = plainProblem('INVALID_PARAMETERS', message, now)
  response.writeHead(status, headers).end(body)
}

const BROKEN: Readonly<Record<string, { status: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: '431 Request Header Fields Too Large', message: 'Expected at most 16 KiB of headers.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', message: 'The request did not arrive in time.' },
}

function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex, now: Date): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, message } = BROKEN[error.code ?? ''] ?? { status: '400 Bad Request', message: 'The request is not valid HTTP/1.1.' }
  const { headers, body } = plainProblem('INVALID_PARAMETERS', message, now)
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${status}`, ...head, '', body].join('\r\n'))
}

/** For requests that never reach the application, in the same envelope. */
function plainProblem(code: ProblemCode, message: string, now: Date) {
  const requestId = crypto.randomUUID()
  const body = JSON.stringify(errorBody(new ProblemError(code, { message }), requestId, now.getTime()))
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': requestId,
    Connection: 'close',
  }
  return { status: problems[code].status, headers, body }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

async function stop(server: Server, withinMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // A connection becomes idle when its last answer is out; Node looks for idle ones only when close is called.
  const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS)
  const cut = setTimeout(() => server.closeAllConnections(), withinMs)
  await closed
  clearInterval(sweep)
  clearTimeout(cut)
}
