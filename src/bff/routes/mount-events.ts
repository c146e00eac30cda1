import type { Hono } from 'hono'
import { EVENTS_PATH } from '#contract/dashboard-endpoints.ts'
import { ProblemError } from '#contract/problem.ts'
import { alreadySent } from '#http/server.ts'
import type { ProxyContext } from '../context/context.ts'
import type { HonoEnv } from '../http/env.ts'
import { commonHeaders } from '../http/headers.ts'
import { readVisitor } from '../session/visitor.ts'
import { requireSession } from '../session/rule.ts'

const EVENT_ID = /^[0-9]{1,18}$/

/** `GET /api/events`: server-sent events of the payments that the session may see. */
export function mountEvents(app: Hono<HonoEnv>, context: ProxyContext): void {
  app.get(EVENTS_PATH, async (c) => {
    c.set('route', 'events')
    if (c.req.method !== 'GET') throw new ProblemError('METHOD_NOT_ALLOWED')
    const visitor = await readVisitor(context, c)
    const session = requireSession(visitor)
    // The header is the browser's own; the query serves clients that cannot set it on their first connection.
    const text = c.req.header('last-event-id') || c.req.query('lastEventId')
    if (text && !EVENT_ID.test(text))
      throw new ProblemError('INVALID_PARAMETERS', {
        details: { lastEventId: 'Expected the id of an event.' },
      })
    context.streams.refuseTooMany(session, visitor.address)

    const response = c.env.outgoing
    response.writeHead(200, {
      ...commonHeaders(c.get('requestId'), c.get('origin')),
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store, no-transform',
      'X-Accel-Buffering': 'no',
    })
    context.streams.open(response, {
      session,
      address: visitor.address,
      position: text ? BigInt(text) : undefined,
    })
    return alreadySent()
  })
}
