import { ProblemError } from '#contract/problem.ts'

/** What the proxy alone tells the service, from the session. @throws ProblemError `INVALID_PARAMETERS` where a browser sends it */
export function refuseSenderVerified(body: { senderVerified?: boolean | undefined }): void {
  if (body.senderVerified === undefined) return
  const senderVerified = `Expected this field to be absent: it follows from the wallets of the session. Received ${body.senderVerified}.`
  throw new ProblemError('INVALID_PARAMETERS', {
    message: `senderVerified: ${senderVerified}`,
    details: { senderVerified },
  })
}

/** The fields of a JSON object that the schema of its endpoint has accepted. */
export function fieldsOf(body: unknown): Record<string, unknown> {
  return { ...(body as Record<string, unknown>) }
}
