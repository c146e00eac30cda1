import type { Network } from '#contract/network.ts'

/** `shops`: origins that a person pays by x402 straight from the page; others go through the proxy. */
type Reached = { proxyUrl: string; shops: readonly string[]; networks: readonly Network[] }

/** What the page asks beside its own host: its proxy, the shop of this devnet, and the nodes it checks the chains with. */
export function connectOrigins({ proxyUrl, shops, networks }: Reached): string[] {
  const urls = networks.flatMap(({ rpcUrls, wsUrl }) => [
    ...rpcUrls,
    ...rpcUrls.map((url) => url.replace(/^http/, 'ws')),
    ...(wsUrl ? [wsUrl] : []),
  ])
  return [...new Set([proxyUrl, ...shops, ...urls.map((url) => new URL(url).origin)])]
}
