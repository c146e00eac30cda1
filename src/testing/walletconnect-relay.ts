import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer, type WebSocket } from 'ws'

/**
 * A WalletConnect relay on this machine: it passes sealed messages between topics and keeps
 * undelivered ones, as the relay's API reference says (JSON-RPC over a WebSocket). Only its two
 * ends can read a message.
 */
export type Relay = {
  /** `ws://127.0.0.1:…` */
  url: string
  [Symbol.asyncDispose](): Promise<void>
}

type Message = { topic: string; message: string; tag: number; publishedAt: number }
type Request = { id: number; method?: string; params?: Record<string, unknown> }

export async function startRelay(): Promise<Relay> {
  const sockets = new Map<WebSocket, Map<string, string>>()
  const kept = new Map<string, Message[]>()

  function deliver(ws: WebSocket, subscription: string, data: Message): void {
    ws.send(
      JSON.stringify({
        id: Date.now() * 1000 + Math.floor(Math.random() * 1000),
        jsonrpc: '2.0',
        method: 'irn_subscription',
        params: { id: subscription, data },
      }),
    )
  }

  function publish(from: WebSocket, data: Message): void {
    let heard = false
    for (const [ws, topics] of sockets) {
      const subscription = ws === from ? undefined : topics.get(data.topic)
      if (subscription === undefined) continue
      heard = true
      deliver(ws, subscription, data)
    }
    if (!heard) kept.set(data.topic, [...(kept.get(data.topic) ?? []), data])
  }

  function subscribe(ws: WebSocket, topic: string): string {
    const topics = sockets.get(ws) ?? new Map<string, string>()
    const subscription = topics.get(topic) ?? randomUUID()
    topics.set(topic, subscription)
    for (const data of kept.get(topic) ?? []) deliver(ws, subscription, data)
    kept.delete(topic)
    return subscription
  }

  function answer(ws: WebSocket, method: string, params: Record<string, unknown>): unknown {
    const message = (topic: unknown, text: unknown, tag: unknown): Message => ({
      topic: String(topic),
      message: String(text),
      tag: Number(tag),
      publishedAt: Date.now(),
    })
    switch (method) {
      case 'irn_publish':
        publish(ws, message(params.topic, params.message, params.tag))
        return true
      case 'irn_subscribe':
        return subscribe(ws, String(params.topic))
      case 'irn_batchSubscribe':
        return (params.topics as string[]).map((topic) => subscribe(ws, topic))
      case 'irn_unsubscribe':
        return sockets.get(ws)?.delete(String(params.topic)) ?? false
      case 'irn_batchFetchMessages':
        return { messages: [] }
      // A proposer waits at its pairing, an approver at the session.
      case 'wc_proposeSession':
        subscribe(ws, String(params.pairingTopic))
        publish(ws, message(params.pairingTopic, params.sessionProposal, 1100))
        return true
      case 'wc_approveSession':
        subscribe(ws, String(params.sessionTopic))
        publish(ws, message(params.pairingTopic, params.sessionProposalResponse, 1101))
        publish(ws, message(params.sessionTopic, params.sessionSettlementRequest, 1102))
        return true
      default:
        throw new Error(`The relay does not know ${method}.`)
    }
  }

  const http = createServer()
  const server = new WebSocketServer({ server: http })
  server.on('connection', (ws) => {
    sockets.set(ws, new Map())
    ws.on('close', () => sockets.delete(ws))
    ws.on('message', (data) => {
      const { id, method, params = {} } = JSON.parse(String(data)) as Request
      // An acknowledgement of a delivery.
      if (method === undefined) return
      ws.send(JSON.stringify({ id, jsonrpc: '2.0', result: answer(ws, method, params) }))
    })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const ws of sockets.keys()) ws.terminate()
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}
