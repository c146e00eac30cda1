import { ProblemError } from '#contract/problem.ts'

/** What the proxy alone tells the service, from the session. @throws ProblemError `INVALID_PARAMETERS` where a browser sends it */
export function refuseSenderVerified(body: { senderVerified?: boolean | undefined }): void {
  if (body.senderVerified === undefined) return
  const senderVerified = `Expected this field to be absent: it follows from the wallets of the session. Received ${body.senderVerified}.`
  throw refuseField('senderVerified', senderVerified)
}

/** The fields of a JSON object that the schema of its endpoint has accepted. */
export function fieldsOf(body: unknown): Record<string, unknown> {
  return { ...(body as Record<string, unknown>) }
}

/** Fields that the proxy writes when a link is paid. From a browser, a stranger could put a price into the merchant's list. */
const OF_LINKS = ['paymentLink', 'pieces', 'quote'] as const

/** @throws ProblemError `INVALID_PARAMETERS` where a browser sends a field that the proxy writes for a link */
export function refuseLinkMetadata(metadata: Record<string, unknown> | undefined): void {
  const found = OF_LINKS.find((name) => metadata !== undefined && Object.hasOwn(metadata, name))
  if (found === undefined) return
  throw refuseField(
    `metadata.${found}`,
    'Expected this field to be absent: only paying a link writes it.',
  )
}

/** The refusal of one field of a request: what was expected. */
export function refuseField(field: string, message: string): ProblemError {
  return new ProblemError('INVALID_PARAMETERS', {
    message: `${field}: ${message}`,
    details: { [field]: message },
  })
}
