import type { Context as HttpContext, Hono } from 'hono'
import * as v from 'valibot'
import type { Endpoint } from '#contract/endpoint.ts'
import {
  endpoints,
  type EndpointInput,
  type EndpointName,
  type EndpointReply,
} from '#contract/endpoints.ts'
import { stringifyJson } from '#contract/json.ts'
import { RETRYABLE } from '#contract/problem-codes.ts'
import { ProblemError, problems } from '#contract/problem.ts'
import type { Context } from '../context/context.ts'
import { fingerprint } from '../idempotency/fingerprint.ts'
import { checkIdempotencyKey, runOnce, type StoredOutcome } from '../idempotency/run-once.ts'
import type { Authenticated } from '../keys/authenticate.ts'
import { missingScope } from '../keys/missing-scope.ts'
import type { Routes } from './handler.ts'
import type { HttpEnv } from './env.ts'
import { toProblem } from './envelope.ts'
import { actKeyless, KEYLESS, keylessAddress } from './keyless.ts'
import { parseInput } from './parse-input.ts'
import { readBody } from './read-body.ts'
import { readWaitMs } from './read-prefer.ts'
import { readQuery } from './read-query.ts'
import { problemHeaders, problemText, respondJson } from './respond.ts'
import { watchCaller } from './watch-caller.ts'

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
    const actor =
      (await actKeyless(c, context, endpoint)) ?? requireScope(c.get('caller'), endpoint)
    const body = endpoint.body ? await readBody(c.req.raw) : undefined
    const input = parsedInput<K>(
      parseInput(
        { query: NO_QUERY, ...endpoint },
        { params: c.req.param(), query: readQuery(c.req.url), body },
      ),
    )
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
    const asking = { ...actor, caller: idempotency ? undefined : watchCaller(c) }
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
    const scope = actor.keyId === KEYLESS ? keylessAddress(c, context) : actor.accountId
    const outcome = await runOnce(context.db, { accountId: scope, ...idempotency }, run)
    if ('replayed' in outcome) c.header('Idempotent-Replayed', 'true')
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
      return { status: 202, body: stringifyJson(body), keep: endpoint.pending === 'keep' }
    const failed = endpoint.forgetsFailures === true && 'success' in body && !body.success
    return {
      status: 200,
      body: stringifyJson(body),
      keep: !failed,
      kept: endpoint.secret ? tellOnce(c, context, { secret: endpoint.secret, body }) : undefined,
    }
  } catch (error) {
    const problem = toProblem(error)
    if (problem !== error) c.get('log').error({ err: error }, 'request failed')
    problemHeaders(c, problem)
    const { status } = problems[problem.code]
    return {
      status,
      body: problemText(c, problem, context.now()),
      keep: !RETRYABLE[problem.code],
    }
  }
}

/** What stands under an idempotency key in place of an answer that holds a secret: that it was given, and all of it but the secret. */
function tellOnce(
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
