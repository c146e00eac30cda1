import { LosslessNumber } from '#contract/json.ts'
import {
  checkLine,
  succeeded,
  type LineFacts,
  type LineFinding,
  type ConformanceLine,
} from './line.ts'
import type { ProbeResponse, ProbeRequest, Probe } from './probe.ts'

const LOCAL = 'POST /transaction/send'
const HOSTED = 'POST /payment/send'
const VALID_FOR_MS = 60_000
/** The two clocks need not agree. */
const CLOCK_MS = 10_000

/** Section 4, with money: an unsigned payment is built, a hosted one is made, and both are found again. */
export const paymentLines: ConformanceLine[] = [
  local(
    '4 local transaction',
    'An unsigned transaction in base64 is answered',
    LOCAL,
    async ({ request, built }) =>
      checkLine(
        request,
        built,
        succeeded('transaction in base64', ({ transaction }) =>
          isBase64(transaction) ? undefined : 'expected base64',
        ),
      ),
  ),
  local(
    '2 local lastValidBlockHeight',
    'It says up to which block height the transaction is valid',
    LOCAL,
    async ({ request, built }) =>
      checkLine(
        request,
        built,
        succeeded('lastValidBlockHeight', (body) =>
          isHeight(body.lastValidBlockHeight) ? undefined : 'expected a block height',
        ),
      ),
  ),
  local(
    '2 local expiresAt',
    'It says when the transaction expires, about 60 seconds after it was built',
    LOCAL,
    async ({ request, built }) =>
      checkLine(
        request,
        built,
        succeeded('expiresAt in about 60 seconds', ({ expiresAt }) => {
          const ms = Number(expiresAt) - Date.now()
          return ms > 0 && ms <= VALID_FOR_MS + CLOCK_MS
            ? undefined
            : `expected about ${VALID_FOR_MS} ms from now, received ${ms}`
        }),
      ),
  ),
  local(
    '2 local priorityFee automatic',
    'Without a priority fee the service chooses one',
    LOCAL,
    async ({ request, built }) =>
      checkLine(
        request,
        built,
        succeeded('a fee that the service chose', ({ fee }) =>
          typeof fee === 'object' &&
          fee !== null &&
          'priorityFee' in fee &&
          isNumber(fee.priorityFee)
            ? undefined
            : 'expected fee.priorityFee',
        ),
      ),
  ),
  local(
    '4 status',
    'Status and details of a payment can be read',
    'GET /payment/status/:paymentId',
    async ({ probe, built }) => {
      const status: ProbeRequest = {
        method: 'GET',
        path: `/payment/status/${String(built.body?.paymentId)}`,
      }
      return checkLine(
        status,
        await probe.send(status),
        succeeded('the payment and its status', (body) =>
          body.paymentId === built.body?.paymentId && typeof body.status === 'string'
            ? undefined
            : 'expected this payment with a status',
        ),
      )
    },
  ),
  ...(['sent', 'received'] as const).map((type) =>
    local(
      `4 history ${type}`,
      `The history of a wallet tells what it ${type}`,
      'GET /payment/history/:walletAddress',
      async ({ probe, built, facts }) => {
        const wallet = type === 'sent' ? facts.wallet : facts.recipient
        const history: ProbeRequest = {
          method: 'GET',
          path: `/payment/history/${wallet}?type=${type}`,
        }
        return checkLine(
          history,
          await probe.send(history),
          succeeded(`the payment as ${type}`, ({ payments }) =>
            JSON.stringify(payments)?.includes(String(built.body?.paymentId))
              ? undefined
              : 'expected the payment that was just built',
          ),
        )
      },
    ),
  ),
  hosted(
    '4 hosted send',
    'The service builds, signs and broadcasts a payment',
    HOSTED,
    async ({ request, made }) =>
      checkLine(request, made, {
        expected: '200 (or 202 while it is pending), paymentId and signature',
        check: ({ status, body }) => {
          if (status !== 200 && status !== 202) return 'expected 200 or 202'
          return typeof body?.paymentId === 'string' && typeof body.signature === 'string'
            ? undefined
            : 'expected paymentId and signature'
        },
      }),
  ),
  hosted(
    '4 hosted receive',
    'A seller has the proof of a payment checked and the receipt of funds confirmed',
    'POST /payment/receive',
    async ({ probe, facts, made }) => {
      const { paymentProof } = made.body ?? {}
      if (typeof paymentProof !== 'string')
        return notTested('POST /payment/receive', 'the hosted payment has no proof yet')
      const receive: ProbeRequest = {
        method: 'POST',
        path: '/payment/receive',
        body: {
          walletAddress: facts.recipient,
          paymentProof,
          expectedAmount: HOSTED_AMOUNT,
          resource: RESOURCE,
        },
      }
      return checkLine(
        receive,
        await probe.send(receive),
        succeeded('verified', (body) =>
          body.verified === true ? undefined : 'expected verified: true',
        ),
      )
    },
  ),
  hosted(
    '4 local receive',
    'A seller has the proof of a payment checked and gets a transaction, a block height and a time with the answer',
    'POST /transaction/receive',
    async ({ probe, facts, made }) => {
      const { paymentProof } = made.body ?? {}
      if (typeof paymentProof !== 'string')
        return notTested('POST /transaction/receive', 'the hosted payment has no proof yet')
      const receive: ProbeRequest = {
        method: 'POST',
        path: '/transaction/receive',
        body: {
          walletAddress: facts.recipient,
          paymentProof,
          expectedAmount: HOSTED_AMOUNT,
          resource: RESOURCE,
        },
      }
      return checkLine(
        receive,
        await probe.send(receive),
        succeeded(
          'transaction, lastValidBlockHeight and expiresAt',
          ({ transaction, lastValidBlockHeight, expiresAt }) =>
            isBase64(transaction) && isHeight(lastValidBlockHeight) && isHeight(expiresAt)
              ? undefined
              : 'expected a transaction, a height and a time',
        ),
      )
    },
  ),
]

