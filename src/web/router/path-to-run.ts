import { pathTo, type SearchOf } from './paths.ts'

/** What the page of a payment is found by. */
type Order = {
  id: string
  network: string
  asset: { address: string }
  refundOf?: string | undefined
  link?: { text: string; choice?: { pieces: number } }
}

/** The page of a payment that was begun in this browser. A link's payment stays with its link: paying it another way pays the same link. */
export function pathToRun(order: Order): string {
  const { id: payment, refundOf, link, network, asset } = order
  if (refundOf !== undefined)
    return pathTo('refund', { params: { paymentId: refundOf }, search: { payment } })
  if (!link) return pathTo('checkout', { search: { payment } })
  const choice = link.choice && choiceOf({ network, asset: asset.address }, link.choice.pieces)
  return pathTo('payLink', { params: { link: link.text }, search: { payment, ...choice } })
}

/** Of a short link: the currency and the quantity, as its page's address names them. */
export function choiceOf(
  { network, asset }: { network: string; asset: string },
  pieces: number,
): SearchOf<'payLink'> {
  return { network, asset, pieces: pieces > 1 ? String(pieces) : undefined }
}
