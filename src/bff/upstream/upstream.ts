import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Logger } from 'pino'
import * as v from 'valibot'
import { apiKeyHint } from '#contract/api-key-body.ts'
import type { Endpoint } from '#contract/endpoint.ts'
import { endpoints, type EndpointName, type EndpointResponse } from '#contract/endpoints.ts'
import { parseJson, stringifyJson } from '#contract/json.ts'
import type { ProblemError } from '#contract/problem.ts'
import type { Quota, RateHeaders } from '../budget/budgets.ts'
import type { BffConfig } from '../config/config.ts'
import { Exchanger, UpstreamError, type UpstreamResponse } from './exchange.ts'
import { OperatorError, problemOf } from './problem.ts'

/**
 * Longer than a simulation on a slow chain, shorter than a browser waits: the reader gets an answer
 * that says what happened.
 */
export const UPSTREAM_TIMEOUT_MS = 15_000
/**
 * Identical reads within this time share one answer, unless an event or a write says that something
 * changed.
 */
const SHARED_MS = 1000
/** No page needs more reads at once than this. */
const MAX_SHARED = 1000

/** The service counts a request for up to so long: no refusal of the plan lasts longer. */
const PLAN_WINDOW_S = 63

const FORWARDED = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'retry-after',
  'idempotent-replayed',
] as const

export type UpstreamRequest = {
  params?: Record<string, string>
  query?: Record<string, string>
  /** As `parseJson` returned it: numbers keep the digits the browser wrote. */
  body?: unknown
  idempotencyKey?: string | undefined
  /**
   * Who the key belongs to: a session or an address. Equal keys in two scopes are different keys.
   */
  keyScope?: string | undefined
  /** How long the answer may wait for the outcome; `respond-async`: not at all. */
  prefer?: string
  /** For the few requests whose answer waits for a chain or a facilitator. */
  timeoutMs?: number
  /** Never retried automatically: a lost answer is reported as lost. */
  once?: boolean
  /**
   * Sent without an Idempotency-Key, and once: the service revokes a grant whose answer is lost,
   * but keeps the answer of a key.
   */
  keyless?: boolean
  /** Sent along, so that one id finds a request in the logs of both programs. */
  requestId: string
}

export type UpstreamReply<K extends EndpointName> = {
  /** What is sent to the browser: the fields the endpoint names, in their original digits. */
  value: unknown
  /** The same, parsed. */
  parsed: EndpointResponse<K>
  headers: Readonly<Record<string, string>>
}

/**
 * The client of the service. Apart from the event socket, only this part of the program holds the
 * API key.
 */
export class Upstream {
  readonly #config: BffConfig
  readonly #log: Logger
  readonly #quota: Quota
  readonly #now: () => Date
  readonly #exchanger = new Exchanger()
  readonly #shared = new Map<
    string,
    { reply: Promise<UpstreamReply<EndpointName>>; until: number }
  >()

  constructor(parts: { config: BffConfig; log: Logger; quota: Quota; now: () => Date }) {
    this.#config = parts.config
    this.#log = parts.log
    this.#quota = parts.quota
    this.#now = parts.now
  }

