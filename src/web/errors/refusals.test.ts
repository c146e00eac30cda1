import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { ROLES } from '#contract/role.ts'
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
  expect(/(nothing was (sent|changed)|no key was made)/i.test(body)).toBe(retry !== 'look_first')
  expect(describeRefusal(new ApiError({ code: 'FORBIDDEN', details: { reason } }))).toMatchObject({
    code: 'FORBIDDEN',
    title,
    body,
    action,
  })
})

test('what has no reason, or one nobody knows, is told by its code', () => {
  for (const details of [{}, { reason: 'constructor' }, { reason: 7 }]) {
    expect(refusalOf(new ApiError({ code: 'NOT_FOUND', details }))).toBeUndefined()
    expect(describeRefusal(new ApiError({ code: 'NOT_FOUND', details })).title).toBe('Not found')
  }
  expect(describeRefusal(new TypeError('x')).code).toBe('UNEXPECTED')
})

test('every reason the proxy gives for links, managed payments and keys has its row', async () => {
  const bff = new URL('../../bff/', import.meta.url)
  const files = (await readdir(bff, { recursive: true })).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('db/'),
  )
  const given = new Set<string>()
  for (const file of files) {
    const text = await readFile(new URL(file, bff), 'utf8')
    for (const [, reason = ''] of text.matchAll(
      /(?<!startsWith\(')\b((?:link|hosted|approval|invitation|role)_[a-z_]+)(?=:\s+'[A-Z]|'\))/g,
    ))
      given.add(reason)
    for (const [, reason = ''] of text.matchAll(
      /reason: '((?:link|hosted|approval)_[a-z_]+|own_key|payee_required)'/g,
    ))
      given.add(reason)
  }
  for (const role of ROLES) given.add(`${role}_required`)
  expect(given.size).toBeGreaterThan(15)
  expect([...given].filter((reason) => !Object.hasOwn(refusals, reason))).toEqual([])
})
