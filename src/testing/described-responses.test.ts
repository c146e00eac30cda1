import { expect, test } from 'vitest'
import { examples } from '#service/openapi/examples.ts'
import { checkResponse, createSchemaCheck, type ReceivedResponse } from './described-responses.ts'

/** The test app holds every answer against the description of the API; here the check itself is seen to fail. */

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
  expect(checkResponse(right)).toEqual([])
  expect(checkResponse({ ...right, status: 404, body: problem('NOT_FOUND') })).toEqual([])
  expect(
    checkResponse({ ...right, path: '/nowhere', status: 404, body: problem('NOT_FOUND') }),
  ).toEqual([])
})

test.each<[string, Partial<ReceivedResponse>, string]>([
  ['a missing field', { body: { success: true } }, "must have required property 'paymentId'"],
  [
    'a field of another type',
    { body: { ...examples.paymentStatus.reply, amountAtomic: 1 } },
    '/amountAtomic: must be string',
  ],
  [
    'a value outside its choices',
    { body: { ...examples.paymentStatus.reply, status: 'paid' } },
    '/status: must be equal to one of the allowed values',
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
    '/error/code: must be equal to one of the allowed values',
  ],
  ['a missing header', { headers: new Headers() }, 'expected the header X-Request-Id'],
])('%s is told', (_, change, told) => {
  expect(checkResponse({ ...right, ...change }).join('\n')).toContain(told)
})

test('a format is checked, and references lead into the document', () => {
  const violations = createSchemaCheck({
    components: { schemas: { Link: { type: 'string', format: 'uri' } } },
  })
  const schema = { $ref: '#/components/schemas/Link' }
  expect(violations(schema, { value: 'https://a.example', at: 'link' })).toEqual([])
  expect(violations(schema, { value: 'nowhere', at: 'link' })).toEqual([
    'link: must match format "uri" {"format":"uri"}',
  ])
})

test.each([
  ['keyword', { type: 'string', maxLenght: 3 }, 'unknown keyword: "maxLenght"'],
  ['format', { type: 'string', format: 'addres' }, 'unknown format "addres"'],
  ['type', { type: 'strnig' }, 'must be equal to one of the allowed values'],
  ['reference', { $ref: '#/components/schemas/Nothing' }, "can't resolve reference"],
])('an unknown %s in a schema is an error, not a check that is left out', (_, schema, message) => {
  const violations = createSchemaCheck({ components: { schemas: {} } })
  expect(() => violations(schema, { value: 'a', at: 'x' })).toThrow(message)
})
