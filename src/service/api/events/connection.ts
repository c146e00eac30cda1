import * as v from 'valibot'
import type { RawData, WebSocket } from 'ws'
import { PLANS } from '#contract/api-key-body.ts'
import { SocketRequest, type EventKind, type SocketMessage } from '#contract/event.ts'
import { describe } from '#contract/fields.ts'
import { JsonError, parseJson, stringifyJson } from '#contract/json.ts'
import { ProblemError } from '#contract/problem.ts'
import { renderDecodeProblem } from '#contract/render-en.ts'
import type { Authenticated, Context } from '../../context/context.ts'
import { toMessages, type ReadPayments, type EventMessage } from '../../events/to-message.ts'
import { authenticate, missingScope } from '../../keys/authenticate.ts'
import { createMeter } from '../../limits/limits.ts'
import { takeSocket } from '../../limits/socket-lease.ts'
import { toProblem } from '../envelope.ts'
import { parseInput } from '../parse-input.ts'
import { createSubscription, type Subscription } from './subscription.ts'

/** Why a connection of ours ends; 4xxx is ours to define (RFC 6455, 7.4.2). */
export const CLOSE = {
  goingAway: 1001,
  failed: 1011,
  tooSlow: 1013,
  unauthorized: 4401,
  limited: 4429,
} as const

/** After this a close frame that the client never read is no longer waited for. */
const CLOSE_WITHIN_MS = 1_000

type Outgoing = Exclude<SocketMessage, { type: EventKind }> | EventMessage

export type Sender = {
  /** Resolves when the message has left this process, so that a caller who waits for it buffers one at most. */
  send(message: Outgoing): Promise<void>
  close(code: number, reason: string): void
}

function createSender(ws: WebSocket, sendWithinMs: number): Sender {
  function close(code: number, reason: string): void {
    ws.close(code, reason)
    setTimeout(() => ws.terminate(), CLOSE_WITHIN_MS).unref()
  }
  function send(message: Outgoing): Promise<void> {
    return new Promise((resolve, reject) => {
      if (ws.readyState !== ws.OPEN) return reject(new Error('The connection is closed.'))
      const slow = setTimeout(() => {
        close(CLOSE.tooSlow, 'slow consumer; resume with since')
        reject(new Error('The client does not read.'))
      }, sendWithinMs)
      ws.send(stringifyJson(message), (error) => {
        clearTimeout(slow)
        if (error) reject(error)
        else resolve()
      })
    })
  }
  return { send, close }
}

export type StreamOptions = {
  readPayments: ReadPayments
  onSent: () => void
  authenticateWithinMs: number
  /** How long one message may wait for a client that does not read. */
  sendWithinMs: number
}

export type EventConnection = {
  id: string
  accountId(): string | undefined
  /** Whether its key had the scope for events when it was authenticated. */
  mayRead(): boolean
  /** Looks for new events. */
  notify(): void
  close(code: number, reason: string): void
}

/** A client that asks faster than it is answered is cut off before its questions fill the memory. */
const MOST_WAITING = 100

