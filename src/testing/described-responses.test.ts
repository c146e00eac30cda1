import { expect, test } from 'vitest'
import { examples } from '#service/openapi/examples.ts'
import { createResponseCheck, type ReceivedResponse } from './described-responses.ts'

/** The test app holds every answer against the description of the API; here the check itself is seen to fail. */

const check = createResponseCheck()
const headers = new Headers({
  'X-Request-Id': 'a',
  'X-RateLimit-Limit': '100',
  'X-RateLimit-Remaining': '1',
  'X-RateLimit-Reset': '1',
})
const body: unknown = JSON.parse(JSON.stringify(examples.paymentStatus.reply))
const right: ReceivedResponse = {
  method: 'GET',
  path: '/payment/status/x',
  status: 200,
  headers,
  body,
}
const problem = (code: string) => ({
  success: false,
  error: { code, message: 'x', requestId: 'x' },
  timestamp: 1,
})

test('an answer as described passes', () => {
  expect(check(right)).toEqual([])
  expect(check({ ...right, status: 404, body: problem('NOT_FOUND') })).toEqual([])
  expect(check({ ...right, path: '/nowhere', status: 404, body: problem('NOT_FOUND') })).toEqual([])
})

test.each<[string, Partial<ReceivedResponse>, string]>([
  ['a missing field', { body: { success: true } }, 'expected paymentId'],
  [
    'a field of another type',
    { body: { ...examples.paymentStatus.reply, amountAtomic: 1 } },
    '.amountAtomic: expected string',
  ],
  [
    'a value outside its choices',
    { body: { ...examples.paymentStatus.reply, status: 'paid' } },
    '.status: expected one of',
  ],
  ['a status nobody described', { status: 418 }, 'this status is not described'],
  [
    'a code nobody described there',
    { status: 404, body: problem('CHAIN_UNAVAILABLE') },
    'the code CHAIN_UNAVAILABLE is not described',
  ],
  [
    'a code that does not exist',
    { path: '/nowhere', status: 404, body: problem('OOPS') },
    '.error.code: expected one of',
  ],
  ['a missing header', { headers: new Headers() }, 'expected the header X-Request-Id'],
])('%s is told', (_, change, told) => {
  expect(check({ ...right, ...change }).join('\n')).toContain(told)
})
