import type { ConformanceLine } from './line.ts'

type Unasked = Pick<ConformanceLine, 'id' | 'requirement' | 'endpoint'> & { why: string }

/** Lines that no request from outside can decide, and why: a run names them, so that nobody takes their absence for a pass. */
const rows: Unasked[] = [
  {
    id: '1 https',
    requirement: 'The service is reached by HTTPS',
    endpoint: 'GET /payment/history/:walletAddress',
    why: 'TLS ends where the operator lets it end, often in front of the service',
  },
  {
    id: '2 hosted receive facilitatorUrl default',
    requirement: 'Hosted: without a facilitatorUrl a default one verifies',
    endpoint: 'POST /payment/receive',
    why: 'the response is the same for every facilitator; its verifiedBy names the one that verified',
  },
  {
    id: '2 hosted receive timeout default',
    requirement: 'Hosted: the timeout is 30 seconds when none is given',
    endpoint: 'POST /payment/receive',
    why: 'it takes a facilitator or a chain that hangs',
  },
  {
    id: '2 local validity',
    requirement: 'After lastValidBlockHeight the transaction is no longer valid',
    endpoint: 'POST /transaction/send',
    why: 'it takes a signature and the patience of a minute',
  },
  {
    id: '5 plan permission',
    requirement: 'A plan that lacks permission for an endpoint is refused',
    endpoint: 'GET /payment/history/:walletAddress',
    why: 'which plan may what is the operator’s; the same refusal is asked of a scope',
  },
  {
    id: '7 PAYMENT_VERIFICATION_FAILED',
    requirement: 'A facilitator that cannot verify has a distinct code',
    endpoint: 'POST /payment/receive',
    why: 'it takes a facilitator or a chain that hangs or lies',
  },
  {
    id: '7 hosted INSUFFICIENT_BALANCE',
    requirement: 'Hosted: too little balance for amount and fees has a distinct code',
    endpoint: 'POST /payment/send',
    why: 'a wallet that does hold the 100 asked for would pay them; it is asked in local mode',
  },
]

export const manualLines: ConformanceLine[] = rows.map(({ why, ...line }) => ({
  ...line,
  run: async () => ({
    request: line.endpoint,
    expected: line.requirement,
    got: why,
    verdict: 'not asked',
  }),
}))
