import { Agent, request } from 'node:http'
import { cpuMs, spread, type Percentiles } from './bench.ts'

/** A request that is sent again and again. */
export type LoadRequest = {
  url: string
  method: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
}

export type LoadTarget = { name: string; pid: number; next: () => LoadRequest }
export type LoadFigures = { perSecond: number; cpu: number; p50: number; requests: number }

type Load = { connections: number; ms: number }

/** Sends requests over so many kept connections for so long. @throws Error when an answer is none of success */
export async function drive(server: LoadTarget, { connections, ms }: Load): Promise<LoadFigures> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const times: number[] = []
  const started = performance.now()
  const cpuBefore = cpuMs(server.pid)
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() - started < ms) {
        const from = performance.now()
        await send(agent, server)
        times.push(performance.now() - from)
      }
    }),
  )
  const seconds = (performance.now() - started) / 1_000
  agent.destroy()
  return {
    perSecond: times.length / seconds,
    cpu: (cpuMs(server.pid) - cpuBefore) / times.length,
    p50: spread(times).p50,
    requests: times.length,
  }
}

function send(agent: Agent, { name, next }: LoadTarget): Promise<void> {
  const { url, method, headers, body } = next()
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        agent,
        method,
        headers: {
          ...headers,
          ...(body !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
          }),
        },
      },
      (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () => {
          if (answer.statusCode === 200) return resolve()
          const text = Buffer.concat(chunks).toString()
          reject(new Error(`${name} answered ${answer.statusCode}: ${text.slice(0, 300)}`))
        })
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

export type ComparedFigure = { peer: Percentiles; ours: Percentiles; ratio: Percentiles }
export type Compared = Record<keyof LoadFigures, ComparedFigure>

/** Both in turn, and the order changes each round: what slows the machine down slows both. */
export async function compare(
  { peer, ours }: { peer: LoadTarget; ours: LoadTarget },
  { rounds, ...load }: Load & { rounds: number },
): Promise<Compared> {
  for (const server of [peer, ours]) await drive(server, { ...load, ms: load.ms / 2 })
  const pairs: [LoadFigures, LoadFigures][] = []
  for (let round = 0; round < rounds; round++) {
    const first = round % 2 === 0 ? peer : ours
    const one = await drive(first, load)
    const other = await drive(first === peer ? ours : peer, load)
    pairs.push(first === peer ? [one, other] : [other, one])
  }
  const of = (field: keyof LoadFigures): ComparedFigure => ({
    peer: spread(pairs.map(([one]) => one[field])),
    ours: spread(pairs.map(([, two]) => two[field])),
    ratio: spread(pairs.map(([one, two]) => two[field] / one[field])),
  })
  return { perSecond: of('perSecond'), cpu: of('cpu'), p50: of('p50'), requests: of('requests') }
}
