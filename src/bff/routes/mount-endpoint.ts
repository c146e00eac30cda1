import type { Hono } from 'hono'
import { browserEndpoints } from '#contract/browser-endpoints.ts'
import { CONFIRM_HEADER } from '#contract/dashboard-endpoints.ts'
import { APPROVAL_HEADER } from '#contract/approval.ts'
import { endpoints, type EndpointInput } from '#contract/endpoints.ts'
import type { BrowserEndpoint, Endpoint } from '#contract/endpoint.ts'
import { ProblemError } from '#contract/problem.ts'
import type { ProxyContext } from '../context/context.ts'
import { ownRoutes } from './own-routes.ts'
import { ACCESS, withAccess } from '../session/access.ts'
import type { OwnCall, OwnEndpointName, OwnRule } from '../session/own-rule.ts'
import { routes } from './routes.ts'
import { requireRole, type BrowserEndpointName, type Rule } from '../session/rule.ts'
import { readJsonBody } from '../http/body.ts'
import type { HonoEnv, HttpContext } from '../http/env.ts'
import { parseInput, readQuery, type RawInput } from '../http/parse.ts'
import { replyJson } from '../http/reply.ts'
import { readVisitor } from '../session/visitor.ts'

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
  app.on(endpoint.method, `/api${endpoint.path}`, async (c) => {
    c.set('route', name)
    const raw: RawInput = {
      params: c.req.param(),
      query: endpoint.query ? readQuery(new URL(c.req.url)) : {},
      body: endpoint.body ? await readJsonBody(c.env.incoming) : undefined,
    }
    // The schemas of the row are those that EndpointInput is made from.
    const input = parseInput(endpoint, raw) as EndpointInput<K>
    const idempotencyKey = readIdempotencyKey(c)
    const visitor = await readVisitor(context, c)
    const confirmation = readConfirmation(c)
    const approval = c.req.header(APPROVAL_HEADER)
    const requestId = c.get('requestId')
    const reply = await withAccess({ context, visitor, name, requestId, about: input }, () =>
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
    const visitor = await readVisitor(context, c)
    // What is larger than usual is read for those alone who may send it.
    const least = ACCESS[name]
    if (endpoint.maxBytes !== undefined && least !== 'anybody') requireRole(visitor, least)
    const raw = {
      params: {},
      query: {},
      body: endpoint.body ? await readJsonBody(c.env.incoming, endpoint.maxBytes) : undefined,
    }
    // As above: the row's own schema.
    const body = parseInput(endpoint, raw).body as OwnCall<K>['body']
    const idempotencyKey = readIdempotencyKey(c)
    const approval = c.req.header(APPROVAL_HEADER)
    const requestId = c.get('requestId')
    const reply = await withAccess({ context, visitor, name, requestId, about: { body } }, () =>
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
