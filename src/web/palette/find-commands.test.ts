import { expect, test } from 'vitest'
import { createPaymentId } from '#contract/payment.ts'
import { findCommands, paymentIdIn, searchOf } from './find-commands.ts'

const commands = ['Overview', 'Payments', 'Payment links', 'Pay', 'Configuración'].map((label) => ({
  id: label,
  label,
  to: `/${label}`,
}))
const found = (typed: string) => findCommands(commands, typed).map(({ label }) => label)

test('commands are found by parts of their names, without case and accents', () => {
  expect(found('')).toHaveLength(5)
  expect(found('LINK')).toEqual(['Payment links'])
  expect(found('lin pay')).toEqual(['Payment links'])
  expect(found('configuracion')).toEqual(['Configuración'])
  expect(found('refund')).toEqual([])
  expect(found('o').at(0)).toBe('Overview')
})

test('text, hashes, addresses and operators are searches; one letter and misspelt operators are none', () => {
  for (const typed of ['tea', ' tea ', 'amount:>1 status:failed', `0x${'ab'.repeat(32)}`])
    expect(searchOf(typed)).toBe(typed.trim())
  for (const typed of ['', 't', 'amout:>1', 'status:nonsense', 'x'.repeat(301)])
    expect(searchOf(typed)).toBeUndefined()
})

test('a payment id is known alone and in the address of its page', () => {
  const id = createPaymentId()
  for (const typed of [id, ` ${id} `, `https://pay.example/payments/${id}?x=1`])
    expect(paymentIdIn(typed)).toBe(id)
  for (const typed of ['', 'pay_', `${id}x`, 'https://pay.example/payments'])
    expect(paymentIdIn(typed)).toBeUndefined()
})
