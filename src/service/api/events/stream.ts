import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { ProblemError } from '#contract/problem.ts'
import { clientAddress } from '#http/connections.ts'
import { refuseUpgrade } from '#http/server.ts'
import type { OpenDatabase } from '#postgres/open.ts'
import type { Context } from '../../context/context.ts'
import { ANONYMOUS_PER_MINUTE } from '../identify.ts'
import {
  SOCKET_RENEWAL_MS,
  renewSockets,
  extendSockets,
  releaseSocket,
} from '../../limits/socket-lease.ts'
import type { Metrics } from '../../context/metrics.ts'
import { openConnection, type EventConnection, type StreamOptions, CLOSE } from './connection.ts'
import { EVENT_CHANNEL } from '../../events/read.ts'
import type { ReadPayments } from '../../events/to-message.ts'

export type EventStream = {
  onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Closes all connections; a client resumes at another process. */
  stop(): Promise<void>
}

type Options = {
  listen: OpenDatabase['listen']
  metrics: Metrics
  readPayments: ReadPayments
  limits?: Partial<Pick<StreamOptions, 'authenticateWithinMs' | 'sendWithinMs'>>
}

export const EVENTS_PATH = '/ws'

const PING_MS = 30_000
/** How often the keys of open connections are checked. */
const RENEW_MS = 10_000
const MAX_MESSAGE_BYTES = 16 * 1024

/** `GET /ws` of one process: accepts connections, wakes them when there are events, and sees to it that the dead and the revoked end. */
export async function startEventStream(
  context: Context,
  { listen, metrics, readPayments, limits }: Options,
): Promise<EventStream> {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  })
  // In place of the answer of ws, which is text.
  server.on('wsClientError', (error, socket) =>
    refuseUpgrade(
      socket,
      new ProblemError('INVALID_PARAMETERS', { message: error.message }),
      context.now(),
    ),
  )
  const connections = new Map<WebSocket, EventConnection>()
  const silent = new WeakSet<WebSocket>()
  const options: StreamOptions = {
    authenticateWithinMs: 5_000,
    sendWithinMs: 10_000,
    ...limits,
    readPayments,
    onSent: () => metrics.sentEvents.inc(),
  }

  function accept(ws: WebSocket): void {
    const connection = openConnection(ws, context, options)
    connections.set(ws, connection)
    metrics.openSockets.inc()
    ws.on('pong', () => silent.delete(ws))
    ws.once('close', () => {
      connections.delete(ws)
      metrics.openSockets.dec()
      releaseSocket(context.db, connection.id).catch((error: unknown) =>
        context.log.debug({ err: error }, 'socket lease left to run out'),
      )
    })
  }

  const unlisten = await listen(EVENT_CHANNEL, (names) => {
    const accounts = new Set(names.split(' '))
    for (const connection of connections.values())
      if (names === '' || accounts.has(connection.accountId() ?? '')) connection.notify()
  })
  const ping = setInterval(() => {
    for (const ws of connections.keys()) {
      if (silent.has(ws)) ws.terminate()
      else {
        silent.add(ws)
        ws.ping()
      }
    }
  }, PING_MS)
  const renew = setInterval(() => void renewLeases(context, connections), RENEW_MS)
  const heartbeat = setInterval(() => {
    // A beat that fails costs the count of connections at most.
    renewSockets(
      context.db,
      entered(connections).map(({ id }) => id),
    ).catch(() => {})
  }, SOCKET_RENEWAL_MS)

  async function end(): Promise<void> {
    clearInterval(ping)
    clearInterval(renew)
    clearInterval(heartbeat)
    await unlisten()
    const closed = [...connections.keys()].map(
      (ws) => new Promise((resolve) => ws.once('close', resolve)),
    )
    for (const connection of connections.values())
      connection.close(CLOSE.goingAway, 'the service stops; resume with since')
    await Promise.all(closed)
  }
  let ended: Promise<void> | undefined

  return {
    onUpgrade(request, socket, head) {
      socket.on('error', () => socket.destroy())
      void admit(context, request).then((refusal) => {
        if (refusal) refuseUpgrade(socket, refusal, context.now())
        else if (!socket.destroyed) server.handleUpgrade(request, socket, head, accept)
      })
    },
    stop: () => (ended ??= end()),
  }
}

/** Why an upgrade is refused; nothing when it may go on. */
async function admit(
  context: Context,
  request: IncomingMessage,
): Promise<ProblemError | undefined> {
  try {
    // A limit apart: wrong keys from the same address must not keep the stream from coming back.
    const pool = `ws:${clientAddress(request, context.config.trustedProxyHops)}`
    const verdict = await context.limits.take([{ pool, perMinute: ANONYMOUS_PER_MINUTE }])
    return verdict.allowed
      ? undefined
      : new ProblemError('RATE_LIMIT', { retryAfter: verdict.retryAfter })
  } catch (error) {
    context.log.error({ err: error }, 'upgrade failed')
    return new ProblemError('SERVICE_UNAVAILABLE', {
      message: 'The database does not answer now. Nothing is decided.',
      retryAfter: 2,
    })
  }
}

/** A key that was revoked, ran out or lost the scope ends its connections here. The look at the rows makes up for a notification that never came. */
async function renewLeases(
  context: Context,
  connections: ReadonlyMap<WebSocket, EventConnection>,
): Promise<void> {
  const open = entered(connections)
  try {
    const valid = await extendSockets(
      context.db,
      open.map(({ id }) => id),
      context.now(),
    )
    for (const connection of open) {
      const reads = valid.get(connection.id)
      if (reads === undefined) connection.close(CLOSE.unauthorized, 'the key is no longer valid')
      else if (connection.mayRead() && !reads)
        connection.close(CLOSE.unauthorized, 'the key lacks payment:read now')
      else connection.notify()
    }
  } catch (error) {
    context.log.warn({ err: error }, 'socket leases not extended')
  }
}

function entered(connections: ReadonlyMap<WebSocket, EventConnection>): EventConnection[] {
  return [...connections.values()].filter((connection) => connection.accountId() !== undefined)
}
