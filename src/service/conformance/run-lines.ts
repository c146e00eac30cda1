import type { LineFacts, LineFinding, ConformanceLine } from './lines/line.ts'
import type { Probe } from './lines/probe.ts'

export type LineResult = Omit<ConformanceLine, 'run'> & LineFinding

/** Asks line after line. One that cannot be asked, because the service does not answer, is one that failed. */
export async function runLines(
  lines: readonly ConformanceLine[],
  probe: Probe,
  facts: LineFacts,
): Promise<LineResult[]> {
  const results: LineResult[] = []
  for (const { run, ...line } of lines) {
    const finding = await run(probe, facts).catch((error: unknown): LineFinding => {
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
