import * as v from 'valibot'

/** What a server answered, without any type of ours: a foreign client knows JSON and nothing else. */
export type ApiReply = { status: number; headers: Headers; text: string; body: unknown }

export type ApiRequest = {
  method: string
  path: string
  body?: unknown
  headers?: Record<string, string>
}

/** A client of the service as a stranger writes one: plain HTTP and JSON, with an API key or without. */
export class ApiClient {
  readonly #url: string
  readonly #key: string | undefined

  constructor(url: string, key?: string) {
    this.#url = url
    this.#key = key
  }

  get(path: string): Promise<ApiReply> {
    return this.send({ method: 'GET', path })
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<ApiReply> {
    return this.send({ method: 'POST', path, body, headers })
  }

  delete(path: string): Promise<ApiReply> {
    return this.send({ method: 'DELETE', path })
  }

  async send({ method, path, body, headers = {} }: ApiRequest): Promise<ApiReply> {
    const response = await fetch(this.#url + path, {
      method,
      headers: {
        'Content-Type': 'application/json',
        ...(this.#key !== undefined && { Authorization: `Bearer ${this.#key}` }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return readReply(response)
  }
}

export async function readReply(response: Response): Promise<ApiReply> {
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' ? undefined : JSON.parse(text),
  }
}

const record = v.record(v.string(), v.unknown())

/** The value at `a.b.c`; undefined where there is none, so that a field which does not exist yet reads as absent. */
export function at(value: unknown, path: string): unknown {
  let found = value
  for (const name of path.split('.')) {
    const parsed = v.safeParse(record, found)
    if (!parsed.success) return undefined
    found = parsed.output[name]
  }
  return found
}

/** The text at a path. @throws Error that shows the whole value when there is no text */
export function textAt(value: unknown, path: string): string {
  const found = at(value, path)
  if (typeof found === 'string') return found
  throw new Error(`Expected a text at ${path}, received ${JSON.stringify(value)}`)
}

/** The list at a path; empty where there is none. */
export function listAt(value: unknown, path: string): unknown[] {
  const found = at(value, path)
  return Array.isArray(found) ? found : []
}

/** @throws Error that shows the answer unless it is a success */
export function succeed(reply: ApiReply): ApiReply {
  if (reply.status >= 200 && reply.status < 300) return reply
  throw new Error(`Expected a success, received ${reply.status} ${reply.text}`)
}

/**
 * What an answer means for who may do what: `ALLOWED`; an error's code, with its reason where it has one; `REFUSED` and the reason where
 * the x402 interface refuses in an answer of status 200.
 */
export function classOf({ status, body }: Pick<ApiReply, 'status' | 'body'>): string {
  const code = at(body, 'error.code')
  if (typeof code === 'string')
    return [code, at(body, 'error.details.reason.code')]
      .filter((part) => typeof part === 'string')
      .join(' ')
  if (at(body, 'isValid') === false) return `REFUSED ${String(at(body, 'invalidReason'))}`
  if (at(body, 'success') === false) return `REFUSED ${String(at(body, 'errorReason'))}`
  return status >= 200 && status < 300 ? 'ALLOWED' : `STATUS ${status}`
}
