import type * as v from 'valibot'

type Introspected = v.GenericSchema & {
  entries?: Record<string, v.GenericSchema>
  item?: v.GenericSchema
  wrapped?: v.GenericSchema
}

/**
 * The part of a JSON value that a schema names, numbers still in their own digits. What the service may add tomorrow
 * does not pass to a browser by itself.
 */
export function project(schema: v.GenericSchema, value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value
  const { entries, item, wrapped } = schema as Introspected
  if (wrapped) return project(wrapped, value)
  if (item && Array.isArray(value)) return value.map((part: unknown) => project(item, part))
  if (!entries) return value
  const source = value as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(entries)
      .filter(([name]) => Object.hasOwn(source, name))
      .map(([name, part]) => [name, project(part, source[name])]),
  )
}

type WithAssignment = { attribution: { assigned: object | null } }

/** A payment for its parties: who of the account assigned a transfer to it, and the note about that, are for people of the account. */
export function projectForParties(value: unknown): unknown {
  const payment = value as WithAssignment
  const { attribution } = payment
  if (attribution.assigned === null) return value
  const assigned = { ...attribution.assigned, by: null, note: null }
  return { ...payment, attribution: { ...attribution, assigned } }
}
