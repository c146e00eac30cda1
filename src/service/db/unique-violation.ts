const UNIQUE_VIOLATION = '23505'

/** Whether a write was refused because another row has the same key. @param index the one meant; any otherwise */
export function isUniqueViolation(error: unknown, index?: string): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (!('code' in cause) || cause.code !== UNIQUE_VIOLATION) continue
    return index === undefined || ('constraint' in cause && cause.constraint === index)
  }
  return false
}
