import * as v from 'valibot'
import type { NamedPort } from './ports.ts'
import type { NodePorts } from './network.ts'

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
