import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, Server } from 'node:http'

/** Enough for any request of a browser, and little for one that only wants to hold a connection. */
const SERVER_OPTIONS = {
  headersTimeout: 5000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5000,
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 16 * 1024,
} as const

/** A server that refuses the spellings of a request on which two parsers could disagree. */
export function createHttpServer(listener: RequestListener): Server {
  const server = createServer(SERVER_OPTIONS, (request, response) => {
    if (isAmbiguous(request)) {
      response.writeHead(400, { Connection: 'close', 'Content-Type': 'text/plain', 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' })
      response.end('Bad Request')
      request.destroy()
      return
    }
    listener(request, response)
  })
  server.maxRequestsPerSocket = 1000
  return server
}

/** Another version than 1.1, a target that is no path, or Host more or less than once. */
function isAmbiguous(request: IncomingMessage): boolean {
  const hosts = request.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length
  return request.httpVersion !== '1.1' || !request.url?.startsWith('/') || hosts !== 1
}
