import {
  refused,
  single,
  succeeded,
  type ConformanceLine,
  EVM_ADDRESS,
  UNKNOWN_PAYMENT,
} from './line.ts'
import type { ProbeResponse, ProbeRequest } from './probe.ts'

const HISTORY = 'GET /payment/history/:walletAddress'
const PLAN_LIMITS = ['100', '1000']
/** Beyond the quota, and beyond what an earlier run left of it. */
const MOST_OF_QUOTA = 2
const AT_ONCE = 25
const MINUTE_MS = 60_000

/** Sections 7 and 8: limits. The last line uses the key's minute up, so it comes last. */
export const limitLines: ConformanceLine[] = [
  single({
    id: '8 plan',
    requirement: "The plan's requests per minute are 100 (standard) or 1,000 (premium)",
    endpoint: HISTORY,
    input: { method: 'GET', path: `/payment/history/${EVM_ADDRESS}` },
    expected: '200, X-RateLimit-Limit 100 or 1000',
    check: (answer) => {
      const limit = answer.headers.get('x-ratelimit-limit')
      return (
        succeeded('').check(answer) ??
        (PLAN_LIMITS.includes(limit ?? '') ? undefined : `received X-RateLimit-Limit ${limit}`)
      )
    },
  }),
  {
    id: '7 RATE_LIMIT',
    requirement: 'Too many requests are refused with 429, a distinct code and the time to wait',
    endpoint: 'GET /payment/status/:paymentId',
    async run(probe) {
      const request: ProbeRequest = { method: 'GET', path: `/payment/status/${UNKNOWN_PAYMENT}` }
      const first = await probe.sendOnce(request)
      const quota = Number(first.headers.get('x-ratelimit-limit') ?? PLAN_LIMITS[1])
      let refusal: ProbeResponse | undefined
      let sent = 1
      const startedAt = performance.now()
      // What refills meanwhile comes on top: a busy service answers no faster than that for long stretches.
      const most = () => quota * (MOST_OF_QUOTA + (performance.now() - startedAt) / MINUTE_MS)
      while (refusal === undefined && sent < most()) {
        const answers = await Promise.all(
          Array.from({ length: AT_ONCE }, () => probe.sendOnce(request)),
        )
        sent += answers.length
        refusal = answers.find((answer) => answer.status === 429)
      }
      const { expected, check } = refused(429, 'RATE_LIMIT')
      const wrong = refusal
        ? (check(refusal) ??
          (refusal.headers.get('retry-after') ? undefined : 'expected Retry-After'))
        : `no refusal after ${sent} requests`
      return {
        request: `${sent} × GET ${request.path}`,
        expected: `${expected}, Retry-After`,
        got: wrong ?? `429 RATE_LIMIT, Retry-After ${refusal?.headers.get('retry-after')}`,
        verdict: wrong === undefined ? 'pass' : 'fail',
      }
    },
  },
]
