/**
 * The headers a host sends with the dashboard's files. The recipes in deploy/ spell them in each host's own way, and a test compares every one
 * of them with this table.
 */

/**
 * What the page may load and reach: itself, and the addresses named. No inline code, no eval, no `unsafe-*`; text never becomes code or markup.
 * @param connect origins that are asked: the proxy, the nodes, and sites that are paid straight from the page
 */
export function contentSecurityPolicy(connect: readonly string[]): string {
  const directives = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "manifest-src 'self'",
    ["connect-src 'self'", ...connect].join(' '),
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]
  return directives.join('; ')
}

/**
 * With every answer but those of `PATH_HEADERS`. HSTS is for hosts that answer over TLS only.
 */
export function siteHeaders(connect: readonly string[]): Readonly<Record<string, string>> {
  return {
    'Content-Security-Policy': contentSecurityPolicy(connect),
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'strict-origin-when-cross-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Strict-Transport-Security': 'max-age=63072000; includeSubDomains',
  }
}

/**
 * What another value has below a path. A payment page keeps the window that opened it, to tell a shop's page that the payment is complete;
 * any site may load the pay button.
 */
export const PATH_HEADERS = [
  { path: '/pay/*', name: 'Cross-Origin-Opener-Policy', value: 'unsafe-none' },
  { path: '/button.js', name: 'Cross-Origin-Resource-Policy', value: 'cross-origin' },
] as const

/** The headers of one address; `pathname` is below the folder of the app. */
export function siteHeadersOf(
  pathname: string,
  connect: readonly string[],
): Readonly<Record<string, string>> {
  const own = PATH_HEADERS.filter(({ path }) =>
    path.endsWith('*') ? pathname.startsWith(path.slice(0, -1)) : pathname === path,
  )
  return {
    ...siteHeaders(connect),
    ...Object.fromEntries(own.map(({ name, value }) => [name, value])),
  }
}

/** `Cache-Control`: a file under assets/ changes its name with its content; everything else is asked for again. */
export const CACHE = { assets: 'public, max-age=31536000, immutable', others: 'no-cache' } as const
