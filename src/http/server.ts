import { createServer, type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener, RequestError } from '@hono/node-server'
import { ProblemError, errorBody, problems } from '#contract/problem.ts'
import { Connections, type HttpConnection, type ConnectionCaps } from './connections.ts'

/** How long a client gets to read the last answer and to close its side, in milliseconds. */
const CLOSE_WITHIN_MS = 1_000

type RawResponse = { status: number; headers: Record<string, string>; body: string }

/**
 * A problem in the error envelope, for a request that does not reach the application. It ends the connection.
 * @param status in place of the status of the problem's code, where HTTP has a more exact one
 */
function rawResponse(
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

function rawText({ status, headers, body }: RawResponse): string {
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...head, '', body].join('\r\n')
}

/** Sends the last answer of a connection and frees its descriptor, also when the client never reads and never closes. */
function endWith(socket: Duplex, answer: RawResponse): void {
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

/**
 * What a handler returns that wrote its response itself: nothing more is sent. A clone is the platform's own response. Once any module of the process has called
 * `getRequestListener`, `new Response` makes another kind, which is sent without a look at this header.
 */
export function alreadySent(): Response {
  return new Response(null, { headers: { 'x-hono-already-sent': 'true' } }).clone()
}

export type HttpServer = {
  port: number
  /** Stops accepting, lets what is in flight finish, and cuts what has not ended after so many milliseconds. */
  stop(withinMs: number): Promise<void>
}

/** The part of a program's configuration that its HTTP server reads. */
export type HttpConfig = {
  host: string
  /** 0 takes a free port. */
  port: number
  /** Proxies of the operator in front, whose `X-Forwarded-For` entry is believed; 0 believes none. */
  trustedProxyHops: number
  /** Open connections at once. */
  maxConnections?: number
  /** Open connections at once of one IPv4 address or one IPv6 /64. */
  maxConnectionsPerAddress?: number
}

type Options = {
  fetch: Parameters<typeof getRequestListener>[0]
  now: () => Date
  /** An error that the application did not turn into an answer. */
  onError: (error: unknown) => void
  /** The one path that speaks WebSocket. Elsewhere the header Upgrade is ignored, as RFC 9110, 7.8 allows. */
  webSocket?: {
    path: string
    onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  }
}

/** In milliseconds and bytes: a client that sends more slowly than this occupies a connection without need. */
const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16 * 1024,
  // We refuse a request without Host in the error envelope; Node would send an empty answer.
  requireHostHeader: false,
} as const

/** A client that takes no byte of its answer for this long is cut. Node measures it in steps, so it takes up to twice as long. */
const UNREAD_MS = 5_000
/** Connections that the system may hold ready. Beyond it a new one waits a second for its next try; Node's own 511 are filled within a fraction of one. */
const BACKLOG = 4_096
const MAX_REQUESTS_PER_CONNECTION = 1_000
const DEFAULT_MAX_CONNECTIONS = 3_000
const DEFAULT_MAX_CONNECTIONS_PER_ADDRESS = 256
const SWEEP_MS = 1_000
const IDLE_SWEEP_MS = 50

/** The HTTP server of the service and of the proxy. Each limit ends with a freed descriptor, and each refusal has the error envelope. */
export async function startHttpServer(config: HttpConfig, options: Options): Promise<HttpServer> {
  const { now, webSocket } = options
  const connections = new Connections(capsOf(config))
  const listener = getRequestListener(options.fetch, {
    errorHandler: (error) => unhandled(error, options),
  })
  const server = createServer(
    { ...LIMITS, shouldUpgradeCallback: (request) => isUpgrade(request, webSocket) },
    (request, response) => {
      const start = () => {
        const reason = refusal(request)
        if (reason) respond(response, rawResponse(invalid(reason), now()))
        else void listener(request, response)
      }
      connections.begin({ request, response, start })
    },
  )
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_CONNECTION
  // Node drops headers beyond a number of them without a word, perhaps a second Host; their size is limited anyway.
  server.maxHeadersCount = 0
  server.on('connection', (socket) => admit(connections, socket, now))
  server.on('clientError', (error, socket) =>
    answerBrokenRequest(connections.get(socket), error, now),
  )
  server.on('checkExpectation', (request, response) => {
    const start = () =>
      respond(
        response,
        rawResponse(invalid('Expected 100-continue as the only expectation.'), now(), 417),
      )
    connections.begin({ request, response, start })
  })
  server.on('connect', (_request, socket) => {
    const problem = new ProblemError('METHOD_NOT_ALLOWED', {
      message: 'This server is no tunnel: it does not take CONNECT.',
    })
    refuseUpgrade(socket, problem, now())
  })
  server.setTimeout(UNREAD_MS, (socket) => cutIdle(connections.get(socket)))
  if (webSocket) {
    server.on('upgrade', (request, socket, head) => {
      const connection = connections.get(socket)
      if (connection) connection.upgraded = true
      const reason = refusal(request)
      if (reason) refuseUpgrade(socket, invalid(reason), now())
      // A Node before 24.9 knows no shouldUpgradeCallback and hands over every upgrade.
      else if (!isUpgrade(request, webSocket))
        refuseUpgrade(
          socket,
          new ProblemError('NOT_FOUND', { message: 'There is nothing at this path.' }),
          now(),
        )
      else webSocket.onUpgrade(request, socket, head)
    })
  }
  await listen(server, config)
  const sweep = setInterval(() => connections.sweep(performance.now()), SWEEP_MS)
  return {
    port: (server.address() as AddressInfo).port,
    async stop(withinMs) {
      await stop(server, connections, withinMs)
      clearInterval(sweep)
    },
  }
}

