import type { EndpointReply, EndpointRequest } from '#contract/endpoints.ts'
import { amountFact, fact, type CheckFact } from '#contract/facts.ts'
import type { ProofCheck } from '#contract/proof.ts'
import { renderCheckFact } from '#contract/render-facts.ts'

const BUYER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const SELLER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const RESOURCE = 'https://shop.example/articles/42'
const ONE_DOLLAR = amountFact(1_000_000n, { symbol: 'USDC', decimals: 6 })
const PASSED = [
  exampleCheck({ name: 'format', source: 'proof' }, [fact('base64_payment'), fact('such_payment')]),
  exampleCheck({ name: 'signed_amount', source: 'proof' }, [ONE_DOLLAR, ONE_DOLLAR]),
  exampleCheck({ name: 'fresh', source: 'chain' }, [
    fact('never_executed'),
    fact('never_executed'),
  ]),
  exampleCheck({ name: 'simulation', source: 'chain' }, [fact('accepted'), fact('accepted')]),
]

/** A dollar of USDC that its payee settles without a facilitator. */
export const settlementExample: {
  request: EndpointRequest<'transactionReceive'>
  reply: EndpointReply<'transactionReceive'>
} = {
  request: {
    body: {
      walletAddress: SELLER,
      paymentProof: 'eyJ4NDAyVmVyc2lvbiI6Mn0=',
      expectedAmount: 1,
      asset: 'USDC',
      resource: RESOURCE,
    },
  },
  reply: {
    success: true,
    verified: true,
    alreadyProcessed: false,
    paymentId: 'pay_9Mh5nRz2LqK8vB4cDeFgHj',
    status: 'created',
    settlement: 'required',
    kind: 'eip3009',
    transaction: 'AvkBSoIhBQGEO5rKAITMVD4GgwEVwpSDNYn81u22CPRHwyyUNfcVubqnKhM=',
    encoding: 'evm-rlp-unsigned',
    signer: SELLER,
    lastValidBlockHeight: 21_456_819,
    expiresAt: 1_697_234_627_890,
    signature: null,
    network: 'eip155:8453',
    asset: USDC,
    symbol: 'USDC',
    decimals: 6,
    amount: 1,
    amountAtomic: '1000000',
    sender: BUYER,
    recipient: SELLER,
    resource: RESOURCE,
    fee: { amount: 0.00021, amountAtomic: '210000000000000', priorityFee: 0.000071 },
    estimatedConfirmation: '20-41 seconds',
    decoded: {
      type: 'eip1559',
      chainId: 8453,
      from: SELLER,
      to: USDC,
      value: '0',
      nonce: 5,
      gas: '71106',
    },
    checks: PASSED,
  },
}

/** A check that passed, as an answer shows it. */
export function exampleCheck(
  check: Pick<ProofCheck, 'name' | 'source'>,
  [expected, got]: readonly [CheckFact, CheckFact],
): ProofCheck {
  return {
    ...check,
    ok: true,
    expected: renderCheckFact(expected),
    got: renderCheckFact(got),
    expectedFact: expected,
    gotFact: got,
  }
}

type Example = { request: EndpointRequest<'requestList'>; reply: EndpointReply<'requestList'> }

/** A request of a key that was refused. */
export function requestExample(keyId: string, at: number): Example {
  return {
    request: { query: { result: 'error' } },
    reply: {
      success: true,
      requests: [
        {
          id: '4711',
          requestId: '8a6e0804-2bd0-4672-b79d-d97027f9071a',
          keyId,
          at,
          method: 'POST',
          path: '/payment/send',
          endpoint: 'paymentSend',
          status: 400,
          code: 'INVALID_PARAMETERS',
          durationMs: 3,
          request: '{"recipientAddress":"0x00","amount":0.00001,"metadata":"[hidden]"}',
          response:
            '{"error":{"code":"INVALID_PARAMETERS","details":{"amount":"Expected at least 0.001."}}}',
          skipped: 0,
        },
      ],
      nextCursor: null,
    },
  }
}
