import { parseJson } from '#contract/json.ts'

export type ProbeRequest = {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  body?: object
  key?: string | null
  authorization?: string
}

export type ProbeResponse = {
  status: number
  headers: Headers
  /** The body as parsed; undefined when it is not JSON. */
  body: Record<string, unknown> | undefined
  code: string | undefined
  details: Record<string, unknown>
}

export type Probe = {
  /** Sends one request; waits and repeats while the key's limit is reached. `key: null` sends none. */
  send(request: ProbeRequest): Promise<ProbeResponse>
  /** The same without waiting. */
  sendOnce(request: ProbeRequest): Promise<ProbeResponse>
}

/** A service that hangs is a failed line, not a hanging program. Hosted sends wait for the chain up to 15 seconds. */
const TIMEOUT_MS = 60_000
const MOST_WAITS = 100

/** Talks to a running service over HTTP, and knows of it no more than its address and a key. */
export function createProbe(baseUrl: string, apiKey: string): Probe {
  const base = baseUrl.replace(/\/+$/, '')

  async function sendOnce({
    method,
    path,
    body,
    key = apiKey,
    authorization,
  }: ProbeRequest): Promise<ProbeResponse> {
    const headers = new Headers()
    if (authorization ?? key) headers.set('authorization', authorization ?? `Bearer ${key}`)
    if (body) headers.set('content-type', 'application/json')
    const response = await fetch(base + path, {
      method,
      headers,
      body: body && JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const parsed = readObject(await response.text())
    const error = asObject(parsed?.error)
    const code = typeof error?.code === 'string' ? error.code : undefined
    return {
      status: response.status,
      headers: response.headers,
      body: parsed,
      code,
      details: asObject(error?.details) ?? {},
    }
  }

  async function send(request: ProbeRequest): Promise<ProbeResponse> {
    for (let waits = 0; ; waits++) {
      const answer = await sendOnce(request)
      if (answer.status !== 429 || waits === MOST_WAITS) return answer
      const seconds = Number(answer.headers.get('retry-after') ?? 1)
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    }
  }

  return { send, sendOnce }
}

function readObject(text: string): Record<string, unknown> | undefined {
  try {
    return asObject(parseJson(text))
  } catch {
    return undefined
  }
}

export function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}
