import { familyOf, type NetworkId } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Observation } from './chain.ts'

/**
 * The time limit of one endpoint for one piece of work, in milliseconds, regardless of its
 * connections.
 */
const DEADLINE_MS = 8_000
const AT_ONCE_MS = 500
/**
 * How long an endpoint that failed is asked last, in milliseconds. Each attempt that fails after such a
 * rest doubles the next one.
 */
const REST_MS = 5_000
const MAX_REST_MS = 180_000
/** When `requestSoon` asks the next endpoint too, in milliseconds. */
const SOON_MS = 1_000
/** When a caller may retry after every endpoint failed, in seconds. */
const RETRY_AFTER_S = 5

export type EndpointsOptions<Client> = {
  /** Shown in errors: the network's name. */
  name: string
  urls: readonly string[]
  connect: (url: string) => Client
  /** Resolves when this client is connected to the configured chain; throws otherwise. */
  identify: (client: Client) => Promise<void>
}

/** `restMs`: 0 where the last answer was one. `attempting`: its rest is over, and one call asks it. */
type Endpoint<Client> = {
  client: Client
  identified: boolean
  restMs: number
  restUntil: number
  attempting: boolean
}

/**
 * A network's RPC endpoints. A piece of work is tried on each in order until one answers; one that
 * failed is asked last for a while. Then one call tries it, and the others go on asking it last
 * until it answers. An endpoint's answers count only after it has proved, since its last failure,
 * that it serves the configured chain.
 */
export class RpcEndpoints<Client> {
  readonly #options: EndpointsOptions<Client>
  readonly #endpoints: Endpoint<Client>[]

