import * as v from 'valibot'
import type { Run } from './child.ts'

const Listening = v.object({ msg: v.literal('listening'), port: v.number() })

/** Resolves when a program has written the line that every program of ours writes once it serves. */
export async function untilListening(run: Run): Promise<void> {
  await run.line((line) => (isListening(line) ? true : undefined))
}

function isListening(line: string): boolean {
  try {
    return v.is(Listening, JSON.parse(line))
  } catch {
    return false
  }
}
