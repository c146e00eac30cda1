import * as v from 'valibot'
import type { browserEndpoints } from '#contract/browser-endpoints.ts'
import type { proxyCalls, serviceCalls } from '#contract/calls.ts'
import { CONFIRM_HEADER, dashboardEndpoints, REQUESTED_BY } from '#contract/dashboard-endpoints.ts'
import type { Call } from '#contract/endpoint.ts'
import type { Endpoints, EndpointRequest, EndpointResponse } from '#contract/endpoints.ts'
import { parseJson, stringifyJson } from '#contract/json.ts'
import { ApiError, readProblem } from './errors.ts'
import { notePause, waitForPause } from './rate-limit-pause.ts'
import { noteQuota } from './quota.ts'

const TIMEOUT_MS = 20_000
/** Seconds. What the proxy refuses because of its plan passes by then. */
const LONGEST_PAUSE_S = 63

let proxyUrl: string | undefined

/** Sets the proxy's address; once, before the first call. */
export function configureClient(url: string): void {
  proxyUrl = url.replace(/\/$/, '')
}

/** The proxy's URL for a path. */
export function proxyAddress(path: string): string {
  if (proxyUrl === undefined) throw new Error('The client was used before config.json was read.')
  return `${proxyUrl}${path}`
}

export type CallOptions = {
  signal?: AbortSignal
  /** Sent as `Idempotency-Key`: the same key never acts twice. */
  idempotencyKey?: string
  /** What the reader typed to confirm; sent as `X-Confirm`. */
  confirmation?: string
  /** What the reader's wallet signed for this request; sent as `X-Approval`. */
  approval?: string
  /** For the few calls that wait for a chain or another site. */
  timeoutMs?: number
}

/** The endpoints of the service that the proxy offers to browsers. */
type BrowserServiceName = {
  [K in keyof Endpoints]: Endpoints[K]['audience'] extends 'browser' ? K : never
}[keyof Endpoints]

/**
 * Calls one of the service's endpoints through the proxy.
 * @throws ApiError for every outcome but a response that its schema accepts
 */
export async function call<K extends BrowserServiceName>(
  name: K,
  request: EndpointRequest<K>,
  options: CallOptions = {},
): Promise<EndpointResponse<K>> {
  const { method, path, response } = (await loadTables()).serviceCalls[name]
  const { params, query, body }: Parts = request
  const values = new Map(entries(params))
  const filled = path.replace(/:([a-zA-Z]+)/g, (_, key: string) =>
    encodeURIComponent(String(values.get(key) ?? '')),
  )
  return read(
    response,
    await exchange({ method, path: `/api${filled}${queryText(query)}`, body }, options),
  )
}

export type ClientEndpointName = keyof typeof browserEndpoints
type Body<K extends ClientEndpointName> = (typeof browserEndpoints)[K] extends {
  body: infer S extends v.GenericSchema
}
  ? { body: v.InferInput<S> }
  : { body?: undefined }
type Reply<K extends ClientEndpointName> = v.InferOutput<(typeof browserEndpoints)[K]['response']>

/** Calls one of the proxy's own endpoints. Same guarantees as `call`. */
export async function callProxy<K extends ClientEndpointName>(
  name: K,
  request: Body<K>,
  options: CallOptions = {},
): Promise<Reply<K>> {
  const table: { readonly [K in ClientEndpointName]?: (typeof proxyCalls)[K] } =
    name in dashboardEndpoints ? dashboardEndpoints : (await loadTables()).proxyCalls
  const endpoint: (Required<Call> & (typeof proxyCalls)[K]) | undefined = table[name]
  if (!endpoint) throw new Error(`The proxy has no endpoint ${name}.`)
  return read(
    endpoint.response,
    await exchange(
      { method: endpoint.method, path: `/api${endpoint.path}`, body: request.body },
      options,
    ),
  )
}

/**
 * Tables that only payment pages need are in a separate chunk: a new visitor's first page does not
 * load it.
 */
async function loadTables(): Promise<{
  serviceCalls: typeof serviceCalls
  proxyCalls: typeof proxyCalls
}> {
  try {
    return await import('#contract/calls.ts')
  } catch (error) {
    throw new ApiError({ code: 'OFFLINE', cause: error })
  }
}

type Parts = { params?: unknown; query?: unknown; body?: unknown }

/** A response that does not fit its schema is the proxy's fault, never the reader's. */
function read<S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, value)
  if (!result.success)
    throw new ApiError({ code: 'BAD_RESPONSE', cause: new v.ValiError(result.issues) })
  return result.output
}

async function exchange(
  { method, path, body }: { method: string; path: string; body: unknown },
  options: CallOptions,
): Promise<unknown> {
  // A request during a pause would only be refused again. User actions are not held back: the proxy
  // keeps a separate budget for them.
  if (method === 'GET') await waitForPause(options.signal)
  const timeout = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS)
  let response: Response
  let text: string
  try {
    response = await fetch(proxyAddress(path), {
      method,
      credentials: 'include',
      cache: 'no-store',
      signal: options.signal ? AbortSignal.any([options.signal, timeout]) : timeout,
      headers: {
        Accept: 'application/json',
        // On a read it would have the browser ask first whether it may ask.
        ...(method !== 'GET' && { [REQUESTED_BY.name]: REQUESTED_BY.value }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(options.idempotencyKey && { 'Idempotency-Key': options.idempotencyKey }),
        ...(options.confirmation !== undefined && {
          [CONFIRM_HEADER]: encodeURIComponent(options.confirmation),
        }),
        ...(options.approval !== undefined && { 'X-Approval': options.approval }),
      },
      body: body === undefined ? undefined : stringifyJson(body),
    })
    text = await response.text()
  } catch (error) {
    if (options.signal?.aborted) throw error
    throw new ApiError({ code: timeout.aborted ? 'TIMEOUT' : 'OFFLINE', cause: error })
  }
  noteQuota(response.headers)
  if (!response.ok) {
    const problem = readProblem(response, text)
    // A refusal with a reason is about this request alone: other pages may go on.
    if (problem.code === 'RATE_LIMIT' && problem.retryAfter && !problem.details['reason'])
      notePause(Math.min(problem.retryAfter, LONGEST_PAUSE_S))
    throw problem
  }
  try {
    return parseJson(text)
  } catch (error) {
    throw new ApiError({ code: 'BAD_RESPONSE', status: response.status, cause: error })
  }
}

function entries(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

function queryText(query: unknown): string {
  const search = new URLSearchParams()
  for (const [key, value] of entries(query)) if (value !== undefined) search.set(key, String(value))
  const text = search.toString()
  return text ? `?${text}` : ''
}
