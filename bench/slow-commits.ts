import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * A way to Postgres on which each commit takes longer, as on a network disk or with a synchronous
 * standby: what commits is passed on late, so that the transaction keeps its locks meanwhile.
 */
export type SlowCommits = AsyncDisposable & { url: string; delayMs: number }

const WRITES = /^\s*(insert|update|delete|with)\b/i

/** @param target URL of a Postgres server behind a Unix socket */
export async function startSlowCommits(target: string, delayMs: number): Promise<SlowCommits> {
  const to = new URL(target)
  const path = `${decodeURIComponent(to.hostname)}/.s.PGSQL.5432`
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect(path)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    upstream.pipe(client)
    const commits = createCommitFinder()
    let sent = Promise.resolve()
    client.on('data', (chunk) => {
      const late = commits(chunk)
      sent = sent.then(async () => {
        if (late) await sleep(proxy.delayMs)
        if (!upstream.destroyed) upstream.write(chunk)
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const proxy: SlowCommits = {
    url: `postgres://${to.username}@127.0.0.1:${port}${to.pathname}`,
    delayMs,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
  return proxy
}

const [QUERY, PARSE, BIND] = ['Q', 'P', 'B'].map((letter) => letter.charCodeAt(0))
const HEADER = 5

/**
 * Reads what one client sends: whether a part of it ends a transaction, or is a write by itself. It
 * knows messages that come whole, as those of the driver do.
 */
function createCommitFinder(): (chunk: Buffer) => boolean {
  const prepared = new Map<string, string>()
  let started = false
  let within = false
  const isCommit = (statement: string): boolean => {
    if (/^\s*begin\b/i.test(statement)) within = true
    else if (/^\s*(commit|rollback)\b(?! to)/i.test(statement)) {
      within = false
      return /^\s*commit/i.test(statement)
    }
    return !within && WRITES.test(statement)
  }
  return (chunk) => {
    if (!started) {
      started = true
      return false
    }
    let late = false
    for (let at = 0; at + HEADER <= chunk.length; at += 1 + chunk.readInt32BE(at + 1)) {
      const text = (from: number) => chunk.toString('utf8', from, chunk.indexOf(0, from))
      const kind = chunk[at]
      const first = text(at + HEADER)
      if (kind === QUERY) late = isCommit(first) || late
      if (kind === PARSE) prepared.set(first, text(at + HEADER + Buffer.byteLength(first) + 1))
      if (kind === BIND) {
        const statement = text(at + HEADER + Buffer.byteLength(first) + 1)
        late = isCommit(prepared.get(statement) ?? '') || late
      }
    }
    return late
  }
}
