import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/**
 * TCP proxies between the nodes of a cluster. A node that is cut off is silent: nothing is closed and
 * nothing is refused, as where a cable is pulled. What was sent meanwhile arrives when it is connected again.
 */
export class Links implements AsyncDisposable {
  readonly #cut = new Set<string>()
  readonly #lines = new Set<Line>()
  readonly #servers: Server[] = []
  /** How much later what a server of Postgres sends arrives at its standbys, in milliseconds. */
  replicationDelayMs = 0

  /**
   * Opens a way to a port. `node` is the node whose way it is; another one that connects over it is recognized by the name that a
   * standby gives when it connects to Postgres.
   */
  async open(node: string, target: number): Promise<number> {
    const server = createServer({ allowHalfOpen: true }, (near) => {
      const line = new Line(near, { node, target, links: this })
      this.#lines.add(line)
      near.once('close', () => this.#lines.delete(line))
    })
    this.#servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  }

  isCut(node: string): boolean {
    return this.#cut.has(node)
  }

  cut(node: string): void {
    this.#cut.add(node)
    for (const line of this.#lines) line.update()
  }

  join(node: string): void {
    this.#cut.delete(node)
    for (const line of this.#lines) line.update()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.#servers.map((server) => new Promise((resolve) => server.close(resolve)))
    for (const line of this.#lines) line.destroy()
    await Promise.all(closed)
  }
}

type Way = { node: string; target: number; links: Links }

const STANDBY = /application_name\0(n\d)\0/
/** In a startup packet, which comes first. */
const READ_FOR_NAME = 2_048

/** One connection over a link. */
class Line {
  readonly #near: Socket
  readonly #way: Way
  #far: Socket | undefined
  #begin = ''
  #standby: string | undefined
  /** What waits until the node is connected again. */
  #waiting: (() => void)[] = []

  constructor(near: Socket, way: Way) {
    this.#near = near
    this.#way = way
    near.on('error', () => {})
    this.#whenJoined(() => this.#connect())
  }

  get #isCut(): boolean {
    const { node, links } = this.#way
    return links.isCut(node) || (this.#standby !== undefined && links.isCut(this.#standby))
  }

  update(): void {
    if (this.#isCut) {
      this.#near.pause()
      this.#far?.pause()
      return
    }
    for (const next of this.#waiting.splice(0)) next()
    this.#near.resume()
    this.#far?.resume()
  }

  destroy(): void {
    this.#near.destroy()
    this.#far?.destroy()
  }

  #whenJoined(next: () => void): void {
    if (this.#isCut) this.#waiting.push(next)
    else next()
  }

  #connect(): void {
    const { target: port } = this.#way
    const [near, far] = [this.#near, connect({ port, host: '127.0.0.1', allowHalfOpen: true })]
    this.#far = far
    far.setNoDelay(true)
    near.setNoDelay(true)
    near.on('data', (chunk: Buffer) => {
      this.#readName(chunk)
      this.#whenJoined(() => far.write(chunk) || near.pause())
      if (this.#isCut) near.pause()
    })
    far.on('drain', () => this.#isCut || near.resume())
    far.on('data', (chunk: Buffer) => {
      const pass = () => this.#whenJoined(() => near.destroyed || near.write(chunk) || far.pause())
      const { replicationDelayMs } = this.#way.links
      if (this.#standby !== undefined && replicationDelayMs > 0)
        setTimeout(pass, replicationDelayMs)
      else pass()
    })
    near.on('drain', () => this.#isCut || far.resume())
    far.on('error', () => {})
    near.on('end', () => this.#whenJoined(() => far.end()))
    far.on('end', () => this.#whenJoined(() => near.end()))
    near.on('close', () => this.#whenJoined(() => far.destroy()))
    far.on('close', () => this.#whenJoined(() => near.destroy()))
  }

  #readName(chunk: Buffer): void {
    if (this.#begin.length > READ_FOR_NAME) return
    this.#begin += chunk.toString('latin1')
    this.#standby = STANDBY.exec(this.#begin)?.[1]
  }
}