/** Behind a balancer every connection comes from its address, so only the total is a limit there unless the operator says otherwise. */
function capsOf({
  trustedProxyHops,
  maxConnections = DEFAULT_MAX_CONNECTIONS,
  maxConnectionsPerAddress,
}: HttpConfig): ConnectionCaps {
  const usual = trustedProxyHops > 0 ? maxConnections : DEFAULT_MAX_CONNECTIONS_PER_ADDRESS
  return { total: maxConnections, perAddress: maxConnectionsPerAddress ?? usual }
}

function invalid(message: string): ProblemError {
  return new ProblemError('INVALID_PARAMETERS', { message })
}

function respond(
  response: {
    writeHead(status: number, headers: Record<string, string>): { end(body: string): unknown }
  },
  answer: RawResponse,
): void {
  response.writeHead(answer.status, answer.headers).end(answer.body)
}

function isUpgrade(request: IncomingMessage, webSocket: Options['webSocket']): boolean {
  return (
    webSocket !== undefined &&
    request.url?.split('?', 1)[0] === webSocket.path &&
    request.headers.upgrade?.toLowerCase() === 'websocket'
  )
}

/** Forms that two HTTP readers may understand differently, and that no client of ours sends. */
function refusal(request: IncomingMessage): string | undefined {
  if (request.httpVersion !== '1.1')
    return `Expected HTTP/1.1, received HTTP/${request.httpVersion}.`
  if (!request.url?.startsWith('/'))
    return 'Expected a path as the request target, received another form.'
  let hosts = 0
  for (let index = 0; index < request.rawHeaders.length; index += 2)
    if (request.rawHeaders[index]?.toLowerCase() === 'host') hosts++
  return hosts === 1 ? undefined : `Expected one Host header, received ${hosts}.`
}

function admit(connections: Connections, socket: Socket, now: () => Date): void {
  const cap = connections.admit(socket)
  if (cap === undefined) return
  const message =
    cap === 'total' ? 'Too many connections.' : 'Too many connections from this address.'
  const problem = new ProblemError(cap === 'total' ? 'SERVICE_UNAVAILABLE' : 'RATE_LIMIT', {
    message,
    retryAfter: 1,
  })
  // The answer leaves with this call or not at all; the descriptor is free at once.
  socket.write(rawText(rawResponse(problem, now())))
  socket.destroy()
}

const BROKEN: Readonly<Record<string, { status: number; message: string }>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    message: 'Expected at most 16 KiB of request line and headers.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'Expected chunks without extensions.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },
}

function answerBrokenRequest(
  connection: HttpConnection | undefined,
  error: NodeJS.ErrnoException,
  now: () => Date,
): void {
  if (!connection || connection.closing) return
  const { socket, exchanges } = connection
  const isWhole = [...exchanges].some(({ request }) => request.complete)
  if (
    error.code === 'ECONNRESET' ||
    !socket.writable ||
    [...exchanges].some(({ response }) => response.headersSent)
  ) {
    socket.destroy()
  } else if (isWhole) {
    // What is broken came after a request whose answer is being made: that one is answered, and then the connection ends.
    for (const { response } of exchanges) response.setHeader('Connection', 'close')
  } else {
    connection.closing = true
    const { status, message } = BROKEN[error.code ?? ''] ?? {
      status: 400,
      message: 'The request is not valid HTTP/1.1.',
    }
    endWith(socket, rawResponse(invalid(message), now(), status))
  }
}

/** Nothing went over this connection for a while: it is idle after an answer, its client does not read, or the application is at work. */
function cutIdle(connection: HttpConnection | undefined): void {
  if (!connection || connection.upgraded) return
  const { socket, exchanges, served } = connection
  // A first request that does not arrive is left to the deadline of its headers, which is answered.
  if (exchanges.size === 0 ? served : socket.writableLength > 0) socket.destroy()
}

/** The answer where the application has none: to a target or Host that is no URL, and to an error that it did not catch. */
function unhandled(error: unknown, { now, onError }: Options): Response {
  const isInvalid = error instanceof RequestError
  if (!isInvalid) onError(error)
  const problem = isInvalid
    ? invalid('Expected a Host header and a request target that make a URL.')
    : new ProblemError('INTERNAL')
  const { status, headers, body } = rawResponse(problem, now())
  return new Response(body, { status, headers })
}

function listen(server: Server, { host, port }: HttpConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

async function stop(server: Server, connections: Connections, withinMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  connections.destroySilent()
  // A connection becomes idle when its last answer is out; Node looks for idle ones only when close is called.
  const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS)
  const cut = setTimeout(() => connections.destroyAll(), withinMs)
  await closed
  clearInterval(sweep)
  clearTimeout(cut)
}
