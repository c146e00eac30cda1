import type { Facts, Finding, Line } from './lines/line.ts'
import type { Probe } from './lines/probe.ts'

export type Result = Omit<Line, 'run'> & Finding

/** Asks line after line. One that cannot be asked, because the service does not answer, is one that failed. */
export async function runLines(
  lines: readonly Line[],
  probe: Probe,
  facts: Facts,
): Promise<Result[]> {
  const results: Result[] = []
  for (const { run, ...line } of lines) {
    const finding = await run(probe, facts).catch((error: unknown): Finding => {
      const got =
        error instanceof Error
          ? `${error.message}${error.cause instanceof Error ? ` (${error.cause.message})` : ''}`
          : String(error)
      return { request: line.endpoint, expected: 'an answer', got, verdict: 'fail' }
    })
    results.push({ ...line, ...finding })
  }
  return results
}
