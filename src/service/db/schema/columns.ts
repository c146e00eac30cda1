import { customType, pgSchema, timestamp } from 'drizzle-orm/pg-core'

/**
 * The service's tables. They have a separate Postgres schema, so that the proxy can share the
 * database.
 */
export const service = pgSchema('service')

/** Atomic units: up to 2^256, exact, `bigint` inside. */
export const atomic = customType<{ data: bigint; driverData: string }>({
  dataType: () => 'numeric(78,0)',
  fromDriver: BigInt,
  toDriver: String,
})

/** A sum of atomic units, which may have more digits than one amount. */
export const atomicSum = customType<{ data: bigint; driverData: string }>({
  dataType: () => 'numeric',
  fromDriver: BigInt,
  toDriver: String,
})

export const at = (name: string) =>
  timestamp(name, { withTimezone: true, precision: 3, mode: 'date' })
