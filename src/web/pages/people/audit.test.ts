import { expect, test } from 'vitest'
import { createId, createPaymentId } from '#contract/payment.ts'
import { i18n } from '../../locales/i18n.ts'
import { actionOf, partsOf } from './AuditCard.tsx'

test('each payment of an audit entry has its own link, and what is no whole id has none', () => {
  const ids = [createPaymentId(), createPaymentId()]
  const cut = createPaymentId().slice(0, 11)
  const partsOfNote = (subject: string) => partsOf({ action: 'noteWrite', subject })
  expect(partsOfNote([...ids, cut].join(','))).toEqual([
    ...ids.map((text) => ({ text, path: `/payments/${text}` })),
    { text: cut, path: undefined },
  ])
  expect(partsOf({ action: 'apiKeyCreate', subject: 'Tills, Backup owner' })).toEqual([
    { text: 'Tills, Backup owner', path: undefined },
  ])
  for (const text of [`${ids[0]} 1`, `${createId('ivc')}1`, 'ivc_', 'pay_a/../..'])
    expect(partsOfNote(text)).toEqual([{ text, path: undefined }])
})

test('an object of an audit entry leads to its page, and a role is apart from its wallet', () => {
  const [invoice, link, key] = [createId('ivc'), createId('lnk'), createId('key')]
  const pathOf = (action: string, subject: string) =>
    partsOf({ action, subject }).map(({ path }) => path)
  expect(pathOf('invoiceIssue', invoice)).toEqual([`/invoices/${invoice}`])
  expect(pathOf('linkWithdraw', link)).toEqual([`/links?link=${link}`])
  expect(pathOf('apiKeyDelete', key)).toEqual(['/developers'])
  const wallet = '0x52908400098527886E0F7030069857D2E4169EE7'
  expect(pathOf('profileWrite', wallet)).toEqual([`/customers/${wallet}`])
  expect(partsOf({ action: 'peopleChange', subject: `${wallet} viewer` })).toEqual([
    { text: wallet, path: undefined },
    { text: 'viewer', path: undefined },
  ])
})

test('the audit log calls nothing a payment or a refund that may be the other one', () => {
  const nameOf = (subject: string | null) => {
    const action = actionOf({ action: 'transactionSend', subject })
    return typeof action === 'string' ? action : i18n._(action)
  }
  expect(nameOf(createPaymentId())).toBe('Refund built')
  expect(nameOf('0x52908400098527886E0F7030069857D2E4169EE7')).toBe('Transaction built')
  expect(actionOf({ action: 'ofAnotherVersion', subject: null })).toBe('ofAnotherVersion')
})