const HOSTED_AMOUNT = 0.001
const RESOURCE = 'https://conformance.example/resource'

type Built = { probe: Probe; facts: LineFacts; request: ProbeRequest; built: ProbeResponse }

function local(
  id: string,
  requirement: string,
  ...[endpoint, look]: [string, (built: Built) => Promise<LineFinding>]
): ConformanceLine {
  return {
    id,
    requirement,
    endpoint,
    async run(probe, facts) {
      if (facts.wallet === undefined) return notTested(LOCAL, 'it takes --wallet')
      const request: ProbeRequest = {
        method: 'POST',
        path: '/transaction/send',
        body: { walletAddress: facts.wallet, recipientAddress: facts.recipient, amount: 0.001 },
      }
      const built = await probe.send(request)
      return built.status === 200
        ? await look({ probe, facts, request, built })
        : checkLine(request, built, succeeded('an unsigned payment'))
    },
  }
}

type Made = { probe: Probe; facts: LineFacts; request: ProbeRequest; made: ProbeResponse }

function hosted(
  id: string,
  requirement: string,
  ...[endpoint, look]: [string, (made: Made) => Promise<LineFinding>]
): ConformanceLine {
  return {
    id,
    requirement,
    endpoint,
    async run(probe, facts) {
      if (facts.managedWallet === undefined) return notTested(HOSTED, 'it takes --managed-wallet')
      const body = {
        walletAddress: facts.managedWallet,
        recipientAddress: facts.recipient,
        amount: HOSTED_AMOUNT,
        resource: RESOURCE,
      }
      const request: ProbeRequest = { method: 'POST', path: '/payment/send', body }
      return await look({ probe, facts, request, made: await probe.send(request) })
    },
  }
}

function notTested(request: string, why: string): LineFinding {
  return { request, expected: 'an answer with money in it', got: why, verdict: 'not asked' }
}

function isBase64(text: unknown): boolean {
  return (
    typeof text === 'string' &&
    text.length > 0 &&
    /^[A-Za-z0-9+/]+={0,2}$/.test(text) &&
    text.length % 4 === 0
  )
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || value instanceof LosslessNumber
}

function isHeight(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}
