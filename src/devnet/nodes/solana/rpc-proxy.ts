import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as v from 'valibot'
import { WebSocket, WebSocketServer } from 'ws'
import { overrideOf, type OverrideChain } from './method-overrides.ts'
import { RESPONSE_TIMEOUT_MS } from './surfnet.ts'

const MAX_BODY_BYTES = 1024 * 1024
const KEEP_ALIVE_MS = 60_000

const Request = v.looseObject({
  method: v.string(),
  params: v.optional(v.array(v.unknown()), []),
  id: v.optional(v.unknown(), null),
})

/** The chain's public face: JSON-RPC on one port, subscriptions on another, as a cluster has them. */
export class RpcProxy implements AsyncDisposable {
  readonly #http: Server
  readonly #sockets: WebSocketServer

  private constructor(http: Server, sockets: WebSocketServer) {
    this.#http = http
    this.#sockets = sockets
  }

  static async listen(
    chain: OverrideChain,
    ports: { http: number; ws: number },
  ): Promise<RpcProxy> {
    const http = createServer((request, response) => {
      serve(chain, request, response).catch(() => response.destroy())
    })
    // A client that was kept busy for seconds must not find its connection closed under the next request.
    http.keepAliveTimeout = KEEP_ALIVE_MS
    await new Promise<void>((resolve, reject) =>
      http.once('error', reject).listen(ports.http, '127.0.0.1', resolve),
    )
    const sockets = new WebSocketServer({ host: '127.0.0.1', port: ports.ws })
    await new Promise<void>((resolve, reject) =>
      sockets.once('error', reject).once('listening', resolve),
    )
    sockets.on('connection', (socket) => join(socket, new WebSocket(chain.surfnet.wsUrl)))
    return new RpcProxy(http, sockets)
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port
  }

  get wsPort(): number {
    return (this.#sockets.address() as AddressInfo).port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate()
    await new Promise<void>((resolve) => this.#sockets.close(() => resolve()))
    await new Promise<void>((resolve) => {
      this.#http.close(() => resolve())
      this.#http.closeAllConnections()
    })
  }
}

async function serve(
  chain: OverrideChain,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.setHeader('access-control-allow-origin', '*')
  response.setHeader('access-control-allow-headers', '*')
  response.setHeader('access-control-allow-methods', 'POST')
  response.setHeader('access-control-max-age', '600')
  if (request.method === 'OPTIONS') return void response.writeHead(204).end()
  if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end()
  const body = await readBody(request)
  if (body === undefined) return void response.writeHead(413).end()
  response.writeHead(200, { 'content-type': 'application/json' }).end(await answerBody(chain, body))
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

async function answerBody(chain: OverrideChain, body: string): Promise<string> {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return JSON.stringify({
      jsonrpc: '2.0',
      error: { code: -32700, message: 'Parse error' },
      id: null,
    })
  }
  if (!Array.isArray(parsed)) return answerOne(chain, parsed)
  const parts = await Promise.all(parsed.map((request) => answerOne(chain, request)))
  return `[${parts.join(',')}]`
}

async function answerOne(chain: OverrideChain, input: unknown): Promise<string> {
  const request = v.safeParse(Request, input)
  if (!request.success)
    return JSON.stringify({
      jsonrpc: '2.0',
      error: { code: -32600, message: 'Invalid request' },
      id: null,
    })
  const { method, params, id } = request.output
  const answer = overrideOf(method, params)
  try {
    // The node's own text goes through untouched: its 64-bit integers would not survive a parse.
    if (!answer) return await forward(chain, JSON.stringify(input))
    return JSON.stringify({ jsonrpc: '2.0', ...(await answer(chain, params)), id })
  } catch (error) {
    const message = error instanceof v.ValiError ? 'Invalid params' : 'Internal error'
    return JSON.stringify({
      jsonrpc: '2.0',
      error: { code: error instanceof v.ValiError ? -32602 : -32603, message },
      id,
    })
  }
}

async function forward(chain: OverrideChain, body: string): Promise<string> {
  const response = await fetch(chain.surfnet.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
  })
  return response.text()
}

/** Joins a client with the node; what the client says before the node listens waits. */
function join(client: WebSocket, node: WebSocket): void {
  const early: string[] = []
  client.on('message', (data: Buffer) => {
    if (node.readyState === WebSocket.OPEN) node.send(data.toString())
    else early.push(data.toString())
  })
  node.on('open', () => {
    for (const text of early) node.send(text)
  })
  node.on('message', (data: Buffer) => client.send(data.toString()))
  client.on('close', () => node.terminate())
  node.on('close', () => client.close())
  client.on('error', () => node.terminate())
  node.on('error', () => client.terminate())
}
