import type {
  AssetAmount,
  Network as NetworkName,
  PaymentFlowConfig,
  PaymentRequirements,
  Price,
  SchemeNetworkServer,
  SchemePaymentRequiredContext,
  SchemeServerHooks,
  SettleContext,
  VerifyContext,
} from '@x402/core/types'
import { parseAmount } from '#contract/amount.ts'
import { familyOf, findAsset, nativeAsset, type NetworkAssets } from '#contract/network.ts'
import {
  AUTHORIZATION_FLOW,
  EXACT_SCHEME,
  methodsOf,
  NATIVE_TRANSFER_METHOD,
  SIGNED_TRANSACTION_METHOD,
  TXID_METHOD,
  UPFRONT_FLOW,
} from '../methods.ts'

const UPFRONT: PaymentFlowConfig = { supported: [UPFRONT_FLOW], default: UPFRONT_FLOW }
/**
 * Settled before the resource is served unless the seller asks otherwise: verifying first serves a
 * copy to every concurrent request.
 */
const EITHER: PaymentFlowConfig = {
  supported: [AUTHORIZATION_FLOW, UPFRONT_FLOW],
  default: UPFRONT_FLOW,
}

/**
 * The scheme `exact` of one network for `x402ResourceServer`: native currency and the network's
 * configured tokens. Where the core of the packages does not, it checks a payment against the
 * resource that the route announces: a payment for one resource buys no other.
 */
export class ExactServer implements SchemeNetworkServer {
  readonly scheme = EXACT_SCHEME
  readonly defaultAssetTransferMethod: string
  readonly paymentFlows: Readonly<Record<string, PaymentFlowConfig>>
  readonly schemeHooks: SchemeServerHooks = {
    onBeforeVerify: async (context) => this.#checkResource(context),
    onBeforeSettle: async (context) => this.#checkResource(context),
  }
  readonly dynamicExtraFields = ['recentBlockhash', 'lastValidBlockHeight', 'confirmations']
  readonly #network: NetworkAssets
  /** What the core announced to each request: the route's `resource`, or else the requested URL. */
  readonly #announced = new WeakMap<object, string>()

  constructor(network: NetworkAssets) {
    this.#network = network
    this.defaultAssetTransferMethod = methodsOf(network.network, { native: false })[0]
    const natives = [TXID_METHOD, SIGNED_TRANSACTION_METHOD, NATIVE_TRANSFER_METHOD].map(
      (method) => [method, UPFRONT] as const,
    )
    this.paymentFlows = Object.fromEntries([
      ...natives,
      ...methodsOf(network.network, { native: false }).map((method) => [method, EITHER] as const),
    ])
  }

  getAssetDecimals(asset: string): number | undefined {
    return findAsset(this.#network, asset)?.decimals
  }

  /**
   * An amount in atomic units and an asset; or a number of the native currency. Prices in dollars
   * are refused: there is no exchange rate here.
   */
  async parsePrice(price: Price): Promise<AssetAmount> {
    if (typeof price === 'object') {
      const asset = findAsset(this.#network, price.asset)
      if (!asset) throw new Error(`${price.asset} is no asset of ${this.#network.network}.`)
      return { amount: price.amount, asset: asset.address, extra: price.extra ?? {} }
    }
    const native = nativeAsset(this.#network)
    const amount = parseAmount(String(price), native.decimals)
    if (!amount.ok) throw new Error(`${String(price)} is no amount of ${native.symbol}.`)
    return { amount: amount.atomic.toString(), asset: native.address, extra: {} }
  }

  /**
   * Names the method, and as the facilitator says, on Solana the account that pays the network fee,
   * and on EVM how many blocks must hold what the payer broadcasts.
   */
  async enhancePaymentRequirements(
    requirements: PaymentRequirements,
    supportedKind: { network: NetworkName; extra?: Record<string, unknown> },
  ): Promise<PaymentRequirements> {
    const asset = findAsset(this.#network, requirements.asset)
    if (!asset) throw new Error(`${requirements.asset} is no asset of ${this.#network.network}.`)
    const [method] = methodsOf(this.#network.network, asset)
    const onEvm = familyOf(this.#network.network) === 'evm'
    const feePayer = asset.native || onEvm ? undefined : supportedKind.extra?.feePayer
    const confirmations = asset.native && onEvm ? supportedKind.extra?.confirmations : undefined
    const { decimals, symbol } = asset
    const named = asset.native ? { assetTransferMethod: method, decimals, symbol } : {}
    return {
      ...requirements,
      extra: {
        ...named,
        ...(feePayer !== undefined && { feePayer }),
        ...(confirmations !== undefined && { confirmations }),
        ...requirements.extra,
      },
    }
  }

  /** The core calls it for each request, before it verifies what the request presents. */
  async enrichPaymentRequiredResponse({
    resourceInfo,
    transportContext,
  }: SchemePaymentRequiredContext): Promise<void> {
    const adapter = adapterOf(transportContext)
    if (adapter) this.#announced.set(adapter, resourceInfo.url)
  }

  /**
   * The core compares a payment's terms with the request, but not what they are for. It must not
   * throw: the core takes that for consent.
   */
  #checkResource({
    paymentPayload,
    transportContext,
  }: VerifyContext | SettleContext): { abort: true; reason: string } | undefined {
    const adapter = adapterOf(transportContext)
    const announcedUrl = adapter && (this.#announced.get(adapter) ?? requestedUrl(adapter))
    return announcedUrl !== undefined && paymentPayload.resource?.url === announcedUrl
      ? undefined
      : { abort: true, reason: 'resource_mismatch' }
  }
}

/** The request, as the framework's middleware hands it to the core: one object for each. */
function adapterOf(context: unknown): object | undefined {
  const request = field(context, 'request')
  const adapter = field(request, 'adapter')
  return typeof adapter === 'object' && adapter !== null ? adapter : undefined
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function requestedUrl(adapter: object): string | undefined {
  try {
    return (adapter as { getUrl: () => string }).getUrl()
  } catch {
    return undefined
  }
}
