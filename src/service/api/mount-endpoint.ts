import { createHash } from 'node:crypto'
import type { Context as HttpContext, Hono } from 'hono'
import * as v from 'valibot'
import type { Endpoint } from '#contract/endpoint.ts'
import {
  endpoints,
  type EndpointInput,
  type EndpointName,
  type EndpointReply,
} from '#contract/endpoints.ts'
import {
  stringifyJson,
  isForbiddenKey,
  JsonError,
  MAX_JSON_BYTES,
  parseJson,
  parsePayment,
} from '#contract/json.ts'
import { RETRYABLE } from '#contract/problem-codes.ts'
import { ProblemError, problems } from '#contract/problem.ts'
import { renderDecodeProblem } from '#contract/render-en.ts'
import { clientAddress } from '#http/connections.ts'
import type { Authenticated, Context, Caller, Actor } from '../context/context.ts'
import { findWalletByAddress } from '../db/wallet-ledger.ts'
import {
  fingerprint,
  checkIdempotencyKey,
  runOnce,
  type StoredOutcome,
} from '../idempotency/run-once.ts'
import { missingScope } from '../keys/authenticate.ts'
import {
  addHeaders,
  logOf,
  problemHeaders,
  problemText,
  respondJson,
  toProblem,
} from './envelope.ts'
import type { HttpEnv, Routes } from './handler.ts'
import { findCaller } from './identify.ts'
import { parseInput } from './parse-input.ts'

/** Used instead of a key id. */
const KEYLESS = 'keyless'

/** Calls of verify and settle per minute and address without a key: each settlement may cost the operator a transaction. */
const KEYLESS_PER_MINUTE = 20

/**
 * The actor for a request without a key, where the operator opens the facilitator to everybody
 * (`FACILITATOR_PUBLIC`): the account whose wallet pays. Undefined where a key is required, and for
 * a request with an invalid key.
 * @throws `RATE_LIMIT`, counted per address
 */
async function actKeyless(
  c: HttpContext<HttpEnv>,
  context: Context,
  endpoint: Endpoint,
): Promise<Actor | undefined> {
  const policy = context.config.facilitators
  if (
    endpoint.keyless !== 'facilitator' ||
    !policy?.public ||
    c.req.header('authorization') !== undefined
  )
    return undefined
  for (const address of policy.wallets ?? []) {
    const wallet = await findWalletByAddress(context.db, address)
    if (!wallet) continue
    if (endpoint.method === 'POST') await countSettlement(c, context)
    return {
      accountId: wallet.accountId,
      keyId: KEYLESS,
      scopes: new Set([endpoint.scope]),
      plan: 'standard',
      keyless: true,
      address: keylessAddress(c, context),
    }
  }
  return undefined
}

async function countSettlement(c: HttpContext<HttpEnv>, context: Context): Promise<void> {
  const address = keylessAddress(c, context)
  const { allowed, retryAfter, limit } = await context.limits.take([
    { pool: `settle ${address}`, perMinute: KEYLESS_PER_MINUTE },
  ])
  if (!allowed)
    throw new ProblemError('RATE_LIMIT', {
      retryAfter,
      details: { limit: `${limit} payments per minute without a key` },
    })
}

/** Callers without a key are told apart by their address, also under an idempotency key. */
function keylessAddress(c: HttpContext<HttpEnv>, context: Context): string {
  return clientAddress(c.env?.incoming, context.config.trustedProxyHops)
}

/**
 * The idempotency key of a caller without an account: it counts for one address. Its row is kept for weeks and has the hash of both alone.
 * A hash of the address would not hide it, since all addresses can be tried.
 */
function keylessKey(address: string, request: { key: string; fingerprint: string }) {
  const key = createHash('sha256').update(`${address} ${request.key}`).digest('hex')
  return { ...request, accountId: KEYLESS, key }
}

/** Each text is decoded as a whole, so one decoder serves all. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true })

const JSON_MEDIA_TYPE = /^application\/json[ \t]*(;[ \t]*charset="?utf-8"?[ \t]*)?$/i

/**
 * Reads a request's body as JSON: exact media type, at most 64 KiB, valid UTF-8, then the strict parser.
 * @throws `UNSUPPORTED_MEDIA_TYPE`, `PAYLOAD_TOO_LARGE`, `INVALID_PARAMETERS`, also where the client left before the end of the body
 */