  constructor(options: EndpointsOptions<Client>) {
    this.#options = options
    this.#endpoints = options.urls.map((url) => ({
      client: options.connect(url),
      identified: false,
      restMs: 0,
      restUntil: 0,
      attempting: false,
    }))
  }

  /**
   * The chain's answer. The work must return every answer it can act on as a value: a throw counts
   * as no answer.
   * @throws ProblemError `CHAIN_UNAVAILABLE` when no endpoint answers
   */
  async request<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const failures: unknown[] = []
    for (const endpoint of this.#inOrder()) {
      try {
        return await this.#requestAndNote(endpoint, work)
      } catch (error) {
        if (error instanceof ProblemError) throw error
        failures.push(error)
      }
    }
    throw this.#unreachable(failures)
  }

  /**
   * The first answer, where the next endpoint is asked too when one takes longer than a second: for
   * small reads that cannot wait for an endpoint that hangs. The work only reads and changes nothing
   * outside; it throws no ProblemError.
   * @throws ProblemError `CHAIN_UNAVAILABLE` when no endpoint answers
   */
  async requestSoon<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const failures: unknown[] = []
    const requestFrom = async ([endpoint, ...others]: Endpoint<Client>[]): Promise<T> => {
      if (!endpoint) throw this.#unreachable(failures)
      const answer = this.#requestAndNote(endpoint, work)
      answer.catch((error: unknown) => failures.push(error))
      const soon = within(SOON_MS, answer)
      return Promise.any([answer, soon.catch(() => requestFrom(others))])
    }
    try {
      return await requestFrom(this.#inOrder())
    } catch {
      throw this.#unreachable(failures)
    }
  }

  /**
   * The answers of two endpoints, or of the only one asked twice: for irreversible decisions. With
   * two configured, both must answer; of more, those two that do not rest. `enough`: whether the
   * first answer decides alone; it is then returned as both.
   * @throws ProblemError `CHAIN_UNAVAILABLE`
   */
  async requestTwo<T>(
    work: (client: Client) => Promise<T>,
    enough: (answer: T) => boolean = () => false,
  ): Promise<[T, T]> {
    const [first, second = first] = this.#inOrder()
    if (!first || !second) throw unavailable(`${this.#options.name} has no address.`)
    try {
      const answer = await this.#requestAndNote(first, work)
      return [answer, enough(answer) ? answer : await this.#requestAndNote(second, work)]
    } catch (error) {
      if (error instanceof ProblemError) throw error
      throw unavailable(`${this.#options.name} cannot be asked twice.`, error)
    }
  }

  /**
   * Whether two endpoints show it, or the only one twice. A first that does not is asked alone:
   * then nothing is proven.
   * @throws ProblemError `CHAIN_UNAVAILABLE`
   */
  async prove(work: (client: Client) => Promise<boolean>): Promise<boolean> {
    return (await this.requestTwo(work, (shown) => !shown)).every(Boolean)
  }

  /** Notes whether the endpoint answered: one that did not rests. */
  async #requestAndNote<T>(
    endpoint: Endpoint<Client>,
    work: (client: Client) => Promise<T>,
  ): Promise<T> {
    const isAttempt = endpoint.restMs > 0 && !isResting(endpoint)
    if (isAttempt) endpoint.attempting = true
    try {
      const answer = await this.#requestWithRetry(endpoint, work)
      endpoint.restMs = 0
      return answer
    } catch (error) {
      if (error instanceof ProblemError) throw error
      endpoint.identified = false
      // Calls that fail together, or while the endpoint rests, lengthen no rest.
      if (isAttempt || endpoint.restMs === 0) {
        endpoint.restMs = Math.min(Math.max(REST_MS, 2 * endpoint.restMs), MAX_REST_MS)
        endpoint.restUntil = performance.now() + endpoint.restMs
      }
      throw error
    } finally {
      if (isAttempt) endpoint.attempting = false
    }
  }

  #unreachable(failures: readonly unknown[]): ProblemError {
    return unavailable(
      `${this.#options.name} cannot be reached.`,
      failures.length === 1 ? failures[0] : new AggregateError(failures),
    )
  }

  /**
   * A node closes idle connections, and the next request may hit a closing one: a request that
   * fails at once is sent once more. Requests made here only read.
   */
  async #requestWithRetry<T>(
    endpoint: Endpoint<Client>,
    work: (client: Client) => Promise<T>,
  ): Promise<T> {
    const startedAt = performance.now()
    try {
      return await within(DEADLINE_MS, this.#requestOne(endpoint, work))
    } catch (error) {
      if (error instanceof ProblemError || performance.now() - startedAt > AT_ONCE_MS) throw error
      return await within(DEADLINE_MS, this.#requestOne(endpoint, work))
    }
  }

  async #requestOne<T>(
    endpoint: Endpoint<Client>,
    work: (client: Client) => Promise<T>,
  ): Promise<T> {
    if (!endpoint.identified) {
      await this.#options.identify(endpoint.client)
      endpoint.identified = true
    }
    try {
      return await work(endpoint.client)
    } catch (error) {
      // No other endpoint would say less, and this one did what it was asked.
      if (isTooLarge(error)) throw tooLarge(this.#options.name, error)
      throw error
    }
  }

  /** Those that rest come last, the one that failed longest at the very end. */
  #inOrder(): Endpoint<Client>[] {
    const rest = (endpoint: Endpoint<Client>) => (isResting(endpoint) ? endpoint.restMs : 0)
    return this.#endpoints.toSorted((a, b) => rest(a) - rest(b))
  }
}

