import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { ResourceResponse } from './request/send-request.ts'
import { headerOf, type PaymentChallenge } from './request/challenge.ts'

/** What a seller's 402 could do better, with the line that would do it. */
export type Lint = { text: MessageDescriptor; fix: string }

/** Looks at a challenge the way another client would. `direct`: this browser read it across origins. */
export function lintChallenge(
  challenge: PaymentChallenge,
  answer: ResourceResponse,
  direct: boolean,
): Lint[] {
  const lints: Lint[] = []
  const hasV2 = challenge.versions.includes(2)
  if (!hasV2 && !direct)
    lints.push({
      text: msg`There is no version 2 of it: current clients read the header first.`,
      fix: 'PAYMENT-REQUIRED: <base64 of {"x402Version": 2, …}>',
    })
  if (!hasV2 && direct && headerOf(answer, 'payment-required') === undefined) {
    lints.push({
      text: msg`Pages of other origins cannot read its header, if it has one.`,
      fix: 'Access-Control-Expose-Headers: PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE',
    })
  }
  // Across origins a page sees this header without being told to.
  const cache = headerOf(answer, 'cache-control') ?? ''
  if (!/no-store/i.test(cache))
    lints.push({
      text: msg`A cache may store the response and serve it to another client.`,
      fix: 'Cache-Control: no-store',
    })
  if (hasV2 && challenge.resource === null)
    lints.push({
      text: msg`It does not name its resource: a payment for one page would buy another.`,
      fix: '"resource": {"url": "https://…"}',
    })
  const many = challenge.offers.filter(({ terms }) => terms.maxTimeoutSeconds < 30).length
  if (many > 0)
    lints.push({
      text: msg`It leaves a person less than half a minute to pay.`,
      fix: '"maxTimeoutSeconds": 300',
    })
  return lints
}
