import { QueryClientProvider } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PublicConfig } from '#contract/dashboard-endpoints.ts'
import type { Network } from '#contract/network.ts'
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

type Payment = ComponentProps<typeof PaymentWorth>['payment']

function draw(
  metadata: Record<string, unknown> | null,
  changes: Partial<Payment> = {},
  networks: PublicConfig['networks'] = [],
): string {
  const payment: Payment = {
    status: 'finalized',
    draft: false,
    network: 'eip155:1',
    refundOf: null,
    amountAtomic: '10000000000000000',
    decimals: 18,
    symbol: 'ETH',
    metadata,
    ...changes,
  }
  return renderToStaticMarkup(
    <QueryClientProvider client={queryClient}>
      <ConfigContext value={{ ...config, networks }}>
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
  expect(draw(null, { symbol: 'SOL' })).toBe('')
})

test.each([
  ['failed', { status: 'failed' }],
  ['was dropped by a reorganization', { status: 'rolled_back' }],
  ['nobody has proven to be of its payer', { draft: true }],
] as const)('a payment that %s is worth nothing, at no price', (_, changes) => {
  expect(draw(null, changes)).toBe('')
  expect(draw({ quote }, changes)).toBe('')
})

test('the coins of a test network are worth nothing beside a main one, and a refund has the worth of no day', () => {
  const networks = ['eip155:1', 'eip155:2'].map(
    (network) => ({ network, testnet: network === 'eip155:1', assets: [] }) as unknown as Network,
  )
  expect(draw(null, {}, networks)).toBe('')
  expect(draw(null, { network: 'eip155:2' }, networks)).toContain('€30.00')
  expect(draw(null, {}, networks.slice(0, 1))).toContain('€30.00')
  expect(draw(null, { refundOf: 'pay_1' })).toBe('')
})
