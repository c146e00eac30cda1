import type { Hono } from 'hono'
import { APPROVAL_HEADER } from '#contract/approval.ts'
import { browserEndpoints } from '#contract/browser-endpoints.ts'
import { CONFIRM_HEADER, EVENTS_PATH } from '#contract/dashboard-endpoints.ts'
import type { BrowserEndpoint, Endpoint } from '#contract/endpoint.ts'
import { endpoints, type EndpointInput } from '#contract/endpoints.ts'
import { DOWNLOAD_PATH, FILE_PATH } from '#contract/file-endpoints.ts'
import { parseJson, parsePayment } from '#contract/json.ts'
import { isLinkCode } from '#contract/payment-link.ts'
import { ProblemError } from '#contract/problem.ts'
import { alreadySent } from '#http/server.ts'
import type { ProxyContext } from '../context/context.ts'
import { findFileByCode, findTicket, takeTicket, type FileRow } from '../db/files.ts'
import { deliver, settleDelivery } from '../files/deliver.ts'
import { isSettled, readStatus } from '../files/ownership.ts'
import { sell } from '../files/sell.ts'
import { openSource, readRange, SourceError } from '../files/source.ts'
import { commonHeaders } from '../http/headers.ts'
import { readJsonBody, parseInput, readQuery, type RawInput } from '../http/parse.ts'
import { type HonoEnv, type HttpContext, replyJson } from '../http/reply.ts'
import { ACCESS, withAccess } from '../session/access.ts'
import {
  type OwnCall,
  type OwnEndpointName,
  type OwnRule,
  requireRole,
  type BrowserEndpointName,
  type Rule,
  requireSession,
  spender,
} from '../session/rule.ts'
import { hashCookieValue, isCookieValue } from '../session/random.ts'
import { readVisitor, type Visitor } from '../session/visitor.ts'
import { ownRoutes } from './own-routes.ts'
import { routes } from './routes.ts'

/** Long enough that nobody guesses another visitor's; the rest of the limit is the service's, less the prefix. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{16,200}$/

/** Mounts one row of the service's table under `/api`. */
export function mountEndpoint<K extends BrowserEndpointName>(
  app: Hono<HonoEnv>,
  context: ProxyContext,
  name: K,
): void {
  const rule: Rule<K> = routes[name]
  const endpoint: Endpoint = endpoints[name]
  const parse = endpoint.carriesPayment ? parsePayment : parseJson
  app.on(endpoint.method, `/api${endpoint.path}`, async (c) => {
    c.set('route', name)
    const raw: RawInput = {
      params: c.req.param(),
      query: endpoint.query ? readQuery(new URL(c.req.url)) : {},
      body: endpoint.body ? await readJsonBody(c.env.incoming, { parse }) : undefined,
    }
    // The schemas of the row are those that EndpointInput is made from.
    const input = parseInput(endpoint, raw) as EndpointInput<K>
    const idempotencyKey = readIdempotencyKey(c)
    const visitor = await readVisitor(context, c)
    const confirmation = readConfirmation(c)
    const approval = c.req.header(APPROVAL_HEADER)
    const requestId = c.get('requestId')
    const access = { context, visitor, name, requestId, approval, about: input }
    const reply = await withAccess(access, () =>
      rule({ context, visitor, input, raw, requestId, idempotencyKey, confirmation, approval }),
    )
    return replyJson(c, reply.value, { ...reply.headers, 'X-Request-Id': c.get('requestId') })
  })
}

/** Mounts one of the proxy's own endpoints. */
export function mountOwnEndpoint<K extends OwnEndpointName>(
  app: Hono<HonoEnv>,
  context: ProxyContext,
  name: K,
): void {
  const rule: OwnRule<K> = ownRoutes[name]
  const endpoint: BrowserEndpoint = browserEndpoints[name]
  app.on(endpoint.method, `/api${endpoint.path}`, async (c) => {
    c.set('route', name)
    // What is larger than usual is read for those alone who may send it.
    const least = ACCESS[name]
    if (endpoint.maxBytes !== undefined && least !== 'anybody')
      requireRole(await readVisitor(context, c), least)
    const raw = {
      params: {},
      query: {},
      body: endpoint.body
        ? await readJsonBody(c.env.incoming, { maxBytes: endpoint.maxBytes })
        : undefined,
    }
    // As above: the row's own schema.
    const body = parseInput(endpoint, raw).body as OwnCall<K>['body']
    // After the body, which may take its time: a session or a role that ended meanwhile counts for nothing.
    const visitor = await readVisitor(context, c)
    const idempotencyKey = readIdempotencyKey(c)
    const approval = c.req.header(APPROVAL_HEADER)
    const requestId = c.get('requestId')
    const access = { context, visitor, name, requestId, approval, about: { body } }
    const reply = await withAccess(access, () =>
      rule({ context, visitor, body, requestId, idempotencyKey, approval }),
    )
    for (const cookie of reply.cookies ?? []) c.header('Set-Cookie', cookie, { append: true })
    return replyJson(c, reply.value, { ...reply.headers, 'X-Request-Id': c.get('requestId') })
  })
}

/** Percent-encoded, since a header holds no letters beyond ASCII. */
function readConfirmation(c: HttpContext): string | undefined {
  try {
    return decodeURIComponent(c.req.header(CONFIRM_HEADER) ?? '') || undefined
  } catch {
    return undefined
  }
}