  /**
   * Reads; identical reads within a second share one answer.
   * @param spend charges the visitor; not called when the answer is shared
   */
  async read<K extends EndpointName>(
    name: K,
    request: UpstreamRequest,
    spend: () => void,
  ): Promise<UpstreamReply<K>> {
    const key = pathOf(endpoints[name], request)
    const now = this.#now().getTime()
    const known = this.#shared.get(key)
    // A key belongs to one endpoint: all its replies have the type of K.
    if (known && now < known.until) return known.reply as Promise<UpstreamReply<K>>
    spend()
    const reply = this.#call(name, request)
    if (this.#shared.size >= MAX_SHARED) this.#shared.clear()
    this.#shared.set(key, { reply, until: now + SHARED_MS })
    reply.catch(() => this.#shared.delete(key))
    return reply
  }

  async write<K extends EndpointName>(
    name: K,
    request: UpstreamRequest,
    spend: () => void,
  ): Promise<UpstreamReply<K>> {
    spend()
    try {
      return await this.#call(name, request)
    } finally {
      this.forgetReads()
    }
  }

  /** Asks what this program itself needs to know, outside any visitor's request. */
  async requestOwn<S extends v.GenericSchema>(
    row: Endpoint & { response: S },
    request: UpstreamRequest,
  ): Promise<v.InferOutput<S>> {
    const answer = await this.#send(row, request).catch((error: unknown) => {
      throw operatorErrorOf(error)
    })
    if (answer.status !== 200)
      throw problemOf({
        status: answer.status,
        text: answer.text,
        headers: forwardedHeaders(answer.headers),
      })
    return v.parse(row.response, parseAnswer(answer.text))
  }

  /** Something changed: the next read asks the service. */
  forgetReads(): void {
    this.#shared.clear()
  }

  close(): void {
    this.#exchanger.close()
  }

  async #call<K extends EndpointName>(
    name: K,
    request: UpstreamRequest,
  ): Promise<UpstreamReply<K>> {
    this.#quota.begin()
    let reported: RateHeaders | undefined
    try {
      const answer = await this.#send(endpoints[name], request)
      reported = rateHeaders(answer.headers)
      return this.#readAnswer(name, answer)
    } catch (error) {
      const problem = operatorErrorOf(error)
      if (problem instanceof OperatorError)
        this.#log.error(
          { endpoint: name, reason: problem.reason, operator: problem.facts.details?.operator },
          'the payment service is of no use',
        )
      throw problem
    } finally {
      this.#quota.end(reported, this.#now().getTime())
    }
  }

  #send(endpoint: Endpoint, request: UpstreamRequest): Promise<UpstreamResponse> {
    const headers: Record<string, string> = {
      Authorization: `Bearer ${this.#config.serviceApiKey}`,
      Accept: 'application/json',
      'X-Request-Id': request.requestId,
    }
    const body = request.body === undefined ? undefined : stringifyJson(request.body)
    if (body !== undefined) headers['Content-Type'] = 'application/json'
    if (endpoint.method === 'POST') {
      headers['Content-Length'] = String(Buffer.byteLength(body ?? ''))
      if (!request.keyless) headers['Idempotency-Key'] = upstreamKey(request)
      if (request.prefer !== undefined) headers['Prefer'] = request.prefer
    }
    const url = new URL(this.#config.serviceUrl + pathOf(endpoint, request))
    return this.#exchanger.send({
      method: endpoint.method,
      url,
      headers,
      body,
      timeoutMs: request.timeoutMs ?? UPSTREAM_TIMEOUT_MS,
      once: request.once || request.keyless,
    })
  }

  #readAnswer<K extends EndpointName>(name: K, answer: UpstreamResponse): UpstreamReply<K> {
    // The list of keys shows a hint of this program's own key, which is no visitor's business
    // either.
    const hint = apiKeyHint(this.#config.serviceApiKey)
    const text = name === 'apiKeyList' ? answer.text.replaceAll(hint, '') : answer.text
    // This was never seen. If it happens, the answer must not leave this program.
    if (text.includes(this.#config.serviceApiKey) || text.includes(hint))
      throw new OperatorError('nonsense')
    const headers = forwardedHeaders(answer.headers)
    if (answer.status !== 200 && answer.status !== 202) {
      const problem = problemOf({ status: answer.status, text, headers })
      if (isPlanUsedUp(problem, headers)) {
        const seconds = Math.min(Number(headers['retry-after']) || 1, PLAN_WINDOW_S)
        this.#quota.block(this.#now().getTime() + 1000 * seconds)
      }
      throw problem
    }
    const schema: v.GenericSchema = endpoints[name].response
    const raw = parseAnswer(text)
    const result = v.safeParse(schema, raw)
    if (!result.success) {
      this.#log.error(
        { endpoint: name, field: v.getDotPath(result.issues[0]) },
        'an answer of the payment service does not have its shape',
      )
      throw new OperatorError('nonsense')
    }
    // The schema belongs to the named endpoint; TypeScript cannot follow that through a generic
    // name.
    return { value: project(schema, raw), parsed: result.output as EndpointResponse<K>, headers }
  }
}

