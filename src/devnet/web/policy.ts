import type { Network } from '#contract/network.ts'

/** `shops`: origins that a person pays by x402 straight from the page; others go through the proxy. */
type Reached = { proxyUrl: string; shops: readonly string[]; networks: readonly Network[] }

/** What the page may load and reach: itself, its proxy, and the shop of this devnet, and the nodes it checks the chains with. No inline code, no eval, no `unsafe-*`. */
export function contentSecurityPolicy({ proxyUrl, shops, networks }: Reached): string {
  const urls = networks.flatMap(({ rpcUrls, wsUrl }) => [...rpcUrls, ...rpcUrls.map((url) => url.replace(/^http/, 'ws')), ...(wsUrl ? [wsUrl] : [])])
  const nodes = new Set(urls.map((url) => new URL(url).origin))
  const directives = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "manifest-src 'self'",
    `connect-src 'self' ${[proxyUrl, ...shops, ...nodes].join(' ')}`,
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]
  return directives.join('; ')
}
