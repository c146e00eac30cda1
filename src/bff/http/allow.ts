import type { Hono } from 'hono'
import { ProblemError } from '#contract/problem.ts'
import type { HonoEnv } from './env.ts'

/** Every known path answers a method it does not take with 405 and those it takes. Mounted after the routes. */
export function mountMethodRefusals(
  app: Hono<HonoEnv>,
  known: readonly { method: string; path: string }[],
): void {
  const methods = new Map<string, string[]>()
  for (const { method, path } of known) methods.set(path, [...(methods.get(path) ?? []), method])
  for (const [path, allowed] of methods) {
    app.all(path, (c) => {
      c.header('Allow', allowed.join(', '))
      throw new ProblemError('METHOD_NOT_ALLOWED')
    })
  }
}
