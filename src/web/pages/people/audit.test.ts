import { expect, test } from 'vitest'
import { createPaymentId } from '#contract/payment.ts'
import { partsOf } from './AuditCard.tsx'

test('each payment of an audit entry has its own link, and what is no whole id has none', () => {
  const ids = [createPaymentId(), createPaymentId()]
  const cut = createPaymentId().slice(0, 11)
  expect(partsOf([...ids, cut].join(','))).toEqual([
    ...ids.map((text) => ({ text, path: `/payments/${text}` })),
    { text: cut, path: undefined },
  ])
  const invoice = createPaymentId().replace('pay_', 'ivc_')
  expect(partsOf(invoice)).toEqual([{ text: invoice, path: `/invoices/${invoice}` }])
  for (const text of [`${ids[0]} operator`, `${invoice}1`, 'ivc_', 'pay_a/../..'])
    expect(partsOf(text)).toEqual([{ text, path: undefined }])
})
