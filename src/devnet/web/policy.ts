import type { Network } from '#contract/network.ts'

/** What the page may load and reach: itself, its proxy, and the nodes it checks the chains with. No inline code, no eval, no `unsafe-*`. */
export function contentSecurityPolicy({ proxyUrl, networks }: { proxyUrl: string; networks: readonly Network[] }): string {
  const urls = networks.flatMap(({ rpcUrls, wsUrl }) => [...rpcUrls, ...rpcUrls.map((url) => url.replace(/^http/, 'ws')), ...(wsUrl ? [wsUrl] : [])])
  const nodes = new Set(urls.map((url) => new URL(url).origin))
  const directives = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "manifest-src 'self'",
    `connect-src 'self' ${[proxyUrl, ...nodes].join(' ')}`,
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]
  return directives.join('; ')
}
