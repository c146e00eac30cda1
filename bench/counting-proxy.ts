import { createServer, Agent, request as httpRequest, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What passed: HTTP requests, and the methods in them, which is what a provider bills. */
export type RpcCount = { requests: number; methods: number; byMethod: Record<string, number> }

export type CountingProxy = AsyncDisposable & {
  url: string
  /** Added to each request, in milliseconds: the distance to the provider. */
  delayMs: number
  /** What passed since the last time this was called. */
  take: () => RpcCount
}

type Answer = { status: number; text: string }

const NAME = /"method":\s*"(\w+)"/g

/**
 * A way to an RPC endpoint that counts what is asked there.
 * @param options.takesBatches false for Surfpool, where a batch is passed on request by request; a cluster's nodes take it
 */
export async function startCountingProxy(
  target: string,
  { takesBatches = true } = {},
): Promise<CountingProxy> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const { hostname, port, pathname } = new URL(target)
  let count: RpcCount = { requests: 0, methods: 0, byMethod: {} }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      count.requests++
      for (const [, method = ''] of body.toString().matchAll(NAME)) {
        count.methods++
        count.byMethod[method] = (count.byMethod[method] ?? 0) + 1
      }
      setTimeout(() => void answer(body.toString(), response), proxy.delayMs)
    })
  })
  async function answer(body: string, response: ServerResponse): Promise<void> {
    try {
      const { status, text } = await (takesBatches ? forward(body) : forwardEach(body))
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(text)
    } catch {
      response.destroy()
    }
  }
  async function forwardEach(body: string): Promise<Answer> {
    const parsed: unknown = JSON.parse(body)
    if (!Array.isArray(parsed)) return forward(body)
    const answers = await Promise.all(parsed.map((each) => forward(JSON.stringify(each))))
    const failed = answers.find(({ status }) => status !== 200)
    return failed ?? { status: 200, text: `[${answers.map(({ text }) => text).join()}]` }
  }
  function forward(body: string): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }
    const onward = httpRequest(
      { hostname, port, path: pathname, method: 'POST', agent, headers },
      (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 502, text: Buffer.concat(parts).toString() }),
        )
        answer.on('error', reject)
      },
    )
    onward.on('error', reject)
    onward.end(body)
    return promise
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: CountingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    delayMs: 0,
    take() {
      const taken = count
      count = { requests: 0, methods: 0, byMethod: {} }
      return taken
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      agent.destroy()
      await closed
    },
  }
  return proxy
}

/** Both together. */
export function addCounts(counts: readonly RpcCount[]): RpcCount {
  const sum: RpcCount = { requests: 0, methods: 0, byMethod: {} }
  for (const { requests, methods, byMethod } of counts) {
    sum.requests += requests
    sum.methods += methods
    for (const [name, count] of Object.entries(byMethod))
      sum.byMethod[name] = (sum.byMethod[name] ?? 0) + count
  }
  return sum
}

/** The methods, the most frequent first. */
export function listMethods({ byMethod }: RpcCount, of = 1): string {
  return Object.entries(byMethod)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 6)
    .map(([name, count]) => `${name} ${round(count / of)}`)
    .join(', ')
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10)
}