function readIdempotencyKey(c: HttpContext): string | undefined {
  const key = c.req.header('idempotency-key')
  if (key === undefined || IDEMPOTENCY_KEY.test(key)) return key
  throw new ProblemError('INVALID_PARAMETERS', {
    details: {
      'Idempotency-Key':
        'Expected 16 to 200 visible ASCII characters that nobody can guess, a UUID for example.',
    },
  })
}

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
      spend: () => context.budgets.spend(spender(visitor), 'tail'),
    })
    return alreadySent()
  })
}

/** What a program on a page of any origin may send, and read. The official client sends the last one. */
const REQUEST_HEADERS = 'x-payment, payment-signature, range, access-control-expose-headers'
const EXPOSED_HEADERS =
  'PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, Retry-After, Content-Disposition, Content-Range, Accept-Ranges'

/**
 * The public addresses of files. No cookie counts here: a file is for who sends its payment, and a
 * download for who has its ticket.
 */
export function mountFiles(app: Hono<HonoEnv>, context: ProxyContext): void {
  if (!context.config.files) return
  app.options(FILE_PATH, (c) => {
    allowAnyOrigin(c)
    c.header('Access-Control-Allow-Methods', 'GET, HEAD, OPTIONS')
    c.header('Access-Control-Allow-Headers', REQUEST_HEADERS)
    c.header('Access-Control-Max-Age', '600')
    return c.body(null, 204)
  })
  app.get(FILE_PATH, async (c) => {
    c.set('route', 'file')
    allowAnyOrigin(c)
    // A cookie of a page on another origin is not sent, and one that is sent counts for nothing.
    const visitor = { ...(await readVisitor(context, c)), session: undefined }
    context.budgets.spendLink(visitor.address)
    const code = c.req.param('code')
    const file = isLinkCode(code) ? await findFileByCode(context.db, code) : undefined
    if (!file) throw new ProblemError('NOT_FOUND', { message: 'There is no such file.' })
    return isPerson(c)
      ? c.redirect(`${file.page}/${file.code}`, 303)
      : sell({ c, context, file, visitor })
  })
  app.get(DOWNLOAD_PATH, async (c) => {
    c.set('route', 'download')
    // A program that looks a link up before a person opens it must not use it up.
    if (c.req.method !== 'GET') throw new ProblemError('METHOD_NOT_ALLOWED')
    const value = c.req.param('ticket')
    const visitor = { ...(await readVisitor(context, c)), session: undefined }
    const ticket = { ticketHash: hashCookieValue(value), now: context.now() }
    const found = isCookieValue(value) ? await findTicket(context.db, ticket) : undefined
    if (found)
      await requireUnrefunded(context, { visitor, requestId: c.get('requestId'), ...found })
    if (!found || !(await takeTicket(context.db, ticket)))
      throw new ProblemError('NOT_FOUND', {
        message: 'This download address was used, or has expired. Choose Download again.',
      })
    return download(c, context, { ...found, visitor })
  })
}

type Download = { file: FileRow; paymentId: string; visitor: Visitor }

/** The payment may be on its way back since the address was given. */
async function requireUnrefunded(
  context: ProxyContext,
  {
    visitor,
    paymentId,
    requestId,
  }: Pick<Download, 'visitor' | 'paymentId'> & { requestId: string },
): Promise<void> {
  const payment = await readStatus({ context, visitor, requestId }, paymentId)
  if (!payment || !isSettled(payment))
    throw new ProblemError('NOT_FOUND', {
      message: 'This payment was refunded, or its refund was started. It buys the file no more.',
    })
}

async function download(
  c: HttpContext,
  context: ProxyContext,
  { file, paymentId, visitor }: Download,
): Promise<Response> {
  const requestId = c.get('requestId')
  const spend = () => context.budgets.spend(spender(visitor), 'tail')
  const range = readRange(c.req.header('range'), file.ranges ? file.size : null)
  if (range === 'unsatisfiable') {
    c.header('Content-Range', `bytes */${file.size ?? '*'}`)
    return c.json({ error: 'The file has no such part.' }, 416)
  }
  try {
    const opened = await openSource(context, file, range)
    return deliver(c, context, { file, paymentId, opened, spend })
  } catch (error) {
    const failed = error instanceof SourceError
    await settleDelivery(context, { paymentId, requestId, delivered: false, failed, spend })
    if (!failed) throw error
    context.log.warn({ err: error, fileId: file.id }, 'a source gives no file')
    throw new ProblemError('SERVICE_UNAVAILABLE', {
      message: 'The file cannot be read now. You keep it: try again later.',
      reason: 'source_unavailable',
      retryAfter: 5,
    })
  }
}

/** Nothing here depends on who asks. */
function allowAnyOrigin(c: HttpContext): void {
  c.header('Access-Control-Allow-Origin', '*')
  c.header('Access-Control-Allow-Credentials', undefined)
  c.header('Access-Control-Expose-Headers', EXPOSED_HEADERS)
  c.header('Cross-Origin-Resource-Policy', 'cross-origin')
}

/** A browser that opens the address, and brings no payment. */
function isPerson(c: HttpContext): boolean {
  const paid = c.req.header('payment-signature') ?? c.req.header('x-payment')
  return paid === undefined && (c.req.header('accept') ?? '').includes('text/html')
}