export async function readBody(request: Request, parse = parseJson): Promise<unknown> {
  const type = request.headers.get('content-type')
  if (!JSON_MEDIA_TYPE.test(type ?? '')) {
    throw new ProblemError('UNSUPPORTED_MEDIA_TYPE', {
      details: {
        'Content-Type': `Expected application/json, received ${type ? JSON.stringify(type.slice(0, 100)) : 'nothing'}.`,
      },
    })
  }
  const encoding = request.headers.get('content-encoding')
  if (encoding && encoding.toLowerCase() !== 'identity') {
    throw new ProblemError('UNSUPPORTED_MEDIA_TYPE', {
      details: { 'Content-Encoding': 'Expected an encoding of identity.' },
    })
  }
  const bytes = await readBytes(request).catch((error: unknown) => {
    // Reading fails only when the connection ends or its deadline passes: that is the client's doing, not an error of ours.
    throw error instanceof ProblemError
      ? error
      : invalidBody('Expected all of it, received a part.', error)
  })
  if (bytes.byteLength === 0) throw invalidBody('Expected a JSON object, received nothing.')
  let text: string
  try {
    text = UTF_8.decode(bytes)
  } catch (error) {
    throw invalidBody('Expected valid UTF-8.', error)
  }
  try {
    return parse(text)
  } catch (error) {
    if (error instanceof JsonError) throw invalidBody(renderDecodeProblem(error.problem), error)
    throw error
  }
}

async function readBytes(request: Request): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  if (declared !== null) {
    if (Number(declared) > MAX_JSON_BYTES) throw new ProblemError('PAYLOAD_TOO_LARGE')
    return new Uint8Array(await request.arrayBuffer())
  }
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength
    if (length > MAX_JSON_BYTES) throw new ProblemError('PAYLOAD_TOO_LARGE')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function invalidBody(message: string, cause?: unknown): ProblemError {
  return new ProblemError(
    'INVALID_PARAMETERS',
    { message: `The body is not valid: ${message}`, details: { body: message } },
    { cause },
  )
}

const LONGEST_WAIT_S = 60
const USUAL_WAIT_S = 15

/** How long an answer may wait, from the header `Prefer` (RFC 7240): `respond-async` or `wait=<seconds>`. What is not understood is ignored, as it says there. */
function readWaitMs(prefer: string | undefined): number {
  const preferences = (prefer ?? '').split(',').map((preference) => preference.trim().toLowerCase())
  const wait = preferences
    .flatMap((preference) => /^wait *= *"?([0-9]{1,6})"?$/.exec(preference)?.[1] ?? [])
    .at(0)
  if (wait !== undefined) return Math.min(Number(wait), LONGEST_WAIT_S) * 1000
  return preferences.includes('respond-async') ? 0 : USUAL_WAIT_S * 1000
}

/** Where an endpoint has no parameters, one that is sent is a mistake as anywhere else. */
const NO_QUERY = v.strictObject({})

/** Mounts one row of the endpoint table: scope, body, schema, idempotency, handler, answer. */
export function mountEndpoint<K extends EndpointName>(
  app: Hono<HttpEnv>,
  { context, routes }: { context: Context; routes: Routes },
  name: K,
): void {
  const handler = routes[name]
  const endpoint: Endpoint = endpoints[name]
  app.on(endpoint.method, endpoint.path, async (c) => {
    c.set('route', name)
    const keyless = await actKeyless(c, context, endpoint)
    if (!keyless) requireScope(c.get('caller'), endpoint)
    c.set('requestInput', { params: c.req.param() })
    const parse = endpoint.carriesPayment ? parsePayment : parseJson
    const body = endpoint.body ? await readBody(c.req.raw, parse) : undefined
    // After the body, which may take its time: a key that ended meanwhile does nothing more.
    const actor = keyless ?? requireScope(await findCaller(c, context), endpoint)
    c.set('requestInput', { params: c.req.param(), body })
    const requestInput = { params: c.req.param(), query: readQuery(c.req.url), body }
    c.set('requestInput', requestInput)
    const input = parsedInput<K>(parseInput({ query: NO_QUERY, ...endpoint }, requestInput))
    const key = endpoint.method === 'POST' ? c.req.header('idempotency-key') : undefined
    const idempotency =
      key === undefined
        ? undefined
        : {
            key: checkIdempotencyKey(key),
            fingerprint: fingerprint(
              name,
              endpoint.params ? { params: c.req.param(), body } : body,
            ),
          }
    // What is kept under a key can be fetched again, so nothing is lost with the connection.
    const asking = { ...actor, caller: idempotency ? undefined : watchCaller(c, context) }
    const call = {
      context,
      actor: asking,
      input,
      requestId: c.get('requestId'),
      idempotency,
      waitMs: readWaitMs(c.req.header('prefer')),
    }
    const run = () => answer(c, context, { name, endpoint, reply: () => handler(call) })
    if (!idempotency) {
      const outcome = await run()
      return respondJson(c, outcome.status, outcome.body)
    }
    const owned = keyless
      ? keylessKey(keylessAddress(c, context), idempotency)
      : { accountId: actor.accountId, ...idempotency }
    const outcome = await runOnce(context.db, owned, run)
    if ('replayed' in outcome) addHeaders(c, { 'idempotent-replayed': 'true' })
    return respondJson(c, outcome.status, outcome.body)
  })
}

