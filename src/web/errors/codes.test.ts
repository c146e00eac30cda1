import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { RETRYABLE } from '#contract/problem-codes.ts'
import { describeError, codes, errorSentence } from './codes.ts'
import { ReaderError } from '../locales/reader-error.ts'
import { ApiError, readProblem, type ApiErrorCode } from '../api/errors.ts'

const names = Object.keys(codes) as ApiErrorCode[]

test('every code of the service has words', () => {
  expect(names).toEqual(expect.arrayContaining(Object.keys(RETRYABLE)))
})

test.each(names)('%s offers what its policy allows', (code) => {
  const { action } = describeError(new ApiError({ code }))
  const { retry } = codes[code]
  const retryable = new ApiError({ code }).retryable
  // What can succeed later offers a button; what only the reader can change does not pretend that pressing helps.
  if (retryable) expect(action).toBe('retry')
  // The reading layer retries by the code's own flag: the table must not say otherwise.
  if (code in RETRYABLE) expect(retry === 'safe' || retry === 'by_itself').toBe(retryable)
})

test('a countdown and the request id reach the reader', () => {
  const words = describeError(
    new ApiError({ code: 'RATE_LIMIT', retryAfter: 27, requestId: 'req_1' }),
  )
  expect(words.body).toContain('27 s')
  expect(words.detail).toBe('RATE_LIMIT · req_1')
})

test('a fault of this page never shows its insides', () => {
  expect(describeError(new TypeError('x is undefined'))).toMatchObject({
    title: 'Page error',
    action: 'retry',
  })
})

test('a sentence for an error is of the table, made for the reader, or the page’s own: never a library’s', () => {
  const otherwise = 'Not saved. Try again.'
  for (const error of [
    new TypeError('x is undefined'),
    new DOMException('The operation failed.', 'QuotaExceededError'),
    'a text',
    undefined,
  ])
    expect(errorSentence(error, otherwise)).toBe(otherwise)
  expect(errorSentence(new ReaderError('Answer the other tab.'), otherwise)).toBe(
    'Answer the other tab.',
  )
  const refused = new ApiError({ code: 'OFFLINE', message: 'fetch failed' })
  expect(errorSentence(refused, otherwise)).toBe('Server unreachable. Check your connection.')
})

test('no file reads the message of whatever was thrown', async () => {
  const web = new URL('../', import.meta.url)
  const files = (await readdir(web, { recursive: true })).filter(
    (file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file),
  )
  expect(files.length).toBeGreaterThan(200)
  const found = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(new URL(file, web), 'utf8')
      return /instanceof Error\s*(\?|&&)[^\n]*\.message|(Error|Notice|notice|reason)\w*\(?:? String\(error\)/.test(
        text,
      )
        ? [file]
        : []
    }),
  )
  expect(found.flat()).toEqual([])
})

const answer = (status: number, headers: Record<string, string> = {}) => ({
  status,
  headers: new Headers(headers),
})

test('a refusal is read from its envelope', () => {
  const text =
    '{"success":false,"error":{"code":"INSUFFICIENT_BALANCE","message":"Too little.","details":{"required":"1"},"requestId":"req_2"},"timestamp":1}'
  expect(readProblem(answer(400), text)).toMatchObject({
    code: 'INSUFFICIENT_BALANCE',
    status: 400,
    message: 'Too little.',
    details: { required: '1' },
    requestId: 'req_2',
  })
})

test.each([
  [502, '<html>Bad gateway</html>', 'INTERNAL'],
  [429, '', 'RATE_LIMIT'],
  [404, 'not json', 'BAD_RESPONSE'],
  [400, '{"error":{"code":"constructor","message":"m"}}', 'BAD_RESPONSE'],
  [500, '{"error":{"code":"NEW_CODE","message":"m"}}', 'INTERNAL'],
])(
  'an answer %i that is no envelope of ours is still an error with its status',
  (status, text, code) => {
    expect(
      readProblem(answer(status, { 'Retry-After': '3', 'X-Request-Id': 'req_3' }), text),
    ).toMatchObject({ code, status, retryAfter: 3, requestId: 'req_3' })
  },
)
