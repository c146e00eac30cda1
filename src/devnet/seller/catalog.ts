import { readFileSync } from 'node:fs'
import { familyOf, findAsset, type Asset, type Network } from '#contract/network.ts'
import {
  EIP3009_METHOD,
  NATIVE_TRANSFER_METHOD,
  PERMIT2_METHOD,
  SIGNED_TRANSACTION_METHOD,
  TXID_METHOD,
} from '#x402/methods.ts'
import { USDC_DOMAIN_VERSION } from '../tokens/evm.ts'
import type { QuotedOption } from './quote.ts'
import type { Product } from './seller.ts'

const STYLE = `body{margin:0;background:#fbfaf7;color:#1c1f1d;font:1.0625rem/1.65 Georgia,'Times New Roman',serif}
main{max-width:38rem;margin:0 auto;padding:3rem 1.5rem 5rem}h1{font-size:2.25rem;line-height:1.15;letter-spacing:-.01em;margin:0 0 1.5rem}
h2{font-size:1.25rem;margin:2rem 0 .5rem}p{margin:0 0 1rem}code{font-size:.9em}
@media(prefers-color-scheme:dark){body{background:#161917;color:#e6e8e4}}`

/** Articles as one page. */
function readPage(names: readonly string[], title: string): string {
  const text = names
    .map((name) => readFileSync(new URL(`articles/${name}.html`, import.meta.url), 'utf8'))
    .join('<hr>\n')
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style></head>
<body><main>
${text}</main></body>
</html>
`
}

/** `feePayer`: who pays Solana for those who pay in tokens; undefined when nobody does. */
type Shop = {
  networks: readonly Network[]
  payTo: { evm: string; solana: string }
  feePayer: () => Promise<string | undefined>
}

const PAGES = [
  { name: 'settlement-without-banks', title: 'Settlement without banks', prices: { ETH: '0.01' } },
  { name: 'the-price-of-finality', title: 'The price of finality', prices: { SOL: '0.1' } },
  { name: 'reading-a-402', title: 'Reading a 402', prices: { USDC: '1' } },
] as const

const ISSUE = {
  title: 'The first issue',
  prices: { ETH: '0.025', WETH: '0.025', SOL: '0.25', USDC: '2.5' },
} as const

/** What the dashboard suggests to try. */
export const SHOWN = [
  ...PAGES.map(({ name, title, prices }) => ({
    name: title,
    path: `/articles/${name}`,
    description: `An article for ${formatPrice(prices)}.`,
  })),
  {
    name: ISSUE.title,
    path: '/issues/1',
    description: 'The three articles, for ETH, WETH, SOL or USDC.',
  },
  {
    name: 'A page that fails after it was paid',
    path: '/articles/the-price-of-finality?demo=error-after-payment',
    description: 'Returns 500 once. Try again with the same payment.',
  },
] as const

function formatPrice(prices: Readonly<Record<string, string>>): string {
  return Object.entries(prices)
    .map(([symbol, amount]) => `${amount} ${symbol}`)
    .join(' or ')
}

/** Three articles, each for another currency, and the issue that holds them all, for any of them. */
export function createCatalog(shop: Shop): Product[] {
  const articles = PAGES.map(({ name, title, prices }) => ({
    name,
    title,
    content: readPage([name], title),
    prices,
  }))
  const issue = {
    name: 'issue',
    ...ISSUE,
    content: readPage(
      PAGES.map(({ name }) => name),
      ISSUE.title,
    ),
  }
  return [
    ...articles.map((article): Product => toProduct(`/articles/${article.name}`, article, shop)),
    toProduct('/issues/1', issue, shop),
  ]
}

type Page = { title: string; content: string; prices: Readonly<Record<string, string>> }

function toProduct(
  path: Product['path'],
  { title, content, prices }: Page,
  { networks, payTo, feePayer }: Shop,
): Product {
  const offers = (feePayer: string | undefined) =>
    networks.flatMap((network) =>
      Object.entries(prices).flatMap(([symbol, amount]) => {
        const asset = findAsset(network, symbol)
        return asset
          ? methodsOf(network, asset, feePayer).map((method): QuotedOption => ({
              network: network.network,
              asset,
              amount,
              payTo: payTo[familyOf(network.network)],
              confirmations: network.confirmations,
              ...method,
            }))
          : []
      }),
    )
  return {
    path,
    title,
    mimeType: 'text/html; charset=utf-8',
    content,
    offers: async () => offers(await feePayer()),
  }
}

/** The best way first: payers take the first entry that they can pay. */
function methodsOf(
  network: Network,
  asset: Asset,
  feePayer: string | undefined,
): Pick<QuotedOption, 'method' | 'extra'>[] {
  const evm = familyOf(network.network) === 'evm'
  if (asset.native)
    return (
      evm ? [TXID_METHOD, SIGNED_TRANSACTION_METHOD] : [NATIVE_TRANSFER_METHOD, TXID_METHOD]
    ).map((method) => ({ method }))
  if (!evm) return feePayer === undefined ? [] : [{ method: undefined, extra: { feePayer } }]
  // The name and version are those of the token's signing domain.
  return asset.symbol === 'USDC'
    ? [{ method: EIP3009_METHOD, extra: { name: asset.name, version: USDC_DOMAIN_VERSION } }]
    : [{ method: PERMIT2_METHOD }]
}
