import { generateCookie } from 'hono/cookie'
import { isCookieValue } from './random.ts'

/** `__Host-`: a browser takes them only with Secure, Path=/ and no Domain, so that no other host can plant one. localhost counts as secure. */
export const SESSION_COOKIE = '__Host-paydesk'
/** Names the browser between a challenge and its answer. */
export const BROWSER_COOKIE = '__Host-paydesk-browser'

/**
 * A cookie's value; undefined when it is not one of ours, or when the header has this name twice.
 * Hono's reader takes the first of two, decodes and unquotes values, and strips spaces from names.
 */
export function readCookie(header: string | undefined, name: string): string | undefined {
  if (!header) return undefined
  const values = header
    .split(';')
    .map((part) => part.replace(/^[ \t]+/, ''))
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1))
  return values.length === 1 && isCookieValue(values[0]) ? values[0] : undefined
}

export type CookieSite = 'same-site' | 'cross-site'

/**
 * Whether the web app and this proxy are one site to the browser. The browser says so itself; where it does not
 * (it omits Sec-Fetch-Site on plain http outside localhost), the same host name is the only safe yes.
 */
export function cookieSite(request: {
  origin: string | undefined
  secFetchSite: string | undefined
  host: string | undefined
}): CookieSite {
  if (request.secFetchSite === 'same-origin' || request.secFetchSite === 'same-site')
    return 'same-site'
  if (request.secFetchSite === 'cross-site' || !request.origin || !request.host) return 'cross-site'
  return new URL(request.origin).hostname === new URL(`http://${request.host}`).hostname
    ? 'same-site'
    : 'cross-site'
}

/** `Partitioned`: the cookie of a proxy on another site belongs to the one web app it was set under, and third-party cookie blocking leaves it alone. */
export function setCookie(
  cookie: { name: string; value: string; maxAgeSeconds: number },
  site: CookieSite,
): string {
  return generateCookie(cookie.name, cookie.value, {
    path: '/',
    maxAge: cookie.maxAgeSeconds,
    httpOnly: true,
    secure: true,
    sameSite: site === 'same-site' ? 'Strict' : 'None',
    partitioned: site === 'cross-site',
  })
}

export function clearCookie(name: string, site: CookieSite): string {
  return setCookie({ name, value: '', maxAgeSeconds: 0 }, site)
}
