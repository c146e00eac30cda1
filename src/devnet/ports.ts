import { createServer, type AddressInfo } from 'node:net'

/** Asks the system for a port nobody uses. Another program could take it before we do; for tests that is good enough. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise<void>((resolve) => server.close(() => resolve()))
  return port
}

export async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const free = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
  })
  if (free) await new Promise<void>((resolve) => server.close(() => resolve()))
  return free
}

export type NamedPort = { what: string; variable: string; port: number }

/** One sentence for each port that is taken or named twice; empty when the devnet can start. */
export async function portProblems(ports: readonly NamedPort[]): Promise<string[]> {
  const problems: string[] = []
  const seen = new Map<number, NamedPort>()
  for (const named of ports) {
    const other = seen.get(named.port)
    if (other) problems.push(`Port ${named.port} is meant for both ${other.what} and ${named.what}. Set ${named.variable} to another one.`)
    else if (!(await isFree(named.port))) {
      problems.push(
        `Port ${named.port} (${named.what}) is taken by another program. End it, or choose another port: ${named.variable}=${named.port + 10_000} npm start`,
      )
    }
    seen.set(named.port, named)
  }
  return problems
}
