/**
 * SQLSTATE classes and codes, and socket errors, that say the server is not there, has no disk or memory left, or took longer than a statement may;
 * anything else is a defect of the query.
 */
const UNAVAILABLE =
  /^(08...|57P0[1-4]|57014|53[123]00|58030|ECONNREFUSED|ECONNRESET|ENOTFOUND|EPIPE|ETIMEDOUT|EAI_AGAIN)$/
const CONNECTION_LOST =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/

/** Whether an error means that the database does not serve now, so that the same request can succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (
    let cause = error, depth = 0;
    cause instanceof Error && depth < 5;
    cause = cause.cause, depth++
  ) {
    if ('code' in cause && typeof cause.code === 'string' && UNAVAILABLE.test(cause.code))
      return true
    // The Unix socket of a server that is not running is a file that is missing.
    if ('syscall' in cause && cause.syscall === 'connect') return true
    if (CONNECTION_LOST.test(cause.message)) return true
  }
  return false
}
