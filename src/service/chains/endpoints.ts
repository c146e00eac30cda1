import { ProblemError } from '#contract/problem.ts'

/**
 * The time limit of one endpoint for one piece of work, in milliseconds, regardless of its
 * connections.
 */
const DEADLINE_MS = 8_000
const AT_ONCE_MS = 500
/** How long an endpoint that failed is asked last, in milliseconds. */
const REST_MS = 5_000
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

type Endpoint<Client> = { client: Client; identified: boolean; restUntil: number }

/**
 * A network's RPC endpoints. A piece of work is tried on each in order until one answers; one that
 * failed is asked last for a while. An endpoint's answers count only after it has proved, since its
 * last failure, that it serves the configured chain.
 */
export class RpcEndpoints<Client> {
  readonly #options: EndpointsOptions<Client>
  readonly #endpoints: Endpoint<Client>[]

  constructor(options: EndpointsOptions<Client>) {
    this.#options = options
    this.#endpoints = options.urls.map((url) => ({
      client: options.connect(url),
      identified: false,
      restUntil: 0,
    }))
  }

  /**
   * The chain's answer. The work must return every answer it can act on as a value: a throw counts
   * as no answer.
   * @throws ProblemError `CHAIN_UNAVAILABLE` when no endpoint answers
   */
  async ask<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const failures: unknown[] = []
    for (const endpoint of this.#inOrder()) {
      try {
        const answer = await this.#askAgain(endpoint, work)
        endpoint.restUntil = 0
        return answer
      } catch (error) {
        if (error instanceof ProblemError) throw error
        endpoint.identified = false
        endpoint.restUntil = performance.now() + REST_MS
        failures.push(error)
      }
    }
    throw unavailable(
      `${this.#options.name} cannot be reached.`,
      failures.length === 1 ? failures[0] : new AggregateError(failures),
    )
  }

  /**
   * The answers of two endpoints, or of the only one asked twice: for irreversible decisions. With
   * two configured, both must answer. `enough`: whether the first answer decides alone; it is then
   * returned as both.
   * @throws ProblemError `CHAIN_UNAVAILABLE`
   */
  async askTwice<T>(
    work: (client: Client) => Promise<T>,
    enough: (answer: T) => boolean = () => false,
  ): Promise<[T, T]> {
    const [first, second = first] = this.#endpoints
    if (!first || !second) throw unavailable(`${this.#options.name} has no address.`)
    try {
      const answer = await this.#askAgain(first, work)
      return [answer, enough(answer) ? answer : await this.#askAgain(second, work)]
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
    return (await this.askTwice(work, (shown) => !shown)).every(Boolean)
  }

  /**
   * A node closes idle connections, and the next request may hit a closing one: a request that
   * fails at once is sent once more. Requests made here only read.
   */
  async #askAgain<T>(endpoint: Endpoint<Client>, work: (client: Client) => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    try {
      return await within(DEADLINE_MS, this.#askOne(endpoint, work))
    } catch (error) {
      if (error instanceof ProblemError || performance.now() - startedAt > AT_ONCE_MS) throw error
      return await within(DEADLINE_MS, this.#askOne(endpoint, work))
    }
  }

  async #askOne<T>(endpoint: Endpoint<Client>, work: (client: Client) => Promise<T>): Promise<T> {
    if (!endpoint.identified) {
      await this.#options.identify(endpoint.client)
      endpoint.identified = true
    }
    return work(endpoint.client)
  }

  #inOrder(): Endpoint<Client>[] {
    const now = performance.now()
    return this.#endpoints.toSorted((a, b) => Number(a.restUntil > now) - Number(b.restUntil > now))
  }
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
