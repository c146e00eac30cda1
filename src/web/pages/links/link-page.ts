import { hrefOf } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'

/** Where a buyer opens a link, as a whole address. */
export function pageOfLink(link: string): URL {
  return new URL(hrefOf(pathTo('payLink', { params: { link } })), window.location.origin)
}
