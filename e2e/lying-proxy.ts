import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** Changes the answer to one path; gets and returns JSON text. */
export type Lie = { path: string; change: (body: string) => string }

export type LyingProxy = { url: string; [Symbol.asyncDispose](): Promise<void> }

/**
 * A proxy that was taken over: serves the dashboard, passes requests on to the real proxy, and changes an answer on the way back.
 * It names itself as the dashboard's proxy, so the page is of its origin; upstream it pretends to be the dashboard.
 */
export async function startLyingProxy(
  urls: { web: string; bff: string },
  lie: Lie,
): Promise<LyingProxy> {
  let url = ''
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(502).end(String(error)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    url,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '/'
    if (path.startsWith('/config.json')) {
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ proxyUrl: url }))
      return
    }
    const upstream = await fetch(new URL(path, path.startsWith('/api/') ? urls.bff : urls.web), {
      method: request.method,
      headers: forwardedHeaders(request, urls.web),
      body: request.method === 'POST' ? await text(request) : undefined,
      redirect: 'manual',
    })
    response.writeHead(upstream.status, keptHeaders(upstream.headers))
    if (path.startsWith(lie.path) && upstream.ok) response.write(lie.change(await upstream.text()))
    else if (upstream.body) for await (const chunk of upstream.body) response.write(chunk)
    response.end()
  }
}

function forwardedHeaders(request: IncomingMessage, origin: string): Headers {
  const headers = new Headers()
  for (const name of [
    'accept',
    'content-type',
    'cookie',
    'idempotency-key',
    'last-event-id',
    'x-requested-by',
    'sec-fetch-site',
  ]) {
    const value = request.headers[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  headers.set('origin', new URL(origin).origin)
  return headers
}

/** The length and encoding of the changed body are its own. */
function keptHeaders(headers: Headers): Record<string, string | string[]> {
  const kept = [...headers].filter(
    ([name]) =>
      ![
        'content-length',
        'content-encoding',
        'transfer-encoding',
        'connection',
        'set-cookie',
      ].includes(name),
  )
  return { ...Object.fromEntries(kept), 'set-cookie': headers.getSetCookie() }
}
