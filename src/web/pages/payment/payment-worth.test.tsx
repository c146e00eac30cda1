import { QueryClientProvider } from '@tanstack/react-query'
import { renderToStaticMarkup } from 'react-dom/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PublicConfig } from '#contract/dashboard-endpoints.ts'
import type { PaymentStatus } from '#contract/payment.ts'
import { queryClient } from '../../api/query-client.ts'
import { ConfigContext } from '../../api/use-config.ts'
import { ratesQuery } from '../../payment-flow/Worth.tsx'
import { PaymentWorth } from './PaymentWorth.tsx'

const config: PublicConfig = {
  title: 'Shop',
  logo: null,
  accentColor: null,
  serviceUrl: null,
  networks: [],
  sellerWallets: [],
  relay: 'off',
  examples: [],
  walletConnect: null,
  currencies: ['EUR'],
  timeZone: 'UTC',
  now: 1,
}
const quote = {
  currency: 'EUR',
  amount: '12.50',
  rate: '1250',
  source: 'a source',
  round: null,
  observedAt: 1,
  quotedAt: 1,
  expiresAt: 2,
}

beforeAll(() =>
  queryClient.setQueryData(ratesQuery.queryKey, { currency: 'EUR', rates: { ETH: '3000' } }),
)
afterAll(() => queryClient.clear())

function draw(
  metadata: Record<string, unknown> | null,
  symbol = 'ETH',
  status: PaymentStatus = 'finalized',
): string {
  const payment = { status, amountAtomic: '10000000000000000', decimals: 18, symbol, metadata }
  return renderToStaticMarkup(
    <QueryClientProvider client={queryClient}>
      <ConfigContext value={config}>
        <PaymentWorth payment={payment} />
      </ConfigContext>
    </QueryClientProvider>,
  )
}

test('a payment with a quote shows its price of that time, whatever its amount is worth today', () => {
  expect(draw({ quote })).toContain('€12.50')
  expect(draw({ quote })).not.toContain('no-print')
})

test('without a quote, today’s worth says that it is today’s, and is on no receipt', () => {
  expect(draw(null)).toMatch(/class="[^"]*\bno-print\b[^"]*"[^>]*>about €30\.00 today</)
  expect(draw(null, 'SOL')).toBe('')
  expect(draw(null, 'ETH', 'failed')).toBe('')
})
