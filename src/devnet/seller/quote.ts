import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { parseAmount } from '#contract/amount.ts'
import { familyOf, type Asset, type NetworkId } from '#contract/network.ts'
import { EXACT_SCHEME, UPFRONT_FLOW } from '#x402/methods.ts'
import type { Requirements, ResourceInfo } from '#x402/requirements.ts'

/** One way to pay for a product. */
export type QuotedOption = {
  network: NetworkId
  asset: Asset
  /** `extra.assetTransferMethod`; undefined for the scheme's default. */
  method: string | undefined
  /** In units of the asset, decimal. */
  amount: string
  payTo: string
  /** Blocks the seller waits for. */
  confirmations: number
  /** What else the method needs: the name and version of a token's signing domain, a fee payer. */
  extra?: Record<string, unknown>
}

/** How long a visitor may take to pay, in seconds. */
const OFFERED_S = 15 * 60
/** A payment must land within this time, in seconds. */
const LANDS_WITHIN_S = 300

/**
 * The seller's memory: an offer goes out with a code over it and comes back with the payment, so
 * nothing is stored in between, and a restart loses nothing.
 */
export class Quotes {
  readonly #secret: string

  constructor(secret: string) {
    this.#secret = secret
  }

  /**
   * The requirements of one visit. Each visit has a unique resource and memo: a payment binds to
   * this visit only, and the memo on the chain does not reveal the resource.
   */
  write(
    offers: readonly QuotedOption[],
    request: { url: URL; now: number },
  ): { url: string; accepts: Requirements[] } {
    const url = new URL(request.url)
    const nonce = randomBytes(16).toString('base64url')
    url.searchParams.set(ORDER, `${nonce}.${this.#code(['order', request.url.href, nonce])}`)
    const memo = this.#createMemo(url.pathname)
    const notBefore = Math.floor(request.now / 1000)
    return {
      url: url.href,
      accepts: offers.map((option) =>
        this.#sign(url.href, requirementsOf(option, { memo, notBefore })),
      ),
    }
  }

  /** Whether these terms were offered for this resource, regardless of today's price. */
  holds({ url }: Pick<ResourceInfo, 'url'>, requirements: Requirements): boolean {
    const { quote } = requirements.extra
    return typeof quote === 'string' && same(quote, this.#code(terms(url, requirements)))
  }

  /** Whether this resource belongs to a visit to the page, issued here before. */
  holdsOrder(url: URL, resource: string): boolean {
    const [nonce = '', code = ''] = (URL.parse(resource)?.searchParams.get(ORDER) ?? '').split('.')
    return same(code, this.#code(['order', url.href, nonce]))
  }

  /** Whether a memo was issued for the resource at this path. */
  holdsMemo(path: string, memo: string): boolean {
    const [nonce = '', code = ''] = memo.split('.')
    return same(code, this.#code(['memo', path, nonce]))
  }

  #createMemo(path: string): string {
    const nonce = randomBytes(12).toString('base64url')
    return `${nonce}.${this.#code(['memo', path, nonce])}`
  }

  #sign(url: string, requirements: Requirements): Requirements {
    return {
      ...requirements,
      extra: { ...requirements.extra, quote: this.#code(terms(url, requirements)) },
    }
  }

  #code(parts: readonly unknown[]): string {
    return createHmac('sha256', this.#secret)
      .update(JSON.stringify(parts))
      .digest('base64url')
      .slice(0, 22)
  }
}

/** The query parameter that makes the resource of each visit unique. */
export const ORDER = 'order'

function requirementsOf(
  { network, asset, method, amount, payTo, confirmations, extra }: QuotedOption,
  request: { memo: string; notBefore: number },
): Requirements {
  const parsed = parseAmount(amount, asset.decimals)
  if (!parsed.ok) throw new Error(`The price ${amount} is no amount of ${asset.symbol}.`)
  const { memo, notBefore } = request
  return {
    scheme: EXACT_SCHEME,
    network,
    amount: parsed.atomic.toString(),
    asset: asset.address,
    payTo,
    maxTimeoutSeconds: LANDS_WITHIN_S,
    extra: {
      ...(method !== undefined && { assetTransferMethod: method }),
      ...(asset.native && { paymentFlow: UPFRONT_FLOW, confirmations }),
      ...(familyOf(network) === 'solana' && { memo }),
      symbol: asset.symbol,
      decimals: asset.decimals,
      notBefore,
      expiresAt: notBefore + OFFERED_S,
      ...extra,
    },
  }
}

function terms(
  url: string,
  { scheme, network, amount, asset, payTo, extra }: Requirements,
): unknown[] {
  const { assetTransferMethod, memo, notBefore, expiresAt } = extra
  return [
    url,
    scheme,
    network,
    amount,
    asset,
    payTo,
    assetTransferMethod ?? null,
    memo ?? null,
    notBefore,
    expiresAt,
  ]
}

function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