function isResting({ restMs, restUntil, attempting }: Endpoint<unknown>): boolean {
  return restMs > 0 && (attempting || performance.now() < restUntil)
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The node did not answer within ${ms} ms.`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

export function unavailable(message: string, cause?: unknown): ProblemError {
  return new ProblemError(
    'CHAIN_UNAVAILABLE',
    { message, retryAfter: RETRY_AFTER_S, details: { retryable: true } },
    { cause },
  )
}

/**
 * A failure is reported permanently, so one node's word is not enough: it stays open unless two RPC
 * endpoints both show it as failed and final.
 * @param again what two endpoints show, or the only one when it is asked twice
 */
export async function requireQuorumFinality(
  seen: Observation,
  again: () => Promise<readonly Observation[]>,
): Promise<Observation> {
  if (!isForEver(seen)) return seen
  if ((await again()).every(isForEver)) return seen
  const { transfer, failedBlockhash } = seen
  return { state: 'pending', transfer, ...(failedBlockhash !== undefined && { failedBlockhash }) }
}

/** What one of two endpoints shows, the first before the second; `not_found` where neither does. */
export async function observeAtTwo<Client>(
  endpoints: RpcEndpoints<Client>,
  look: (client: Client) => Promise<Observation>,
): Promise<Observation> {
  const [first, second] = await endpoints.requestTwo(look, ({ state }) => state !== 'not_found')
  return first.state === 'not_found' ? second : first
}

function isForEver(seen: Observation): seen is Extract<Observation, { state: 'landed' }> {
  return seen.state === 'landed' && !seen.succeeded && seen.finalized
}

/** `refused`: an HTTP error, such as 429. `failed`: no answer. An error inside JSON-RPC is an answer. */
export type CallOutcome = 'answered' | 'refused' | 'failed'

/** Is told of every HTTP request to an RPC endpoint, and of each head that is read. */
export type ChainObserver = {
  called: (network: NetworkId, outcome: CallOutcome) => void
  sawBlock: (network: NetworkId, height: number) => void
}

export const NO_OBSERVER: ChainObserver = { called: () => {}, sawBlock: () => {} }

/**
 * The most that is read of an answer, in bytes. A block, and a thousand signatures with their memos,
 * stay below it; an account of Solana may hold more.
 */
const MAX_ANSWER_BYTES = 10 * 2 ** 20
/** A contract chooses what it returns. */
const MAX_CALL_BYTES = 2 ** 18
const CALL = /"method":"eth_(?:call|estimateGas|simulateV1)"/
/** The owner of an account or a contract decides how large these answers are. */
const ACCOUNT_READ =
  /"method":"(?:eth_call|eth_estimateGas|eth_simulateV1|getAccountInfo|getMultipleAccounts|simulateTransaction)"/

class AnswerTooLargeError extends Error {
  override name = 'AnswerTooLargeError'
}

/** Whether what was asked about answers more than is read of it. */
export function isTooLarge(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return error instanceof AnswerTooLargeError || isTooLarge(error.cause)
}

function tooLarge(network: string, cause: unknown): ProblemError {
  const message = `An account on ${network} answers more than the service reads.`
  return new ProblemError('INVALID_PARAMETERS', { message }, { cause })
}

/** A node that says more of a block or a transaction than an honest one. */
export class OversizedAnswerError extends Error {
  override name = 'OversizedAnswerError'
}

/** `fetch`, counted, and bounded in what it reads. */
export function observedFetch(network: NetworkId, observer: ChainObserver): typeof fetch {
  const isEvm = familyOf(network) === 'evm'
  return async (input, init) => {
    const question = typeof init?.body === 'string' ? init.body : ''
    const most = isEvm && CALL.test(question) ? MAX_CALL_BYTES : MAX_ANSWER_BYTES
    try {
      const response = await fetch(input, init)
      const read = await readWithin(response, most).catch((error: unknown) => {
        // Of a block or a transaction no honest node says so much: then the next one is asked.
        if (!isTooLarge(error) || ACCOUNT_READ.test(question)) throw error
        throw new OversizedAnswerError(`The node answers more than ${most} bytes.`)
      })
      observer.called(network, response.ok ? 'answered' : 'refused')
      return read
    } catch (error) {
      observer.called(network, isTooLarge(error) ? 'answered' : 'failed')
      throw error
    }
  }
}

async function readWithin(response: Response, most: number): Promise<Response> {
  const { body, headers, status, statusText } = response
  const length = Number(headers.get('content-length') ?? Number.NaN)
  // The length of a compressed answer is not what is read.
  if (body === null || (length <= most && !headers.has('content-encoding'))) return response
  const parts: Uint8Array[] = []
  let size = 0
  // To leave the loop ends the connection.
  for await (const part of body) {
    size += part.length
    if (size > most) throw new AnswerTooLargeError(`The node answers more than ${most} bytes.`)
    parts.push(part)
  }
  return new Response(Buffer.concat(parts), { status, statusText, headers })
}

/** Runs the work over all items, at most `width` at a time; results in the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  let next = 0
  async function worker(): Promise<void> {
    while (next < items.length) {
      const index = next++
      results[index] = await work(items[index] as T)
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker))
  return results
}
