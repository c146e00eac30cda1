import * as v from 'valibot'
import { randomInt } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type ListenOptions, type Server } from 'node:net'
import type { NodePorts } from './network.ts'

type Range = { from: number; to: number }

const ATTEMPTS = 200
/** A smaller range is not worth searching for a free port. */
const ENOUGH = 500
const LAST = 65_535
/** Below are the ports of well-known programs, and those that browsers refuse to open. */
const PLAIN: Range = { from: 20_000, to: 32_767 }
const EPHEMERAL = '/proc/sys/net/ipv4/ip_local_port_range'

/**
 * One lock per port given out. Linux lends its name to one process at a time: other callers skip
 * the port.
 */
const reserved: Server[] = []

/**
 * A port that nobody uses and that stays free until it is used: the system gives it to no
 * connection and to no program that asks for any port, and this function to no other caller while
 * this process lives.
 */
export async function freePort(
  { from, to }: Range = portsToGive(existsSync(EPHEMERAL) ? readFileSync(EPHEMERAL, 'utf8') : ''),
): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(from, to + 1)
    const holder = await reservePort(port)
    if (!holder) continue
    if (await isFree(port)) {
      reserved.push(holder)
      return port
    }
    holder.close()
  }
  throw new Error(`None of ${ATTEMPTS} ports from ${from} to ${to} is free.`)
}

/**
 * The ports the system does not assign by itself, from `ip_local_port_range` as Linux writes it;
 * elsewhere that range begins at 49152.
 */
export function portsToGive(ephemeral: string): Range {
  const [first = 49_152, last = LAST] = ephemeral.split(/\s+/).filter(Boolean).map(Number)
  const ranges = [
    { from: PLAIN.from, to: Math.min(PLAIN.to, first - 1) },
    { from: Math.max(PLAIN.from, last + 1), to: LAST },
  ]
  return ranges.find(({ from, to }) => to - from >= ENOUGH) ?? PLAIN
}

export async function isFree(port: number): Promise<boolean> {
  const server = await listen({ port, host: '127.0.0.1' })
  if (server) await new Promise<void>((resolve) => server.close(() => resolve()))
  return server !== undefined
}

/** Only Linux has socket names without files. Elsewhere, only luck keeps two processes apart. */
function reservePort(port: number): Promise<Server | undefined> {
  return process.platform === 'linux'
    ? listen({ path: `\0paydesk-port-${port}` })
    : Promise.resolve(createServer())
}

function listen(where: ListenOptions): Promise<Server | undefined> {
  const server = createServer().unref()
  return new Promise((resolve) => {
    server
      .once('error', () => resolve(undefined))
      .listen({ ...where, exclusive: true }, () => resolve(server))
  })
}

type NamedPort = { what: string; variable: string; port: number }

/** One sentence for each port that is taken or named twice; empty when the devnet can start. */
export async function portProblems(ports: readonly NamedPort[]): Promise<string[]> {
  const problems: string[] = []
  const seen = new Map<number, NamedPort>()
  for (const named of ports) {
    const other = seen.get(named.port)
    if (other)
      problems.push(
        `Port ${named.port} is meant for both ${other.what} and ${named.what}. Set ${named.variable} to another one.`,
      )
    else if (!(await isFree(named.port))) {
      problems.push(
        `Port ${named.port} (${named.what}) is taken by another program. End it, or choose another port: ${named.variable}=${named.port + 10_000} npm start`,
      )
    }
    seen.set(named.port, named)
  }
  return problems
}

export type StartOptions = { ports: NodePorts; named: NamedPort[]; dir: string; reset: boolean }

const PORTS = {
  web: { variable: 'PORT_WEB', what: 'web app', default: 4173 },
  bff: { variable: 'PORT_BFF', what: 'proxy', default: 4021 },
  service: { variable: 'PORT_SERVICE', what: 'service', default: 4020 },
  seller: { variable: 'PORT_SELLER', what: 'demo shop', default: 4022 },
  evm: { variable: 'PORT_EVM', what: 'EVM node', default: 8545 },
  solana: { variable: 'PORT_SOLANA', what: 'Solana node', default: 8899 },
  solanaWs: { variable: 'PORT_SOLANA_WS', what: 'Solana subscriptions', default: 8900 },
} as const satisfies Record<keyof NodePorts, { variable: string; what: string; default: number }>

const port = v.pipe(
  v.string(),
  v.regex(/^[1-9][0-9]{0,4}$/),
  v.transform(Number),
  v.maxValue(65_535),
)

export const USAGE = `npm start [-- --reset]

  --reset   forgets the history in .paydesk/ and begins again

${Object.values(PORTS)
  .map(
    ({ variable, what, default: fallback }) =>
      `  ${variable.padEnd(15)} port of the ${what} (${fallback})`,
  )
  .join('\n')}`

/**
 * What the person who starts the devnet asks for.
 * @throws Error that names every problem at once
 */
export function readOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): StartOptions {
  const problems = args.filter((arg) => arg !== '--reset').map((arg) => `Unknown argument ${arg}.`)
  const entries = Object.entries(PORTS).map(([name, row]) => {
    const text = env[row.variable] || String(row.default)
    const read = v.safeParse(port, text)
    if (!read.success)
      problems.push(
        `${row.variable}: expected a port from 1 to 65535, received ${JSON.stringify(text)}. Example: ${row.variable}=${row.default}`,
      )
    return {
      name,
      named: {
        what: row.what,
        variable: row.variable,
        port: read.success ? read.output : row.default,
      },
    }
  })
  if (problems.length > 0) throw new Error(`${problems.join('\n')}\n\n${USAGE}`)
  const of = (name: keyof NodePorts) =>
    entries.find((entry) => entry.name === name)?.named.port ?? PORTS[name].default
  return {
    ports: {
      web: of('web'),
      bff: of('bff'),
      service: of('service'),
      seller: of('seller'),
      evm: of('evm'),
      solana: of('solana'),
      solanaWs: of('solanaWs'),
    },
    named: entries.map(({ named }) => named),
    dir: '.paydesk',
    reset: args.includes('--reset'),
  }
}
