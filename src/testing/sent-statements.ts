import pg from 'pg'
import { vi } from 'vitest'

/** What this process sends to Postgres while `work` runs, also on connections of other pools: one text for each round trip. */
export async function readSent(work: () => Promise<unknown>): Promise<string[]> {
  using sent = vi.spyOn(pg.Client.prototype, 'query')
  await work()
  return sent.mock.calls.map(([query]: readonly unknown[]) =>
    typeof query === 'string' ? query : String(Object(query).text),
  )
}
