import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Socket, isIP, isIPv6 } from 'node:net'
import type { Duplex } from 'node:stream'

/** An upgraded connection whose client reads nothing for this long is cut, in milliseconds. */
const UNREAD_MS = 10_000

export type ConnectionCaps = { total: number; perAddress: number }

/** No client of ours pipelines requests. One that sends more of them ahead than this is cut. */
const MAX_PIPELINED = 32

export type HttpExchange = { request: IncomingMessage; response: ServerResponse; start: () => void }

export type HttpConnection = {
  socket: Socket
  address: AddressConnections
  /** Requests that are not answered yet. Where a client pipelines, the first is being answered and the others wait for it. */
  exchanges: Set<HttpExchange>
  /** Whether a request was answered. */
  served: boolean
  upgraded: boolean
  /** Whether its last answer was sent. */
  closing: boolean
  /** What was sent when the client last took something of what waits for it. */
  unread: { sent: number; since: number } | undefined
  /** Whether the client took nothing of what waits for it since the last sweep. */
  stuck: boolean
}

type AddressConnections = {
  key: string
  open: number
  /** Those that may wait for their client, in the order in which they began to. */
  waiting: Set<HttpConnection>
}

/**
 * The open connections of a server, by address. When a cap is reached, a connection that waits for its client makes room: the one that has waited the longest at the
 * address with the most. So silent, dripping and non-reading clients cannot keep the others out, and no request is lost whose answer is being made.
 */
export class Connections {
  readonly #caps: ConnectionCaps
  readonly #all = new Map<Duplex, HttpConnection>()
  readonly #addresses = new Map<string, AddressConnections>()

  constructor(caps: ConnectionCaps) {
    this.#caps = caps
  }

  /** Adds a new connection, or names the cap that refuses it. */
  admit(socket: Socket): 'total' | 'address' | undefined {
    const key = addressKey(socket.remoteAddress ?? 'unknown')
    const address = this.#addresses.get(key) ?? { key, open: 0, waiting: new Set() }
    if (address.open >= this.#caps.perAddress && !this.#evictFrom(address)) return 'address'
    if (this.#all.size >= this.#caps.total && !this.#evict()) return 'total'
    const connection: HttpConnection = {
      socket,
      address,
      exchanges: new Set(),
      served: false,
      upgraded: false,
      closing: false,
      unread: undefined,
      stuck: false,
    }
    address.open++
    address.waiting.add(connection)
    this.#addresses.set(key, address)
    this.#all.set(socket, connection)
    socket.once('close', () => this.#remove(connection))
    return undefined
  }

  get(socket: Duplex): HttpConnection | undefined {
    return this.#all.get(socket)
  }

  /** A request arrived, its body perhaps not yet. It starts when those before it on the connection are answered: one connection gets no more work done than another. */
  begin(exchange: HttpExchange): void {
    const { request, response, start } = exchange
    const connection = this.#all.get(request.socket)
    if (!connection) return
    const { exchanges, socket, address } = connection
    exchanges.add(exchange)
    response.once('close', () => {
      exchanges.delete(exchange)
      connection.served = true
      address.waiting.delete(connection)
      if (!this.#all.has(socket) || socket.destroyed) return
      // At the end of the order: it waits for the next request from now on.
      address.waiting.add(connection)
      const [next] = exchanges
      next?.start()
    })
    if (exchanges.size === 1) start()
    else if (exchanges.size > MAX_PIPELINED) socket.destroy()
  }

  /** Runs once a second: finds the clients that do not read, and cuts upgraded connections that nothing else watches. */
  sweep(now: number): void {
    for (const connection of this.#all.values()) {
      const { socket, unread, upgraded, address } = connection
      const sent =
        socket.writableLength === 0 ? undefined : socket.bytesWritten - socket.writableLength
      connection.stuck = sent !== undefined && unread?.sent === sent
      if (!connection.stuck)
        connection.unread = sent === undefined ? undefined : { sent, since: now }
      else if (upgraded && now - (unread?.since ?? now) >= UNREAD_MS) socket.destroy()
      else address.waiting.add(connection)
    }
  }

  /** Ends the connections on which nothing was ever received. */
  destroySilent(): void {
    for (const { socket } of this.#all.values()) if (socket.bytesRead === 0) socket.destroy()
  }

  destroyAll(): void {
    for (const { socket } of this.#all.values()) socket.destroy()
  }

  #evict(): boolean {
    for (;;) {
      let heaviest: AddressConnections | undefined
      for (const address of this.#addresses.values()) {
        if (address.waiting.size > 0 && address.open > (heaviest?.open ?? 0)) heaviest = address
      }
      if (!heaviest) return false
      if (this.#evictFrom(heaviest)) return true
    }
  }

  /** False when no connection of the address waits for its client. */
  #evictFrom(address: AddressConnections): boolean {
    for (const connection of address.waiting) {
      if (isWaiting(connection)) {
        this.#remove(connection)
        connection.socket.destroy()
        return true
      }
      address.waiting.delete(connection)
    }
    return false
  }

  #remove(connection: HttpConnection): void {
    if (!this.#all.delete(connection.socket)) return
    const { address } = connection
    address.open--
    address.waiting.delete(connection)
    if (address.open === 0) this.#addresses.delete(address.key)
  }
}

/** Whether a connection waits for its client: to send a request or the rest of it, to read an answer, or to close. */
function isWaiting({ closing, stuck, upgraded, exchanges }: HttpConnection): boolean {
  return closing || stuck || (!upgraded && [...exchanges].every(({ request }) => !request.complete))
}

/**
 * The address that a caller without a valid key is counted by, as `addressKey` spells it.
 * With `hops` proxies of the operator in front, it is the address that the outermost of them saw: the entry of `X-Forwarded-For` at that place from the right.
 * Anyone can write what is further left. Where that entry is missing or is not an IP address, the address of the connection counts.
 */
export function clientAddress(
  request: Pick<IncomingMessage, 'headers' | 'socket'> | undefined,
  hops: number,
): string {
  const remote = request?.socket.remoteAddress ?? 'unknown'
  if (hops === 0) return addressKey(remote)
  const entry = String(request?.headers['x-forwarded-for'] ?? '')
    .split(',')
    .at(-hops)
  const forwarded = withoutPort(entry?.trim() ?? '')
  return addressKey(isIP(forwarded) ? forwarded : remote)
}

/** `ip:` and an IPv4 address, or the /64 of an IPv6 address, which one device has at least. */
export function addressKey(address: string): string {
  if (!isIPv6(address)) return `ip:${address}`
  const groups = ipv6Groups(address)
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (isMapped) return `ip:${[high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')}`
  return `ip:${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/** Some balancers write `192.0.2.1:5678` and `[2001:db8::1]:5678`. */
function withoutPort(entry: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry
}

/** The eight groups of a valid IPv6 address, the last two from dotted decimals where it is spelled so. */
function ipv6Groups(address: string): number[] {
  const [plain = ''] = address.split('%', 1)
  const [head = '', tail] = plain.split('::')
  const [left, right] = [groupsOf(head), groupsOf(tail ?? '')]
  const zeros = tail === undefined ? [] : Array<number>(8 - left.length - right.length).fill(0)
  return [...left, ...zeros, ...right]
}

function groupsOf(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((part) => {
    if (!part.includes('.')) return [Number.parseInt(part, 16)]
    const [first = 0, second = 0, third = 0, fourth = 0] = part.split('.').map(Number)
    return [first * 256 + second, third * 256 + fourth]
  })
}
