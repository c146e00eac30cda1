import { QueryClientProvider } from '@tanstack/react-query'
import { renderToStaticMarkup } from 'react-dom/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { notesQuery } from '../../api/notes.ts'
import { queryClient } from '../../api/query-client.ts'
import { NoteCard } from './NoteCard.tsx'

/** The page of a payment is printed as a receipt, which its payer gets. */

const paymentId = 'pay_1'

beforeAll(() => {
  const expiresAt = Date.now() + 60_000
  queryClient.setQueryData(['session'], {
    wallets: ['a'],
    role: 'owner',
    expiresAt,
  })
  const note = {
    paymentId,
    labels: ['late again'],
    note: 'Pays late.',
    reconciledAt: null,
    email: null,
    updatedAt: 1,
  }
  queryClient.setQueryData(notesQuery([paymentId]).queryKey, new Map([[paymentId, note]]))
})
afterAll(() => queryClient.clear())

test('what people of the account wrote beside a payment is on no receipt', () => {
  const notes = renderToStaticMarkup(
    <QueryClientProvider client={queryClient}>
      <NoteCard paymentId={paymentId} />
    </QueryClientProvider>,
  )
  expect(notes).toMatch(/^<section [^>]*class="[^"]*\bno-print\b[^"]*"/)
  expect(notes).toContain('Pays late.')
})
