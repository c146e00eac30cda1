import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export const CONTENT = 'The first page of the guide. The second page of the guide.'
export const KEY = 'a stored key'

export type SourceAnswer = (range: string | undefined, response: ServerResponse) => void

export type FileServer = AsyncDisposable & {
  url: string
  answer: SourceAnswer
  /** The header Range of each request. */
  asked: (string | undefined)[]
}

/** A merchant's server that wants a key. `answer` is what it does now. */
export async function openSource(): Promise<FileServer> {
  const server: Server = createServer((request, response) => {
    state.asked.push(request.headers.range)
    const basic = `Basic ${Buffer.from('shop:pass word').toString('base64')}`
    if (request.headers['x-key'] !== KEY && request.headers.authorization !== basic)
      return void response.writeHead(401).end()
    state.answer(request.headers.range, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const state: FileServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/files/The%20guide.pdf`,
    answer: serveRanges,
    asked: [],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return state
}

export function serveRanges(range: string | undefined, response: ServerResponse): void {
  const bytes = Buffer.from(CONTENT)
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []
  response.setHeader('content-type', 'application/pdf')
  if (start === undefined) return void response.end(bytes)
  const part = bytes.subarray(Number(start), Number(end) + 1)
  const last = Number(start) + part.length - 1
  response.writeHead(206, { 'content-range': `bytes ${start}-${last}/${bytes.length}` }).end(part)
}

/** Says that it sends 1,000 bytes, and ends after a few. */
export function cutOff(_range: string | undefined, response: ServerResponse): void {
  response.writeHead(200, { 'content-length': '1000' })
  response.write('short', () => void response.destroy())
}

/** Sends the beginning of a large file, and nothing more while the connection is open. */
export function sendBeginning(_range: string | undefined, response: ServerResponse): void {
  response.writeHead(200, { 'content-length': '1000' }).write('The first page')
}

/** Until a payment is settled the source works; then it does this. */
export function afterProbe(then: SourceAnswer): SourceAnswer {
  return (range, response) =>
    range === 'bytes=0-0' ? serveRanges(range, response) : then(range, response)
}
