import { describe, expect, test } from 'vitest'
import { RETRYABLE, type ProblemCode } from './problem-codes.ts'
import { errorBody, ProblemError, problems } from './problem.ts'

const codes = Object.keys(problems) as ProblemCode[]

describe('the registry', () => {
  test('gives every code the status that the specification and the API say', () => {
    expect(Object.fromEntries(codes.map((code) => [code, problems[code].status]))).toMatchObject({
      INVALID_PARAMETERS: 400,
      INVALID_RECIPIENT: 400,
      INSUFFICIENT_BALANCE: 400,
      SIGNING_REFUSED: 400,
      INVALID_PAYMENT_PROOF: 400,
      UNAUTHORIZED: 401,
      FORBIDDEN: 403,
      NOT_FOUND: 404,
      METHOD_NOT_ALLOWED: 405,
      IDEMPOTENCY_CONFLICT: 409,
      IDEMPOTENCY_IN_PROGRESS: 409,
      PAYLOAD_TOO_LARGE: 413,
      UNSUPPORTED_MEDIA_TYPE: 415,
      RATE_LIMIT: 429,
      INTERNAL: 500,
      PAYMENT_VERIFICATION_FAILED: 502,
      CHAIN_UNAVAILABLE: 503,
    })
  })

  test.each(codes)('%s is told in sentences', (code) => {
    expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/)
    expect(problems[code].title).toMatch(/^[A-Z].*\.$/)
    expect(problems[code].hint).toMatch(/^[A-Z].*\.$/)
  })

  test('every answer of the server being at fault or busy may be retried', () => {
    for (const code of codes)
      if (problems[code].status >= 500 || problems[code].status === 429)
        expect(RETRYABLE[code], code).toBe(true)
  })
})

describe('errorBody', () => {
  test('is the one envelope, with only what is known', () => {
    expect(errorBody(new ProblemError('NOT_FOUND'), 'req_1', 5)).toStrictEqual({
      success: false,
      error: {
        code: 'NOT_FOUND',
        message: 'There is nothing here under this name.',
        requestId: 'req_1',
      },
      timestamp: 5,
    })
  })

  test('carries the message, the details and the seconds to wait', () => {
    const problem = new ProblemError('RATE_LIMIT', {
      message: 'Slow down.',
      details: { limit: 100 },
      retryAfter: 0,
    })
    expect(errorBody(problem, 'req_2', 6).error).toStrictEqual({
      code: 'RATE_LIMIT',
      message: 'Slow down.',
      details: { limit: 100 },
      retryAfter: 0,
      requestId: 'req_2',
    })
  })

  test('says nothing of a cause', () => {
    const problem = new ProblemError('INTERNAL', {}, { cause: new Error('password=hunter2') })
    expect(JSON.stringify(errorBody(problem, 'req_3', 7))).not.toContain('hunter2')
  })
})
