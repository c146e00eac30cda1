import { paymentEndpoints } from '#contract/payment-endpoints.ts'

/** The service's own call for a payment's status. The key is a placeholder: no key is ever known to a browser. */
export function curlOf(paymentId: string): string {
  const path = paymentEndpoints.paymentStatus.path.replace(
    ':paymentId',
    encodeURIComponent(paymentId),
  )
  return [
    `curl "$PAYDESK_URL${path}"`,
    `  -H "Authorization: Bearer $PAYDESK_API_KEY"`,
    `  -H "Accept: application/json"`,
  ].join(' \\\n')
}
