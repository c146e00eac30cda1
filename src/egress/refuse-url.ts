import { isIP } from 'node:net'
import { isPublicAddress } from './public-address.ts'

/** Why a URL is never asked; undefined when it may be. `loopback`: `http://127.0.0.1` is allowed beside, and nothing else. */
export function refuseUrl(url: URL, loopback: boolean): string | undefined {
  if (
    loopback &&
    url.protocol === 'http:' &&
    url.hostname === '127.0.0.1' &&
    !url.username &&
    !url.password
  )
    return undefined
  if (url.protocol !== 'https:') return 'Expected https.'
  if (url.port !== '') return 'Expected the port 443.'
  if (url.username || url.password) return 'Expected no user name.'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isPublicAddress(host)) return 'Expected a public address.'
  return undefined
}