/** Speaks the protocol of `GET /ws` with one client. */
export function openConnection(
  ws: WebSocket,
  context: Context,
  options: StreamOptions,
): EventConnection {
  const id = crypto.randomUUID()
  const log = context.log.child({ socketId: id })
  let caller: Authenticated | undefined
  let subscription: Subscription | undefined
  let meter = createMeter(PLANS.standard.messagesPerSecond)
  let waiting = 0
  let work = Promise.resolve()

  const { send, close } = createSender(ws, options.sendWithinMs)
  const late = setTimeout(
    () => close(CLOSE.unauthorized, 'authenticate within 5 seconds'),
    options.authenticateWithinMs,
  )
  ws.on('error', (error) => log.debug({ err: error }, 'socket error'))
  ws.on('close', (code) => {
    clearTimeout(late)
    log.info({ accountId: caller?.accountId, code }, 'socket closed')
  })
  ws.on('message', (data, isBinary) => {
    if (++waiting > MOST_WAITING || !meter.take()) {
      void send({ type: 'error', code: 'RATE_LIMIT', message: 'Too many messages.' }).catch(
        () => {},
      )
      return close(CLOSE.limited, 'too many messages')
    }
    work = work.then(() => hear(data, isBinary)).finally(() => waiting--)
  })

  async function hear(data: RawData, isBinary: boolean): Promise<void> {
    if (ws.readyState !== ws.OPEN) return
    try {
      await obey(readRequest(data, isBinary))
    } catch (error) {
      const problem = toProblem(error)
      if (problem !== error) log.error({ err: error }, 'socket request failed')
      await send({ type: 'error', code: problem.code, message: problem.message }).catch(() => {})
      if (problem.code === 'UNAUTHORIZED') close(CLOSE.unauthorized, 'not authenticated')
      if (problem.code === 'RATE_LIMIT') close(CLOSE.limited, 'too many connections')
    }
  }

  async function obey(request: SocketRequest): Promise<void> {
    if (request.method === 'authenticate') return await enter(request.apiKey)
    if (!subscription || !caller)
      throw new ProblemError('UNAUTHORIZED', { message: 'Authenticate first.' })
    if (request.method === 'unsubscribe') {
      subscription.remove(request.keys)
      return await send({
        type: 'unsubscribed',
        keys: [...subscription.keys],
        timestamp: context.now().getTime(),
      })
    }
    if (!mayRead()) throw missingScope(caller, 'payment:read')
    const lastEventId = await subscription.add(request.keys, request.since)
    await send({
      type: 'subscribed',
      keys: [...subscription.keys],
      lastEventId: String(lastEventId),
      timestamp: context.now().getTime(),
    })
    notify()
  }

  async function enter(apiKey: string): Promise<void> {
    if (subscription)
      throw new ProblemError('INVALID_PARAMETERS', {
        message: 'This connection is authenticated already.',
      })
    const found = await authenticate(context.db, apiKey, context.now())
    if (!found) throw new ProblemError('UNAUTHORIZED')
    const plan = PLANS[found.plan]
    if (!(await takeSocket(context.db, { id, keyId: found.keyId, most: plan.webSockets }))) {
      throw new ProblemError('RATE_LIMIT', {
        message: `Expected at most ${plan.webSockets} connections of this key.`,
      })
    }
    clearTimeout(late)
    log.info({ accountId: found.accountId, keyId: found.keyId }, 'socket opened')
    caller = found
    meter = createMeter(plan.messagesPerSecond)
    subscription = createSubscription(context.db, found.accountId, {
      describe: async (rows) => {
        const ids = new Set(rows.map(({ paymentId }) => paymentId))
        return toMessages(context.db, rows, await options.readPayments([...ids]))
      },
      send: async (message) => {
        await send(message)
        options.onSent()
      },
    })
    await send({ type: 'authenticated', userId: found.accountId, plan: found.plan })
  }

  function mayRead(): boolean {
    return caller?.scopes.has('payment:read') === true
  }

  function notify(): void {
    subscription?.pump().catch((error: unknown) => {
      if (ws.readyState !== ws.OPEN) return
      log.warn({ err: error }, 'event stream broke off')
      close(CLOSE.failed, 'resume with since')
    })
  }

  return { id, accountId: () => caller?.accountId, mayRead, notify, close }
}

function readRequest(data: RawData, isBinary: boolean): SocketRequest {
  if (isBinary)
    throw new ProblemError('INVALID_PARAMETERS', { message: 'Expected a text message.' })
  let value: unknown
  try {
    value = parseJson(String(data))
  } catch (error) {
    if (error instanceof JsonError)
      throw new ProblemError(
        'INVALID_PARAMETERS',
        { message: renderDecodeProblem(error.problem) },
        { cause: error },
      )
    throw error
  }
  const { method } = isRecord(value) ? value : {}
  const schema = SocketRequest.options.find(({ entries }) => entries.method.literal === method)
  if (schema) return v.parse(SocketRequest, parseInput({ body: schema }, { body: value }).body)
  const methods = SocketRequest.options.map(({ entries }) => entries.method.literal).join(', ')
  throw new ProblemError('INVALID_PARAMETERS', {
    message: `method: Expected one of ${methods}, received ${describe(method)}.`,
  })
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
