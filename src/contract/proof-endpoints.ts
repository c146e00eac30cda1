import {
  FacilitatorInput,
  FacilitatorSettleBody,
  FacilitatorSupportedBody,
  FacilitatorVerifyBody,
} from './facilitator.ts'
import { ReceiveBody, ReceiveInput } from './receive.ts'

/** The rows of the endpoint table that take payment proofs. */
export const proofEndpoints = {
  paymentReceive: {
    method: 'POST',
    path: '/payment/receive',
    summary: 'Check a payment proof against the chain and use it up',
    scope: 'payment:receive',
    audience: 'browser',
    body: ReceiveInput,
    response: ReceiveBody,
    pending: 'forget',
    problems: [
      'INVALID_PAYMENT_PROOF',
      'PAYMENT_VERIFICATION_FAILED',
      'IDEMPOTENCY_CONFLICT',
      'IDEMPOTENCY_IN_PROGRESS',
      'CHAIN_UNAVAILABLE',
    ],
  },
  /** The x402 facilitator interface. */
  facilitatorSupported: {
    method: 'GET',
    path: '/facilitator/supported',
    summary: 'What the facilitator settles',
    scope: 'payment:receive',
    keyless: 'facilitator',
    audience: 'key',
    response: FacilitatorSupportedBody,
    problems: [],
  },
  facilitatorVerify: {
    method: 'POST',
    path: '/facilitator/verify',
    summary: 'Whether a payment could be settled now',
    scope: 'payment:receive',
    keyless: 'facilitator',
    audience: 'browser',
    body: FacilitatorInput,
    response: FacilitatorVerifyBody,
    problems: ['IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS', 'CHAIN_UNAVAILABLE'],
  },
  facilitatorSettle: {
    method: 'POST',
    path: '/facilitator/settle',
    summary: 'Settle a payment and use its proof up',
    scope: 'payment:receive',
    keyless: 'facilitator',
    audience: 'key',
    body: FacilitatorInput,
    response: FacilitatorSettleBody,
    forgetsFailures: true,
    problems: ['IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS', 'CHAIN_UNAVAILABLE'],
  },
} as const
