import { expect, test } from 'vitest'
import { MAIL_KINDS, type MailLanguage } from '#contract/mail-endpoints.ts'
import { renderMail } from './render.ts'

function write(amount: string, language: MailLanguage): string {
  return renderMail({
    language,
    dashboardUrl: 'https://pay.example.com',
    unsubscribeUrl: 'https://pay-api.example.com/stop',
    total: 1,
    items: [{ kind: 'payment_confirmed', facts: { amount, symbol: 'USDC' } }],
  }).subject
}

test.each([
  ['1.5', '1,5 USDC recibidos'],
  ['1234', '1234 USDC recibidos'],
  ['1234.567891', '1234,567891 USDC recibidos'],
  // In Spain "1.234" is 1234. In Mexico "1,234" is 1234, and "1,2340" is no group of thousands.
  ['1.234', '1,2340 USDC recibidos'],
  ['0.001', '0,0010 USDC recibidos'],
])('a Spanish email writes %s so that nobody reads a thousand times more', (amount, subject) => {
  expect(write(amount, 'es')).toBe(subject)
})

test('an amount is written with a point in English and in Chinese', () => {
  expect(write('1.234', 'en')).toBe('1.234 USDC received')
  expect(write('1.234', 'zh-CN')).toContain('1.234 USDC')
})

test('no Spanish email has a decimal point', () => {
  const items = MAIL_KINDS.map((kind) => ({ kind, facts: { amount: '1.25', symbol: 'USDC' } }))
  const { text } = renderMail({
    language: 'es',
    dashboardUrl: 'https://pay.example.com',
    unsubscribeUrl: 'https://pay-api.example.com/stop',
    items,
    total: items.length,
  })
  expect(text).toContain('1,25 USDC')
  expect(text).not.toContain('1.25')
})
