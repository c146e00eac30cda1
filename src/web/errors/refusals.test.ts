import { expect, test } from 'vitest'
import { ApiError } from '../api/errors.ts'
import {
  describeRefusal,
  refusalOf,
  refusals,
  formatRefusal,
  type RefusalReason,
} from './refusals.ts'

const reasons = Object.keys(refusals) as RefusalReason[]

test.each(reasons)('%s is told by its own words', (reason) => {
  const { title, body, action } = formatRefusal(reason)
  const { retry } = refusals[reason]
  // A refusal says what did not happen; only where something may have is there no such promise.
  // Who paid a link, or is about to, may be the one who reads this.
  const ofLink = reason === 'link_used' || reason === 'link_busy'
  const promised = retry !== 'look_first' && !ofLink
  expect(/nothing was (sent|changed)/i.test(body)).toBe(promised)
  const details = { reason: { code: reason, params: {} } }
  expect(describeRefusal(new ApiError({ code: 'FORBIDDEN', details }))).toMatchObject({
    code: 'FORBIDDEN',
    title,
    body,
    action,
  })
})

test('what has no reason, or one nobody knows, is told by its code', () => {
  for (const details of [
    {},
    { reason: { code: 'constructor', params: {} } },
    { reason: 'link_used' },
    { reason: 7 },
  ]) {
    expect(refusalOf(new ApiError({ code: 'NOT_FOUND', details }))).toBeUndefined()
    expect(describeRefusal(new ApiError({ code: 'NOT_FOUND', details })).title).toBe('Not found')
  }
  expect(describeRefusal(new TypeError('x')).code).toBe('UNEXPECTED')
})