function requireScope(caller: Authenticated | undefined, endpoint: Endpoint): Authenticated {
  if (!caller) throw new ProblemError('UNAUTHORIZED')
  if (caller.scopes.has(endpoint.scope)) return caller
  throw missingScope(caller, endpoint.scope)
}

type Work<K extends EndpointName> = {
  name: K
  endpoint: Endpoint
  reply: () => Promise<EndpointReply<K>>
}

/** Runs the handler. Its problems become the answer here, so that the ones worth keeping are kept under the idempotency key. */
async function answer<K extends EndpointName>(
  c: HttpContext<HttpEnv>,
  context: Context,
  { name, endpoint, reply }: Work<K>,
): Promise<StoredOutcome> {
  try {
    const body = await reply()
    const checked = v.safeParse(endpoint.response, body)
    if (!checked.success)
      throw new Error(
        `The answer of ${name} does not match its schema at ${v.getDotPath(checked.issues[0]) ?? 'its root'}: ${checked.issues[0].message}`,
      )
    if (endpoint.pending && 'status' in body && body.status === 'pending')
      return {
        status: 202,
        body: stringifyJson(body),
        keep: endpoint.pending === 'keep',
        begun: true,
      }
    const keep =
      endpoint.keeps !== 'nothing' &&
      !(endpoint.keeps === 'success' && 'success' in body && !body.success)
    return {
      status: 200,
      body: stringifyJson(body),
      keep,
      begun: endpoint.keeps === 'success',
      replacement: endpoint.secret
        ? replyWithoutSecret(c, context, { secret: endpoint.secret, body })
        : undefined,
    }
  } catch (error) {
    const problem = toProblem(error)
    if (problem !== error) logOf(c, context).error({ err: error }, 'request failed')
    problemHeaders(c, problem)
    const { status } = problems[problem.code]
    return {
      status,
      body: problemText(c, problem, context.now()),
      keep: !RETRYABLE[problem.code],
      begun: status >= 500,
    }
  }
}

/** What stands under an idempotency key in place of an answer that holds a secret: that it was given, and all of it but the secret. */
function replyWithoutSecret(
  c: HttpContext<HttpEnv>,
  context: Context,
  { secret, body }: { secret: string; body: object },
) {
  const answer = Object.fromEntries(Object.entries(body).filter(([field]) => field !== secret))
  const message = `This request was executed. Its response contained a secret (${secret}), which is shown once and never stored. The details contain the rest.`
  const problem = new ProblemError('IDEMPOTENCY_CONFLICT', { message, details: answer })
  return { status: problems[problem.code].status, body: problemText(c, problem, context.now()) }
}

/** The table's types say what its schemas make; TypeScript cannot follow them through a row chosen by name. */
function parsedInput<K extends EndpointName>(
  input: Record<'params' | 'query' | 'body', unknown>,
): EndpointInput<K> {
  return input as EndpointInput<K>
}

/** Watches the connection that an answer goes to. Undefined where the request came over none. */
function watchCaller(c: HttpContext<HttpEnv>, context: Context): Caller | undefined {
  const outgoing = c.env?.outgoing
  if (!outgoing || !('writableFinished' in outgoing)) return undefined
  const unanswered = () => outgoing.destroyed && !outgoing.writableFinished
  const run = (undo: () => Promise<void>) =>
    void undo().catch((error: unknown) =>
      logOf(c, context).error(
        { err: error },
        'a grant whose answer was not written could not be revoked',
      ),
    )
  return {
    get gone() {
      return unanswered()
    },
    ifUnanswered(undo) {
      if (unanswered()) return run(undo)
      outgoing.once('close', () => {
        if (!outgoing.writableFinished) run(undo)
      })
    },
  }
}

/**
 * A query string as an object. A parameter that stands twice is refused: two readers could each believe another one of them.
 * A name that reaches a prototype is too: no schema would see it.
 * @throws `INVALID_PARAMETERS`
 */
function readQuery(url: string): Record<string, string> {
  const start = url.indexOf('?')
  if (start === -1) return {}
  const query: Record<string, string> = Object.create(null)
  const several = new Set<string>()
  for (const [name, value] of new URLSearchParams(url.slice(start + 1))) {
    if (isForbiddenKey(name)) throw refuse({ query: `The name "${name}" is not allowed.` })
    if (name in query) several.add(name)
    query[name] = value
  }
  if (several.size > 0)
    throw refuse(
      Object.fromEntries(
        [...several].map((name) => [name.slice(0, 100), 'Expected one value, received several.']),
      ),
    )
  return query
}

function refuse(details: Record<string, string>): ProblemError {
  const message = Object.entries(details)
    .map(([name, problem]) => `${name}: ${problem}`)
    .join(' ')
  return new ProblemError('INVALID_PARAMETERS', { message, details })
}
