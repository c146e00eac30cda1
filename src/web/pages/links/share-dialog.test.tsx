import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, test, vi } from 'vitest'
import type { PublicConfig } from '#contract/dashboard-endpoints.ts'
import type { ShortLinkBody } from '#contract/link-endpoints.ts'
import { ConfigContext } from '../../api/use-config.ts'
import { ShareDialog } from './ShareDialog.tsx'

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

const link: ShortLinkBody = {
  link: '4fJq7Wm2Xr9K',
  state: 'open',
  paid: 0,
  pending: 0,
  surplus: [],
  refunded: null,
  createdAt: 1,
  withdrawnAt: null,
  short: {
    id: 'lnk_1',
    price: { kind: 'fiat', currency: 'EUR', amount: '12.50' },
    item: null,
    invoice: null,
    only: null,
    maxPieces: 1,
    askEmail: false,
    resource: null,
    description: null,
    reference: null,
    expiresAt: null,
    maxPayments: 1,
    returnUrl: null,
  },
}

afterEach(() => vi.unstubAllGlobals())

function shown(origin: string): string {
  vi.stubGlobal('window', { location: { origin } })
  return renderToStaticMarkup(
    <ConfigContext value={config}>
      <ShareDialog link={link} onClose={() => undefined} />
    </ConfigContext>,
  )
}

test('a code for the app of a wallet is offered only of a page with HTTPS', () => {
  expect(shown('https://shop.example')).toMatch(/MetaMask.*Phantom/)
  expect(shown('http://shop.example')).not.toMatch(/MetaMask|Phantom/)
})

test('the list of apps of the device comes before copying, where the browser has one', () => {
  vi.stubGlobal('navigator', { languages: ['en'], share: () => Promise.resolve() })
  expect(shown('https://shop.example')).toMatch(/>Share<\/button>.*Copy link/)
  vi.stubGlobal('navigator', { languages: ['en'] })
  expect(shown('https://shop.example')).not.toMatch(/>Share<\/button>/)
})