/** What went wrong on the way to the service, as the operator has to know it. */
function operatorErrorOf(error: unknown): unknown {
  return error instanceof UpstreamError
    ? new OperatorError(error.kind === 'too_large' ? 'nonsense' : error.kind, { cause: error })
    : error
}

function parseAnswer(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    throw new OperatorError('nonsense', { cause: error })
  }
}

function pathOf(endpoint: Endpoint, request: UpstreamRequest): string {
  const path = endpoint.path.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(request.params?.[name] ?? ''),
  )
  const query = new URLSearchParams(request.query).toString()
  return query ? `${path}?${query}` : path
}

/**
 * Idempotency keys belong to the account, not to a browser. The prefix keeps a visitor from taking
 * a key that the seller's own server is about to use. The scope keeps one visitor's key from
 * reading another's answer. Without a key the proxy makes one, so that its own retry over a fresh
 * connection builds nothing twice.
 */
function upstreamKey({ idempotencyKey = randomUUID(), keyScope }: UpstreamRequest): string {
  return keyScope === undefined
    ? `browser:${idempotencyKey}`
    : `browser:${keyScope}:${idempotencyKey}`
}

function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const forwarded: Record<string, string> = {}
  for (const name of FORWARDED) {
    const value = headers[name]
    if (typeof value === 'string' && /^[\x20-\x7e]{1,200}$/.test(value)) forwarded[name] = value
  }
  return forwarded
}

/**
 * Whether this program's key has no request left. Other refusals with 429 name their reason and
 * end one request: a spent budget of network fees says nothing about the next read.
 */
function isPlanUsedUp({ code, facts }: ProblemError, headers: Record<string, string>): boolean {
  return (
    code === 'RATE_LIMIT' &&
    facts.details?.reason === undefined &&
    headers['x-ratelimit-remaining'] === '0'
  )
}

function rateHeaders(headers: IncomingHttpHeaders): RateHeaders | undefined {
  const limit = Number(headers['x-ratelimit-limit'])
  const remaining = Number(headers['x-ratelimit-remaining'])
  return Number.isFinite(limit) && limit > 0 && Number.isFinite(remaining)
    ? { limit, remaining }
    : undefined
}

type Introspected = v.GenericSchema & {
  entries?: Record<string, v.GenericSchema>
  item?: v.GenericSchema
  wrapped?: v.GenericSchema
}

/**
 * The part of a JSON value that a schema names, numbers still in their own digits. What the service may add tomorrow
 * does not pass to a browser by itself.
 */
export function project(schema: v.GenericSchema, value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value
  const { entries, item, wrapped } = schema as Introspected
  if (wrapped) return project(wrapped, value)
  if (item && Array.isArray(value)) return value.map((part: unknown) => project(item, part))
  if (!entries) return value
  const source = value as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(entries)
      .filter(([name]) => Object.hasOwn(source, name))
      .map(([name, part]) => [name, project(part, source[name])]),
  )
}

type WithAssignment = { attribution: { assigned: object | null } }

/** A payment for its parties: who of the account assigned a transfer to it, and the note about that, are for people of the account. */
export function projectForParties(value: unknown): unknown {
  const payment = value as WithAssignment
  const { attribution } = payment
  if (attribution.assigned === null) return value
  const assigned = { ...attribution.assigned, by: null, note: null }
  return { ...payment, attribution: { ...attribution, assigned } }
}
