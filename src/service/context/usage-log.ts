import { sql } from 'drizzle-orm'
import { USAGE_PERIODS, type StatusClass, type UsagePeriod } from '#contract/usage.ts'
import type { Database } from '#postgres/open.ts'

export type LoggedResponse = { keyId: string; endpoint: string; status: number; at: Date }

/** Counts answers in memory and adds them to the table in one statement, so that counting costs a request no query. */
export type UsageLog = {
  count(answer: LoggedResponse): void
  /**
   * Adds what was counted before this call to the table. What could not be added stays counted, for the next call.
   * @throws what the database throws
   */
  flush(): Promise<void>
}

type Bucket = {
  period: UsagePeriod
  /** Unix milliseconds. */
  startsAt: number
  keyId: string
  endpoint: string
  statusClass: StatusClass
  requests: number
}

const PERIODS = Object.keys(USAGE_PERIODS) as UsagePeriod[]

export function createUsageLog(db: Database): UsageLog {
  let open = new Map<string, Bucket>()
  let last = Promise.resolve()

  async function write(): Promise<void> {
    const buckets = open
    if (buckets.size === 0) return
    open = new Map()
    try {
      await addUp(db, [...buckets.values()])
    } catch (error) {
      for (const bucket of buckets.values()) add(bucket)
      throw error
    }
  }

  function add(bucket: Bucket): void {
    const { period, startsAt, keyId, endpoint, statusClass } = bucket
    const name = `${period} ${startsAt} ${keyId} ${endpoint} ${statusClass}`
    const known = open.get(name)
    if (known) known.requests += bucket.requests
    else open.set(name, bucket)
  }

  return {
    count({ keyId, endpoint, status, at }) {
      const statusClass = `${Math.floor(status / 100)}xx` as StatusClass
      for (const period of PERIODS) {
        const startsAt = startOf(at.getTime(), period)
        add({ period, startsAt, keyId, endpoint, statusClass, requests: 1 })
      }
    },
    flush() {
      last = last.then(write, write)
      return last
    },
  }
}

/** Unix milliseconds of the start of the period, UTC, in which a time lies. */
export function startOf(time: number, period: UsagePeriod): number {
  return time - (time % USAGE_PERIODS[period].ms)
}

/** One statement for all buckets, in the order of their key: two processes lock the same rows in the same order. */
async function addUp(db: Database, buckets: readonly Bucket[]): Promise<void> {
  const rows = buckets.map((bucket) => ({
    ...bucket,
    startsAt: new Date(bucket.startsAt).toISOString(),
  }))
  await db.execute(sql`
    insert into service.usage as kept (key_id, period, starts_at, endpoint, status_class, requests)
    select "keyId", period, "startsAt", endpoint, "statusClass", requests
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as counted("keyId" text, period text, "startsAt" timestamptz, endpoint text, "statusClass" text, requests bigint)
    order by 1, 2, 3, 4, 5
    on conflict (key_id, period, starts_at, endpoint, status_class) do update set requests = kept.requests + excluded.requests`)
}
