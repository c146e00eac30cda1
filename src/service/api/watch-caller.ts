import type { Context as HttpContext } from 'hono'
import type { Caller } from '../context/context.ts'
import type { HttpEnv } from './env.ts'

/** Watches the connection that an answer goes to. Undefined where the request came over none. */
export function watchCaller(c: HttpContext<HttpEnv>): Caller | undefined {
  const outgoing = c.env?.outgoing
  if (!outgoing || !('writableFinished' in outgoing)) return undefined
  const unanswered = () => outgoing.destroyed && !outgoing.writableFinished
  const run = (undo: () => Promise<void>) =>
    void undo().catch((error: unknown) =>
      c
        .get('log')
        .error({ err: error }, 'a grant whose answer was not written could not be revoked'),
    )
  return {
    get gone() {
      return unanswered()
    },
    ifUnanswered(undo) {
      if (unanswered()) return run(undo)
      outgoing.once('close', () => {
        if (!outgoing.writableFinished) run(undo)
      })
    },
  }
}
