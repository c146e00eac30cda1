import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A way to a bare Solana node that corrects one thing: the node tells the time of a transaction's block a thousandfold too small.
 * While `swallowing`, it takes transactions as a node does that loses them: with their signature for an answer.
 */
export async function startSynchronizedClock(
  target: string,
): Promise<AsyncDisposable & { url: string; swallowing: boolean }> {
  const gate = { swallowing: false }
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const body = Buffer.concat(chunks)
      if (gate.swallowing && body.includes('"sendTransaction"')) {
        const { id } = JSON.parse(body.toString()) as { id: string }
        return void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, result: '1'.repeat(64) }))
      }
      const answer = await fetch(target, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      const text = await answer.text()
      const right = body.includes('"getTransaction"')
        ? text.replace(/"blockTime":([0-9]{7})\b/, '"blockTime":$1000')
        : text
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(right)
    })().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(gate, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  })
}
