import type {
  PaymentPayloadContext,
  PaymentPayloadResult,
  PaymentRequirements,
  SchemeClientHooks,
  SchemeNetworkClient,
} from '@x402/core/types'
import { EXACT_SCHEME } from '../methods.ts'
import type { ResourceInfo } from '../requirements.ts'
import { readOrder, type ClientPayment } from './order.ts'

/** Pays tokens: a class of the official packages. */
export type TokenScheme = Pick<SchemeNetworkClient, 'createPaymentPayload'>

export type ExactPayer = {
  /** Pays native currency: sends or signs, and returns the payload that proves it. */
  payNative: (version: number, order: ClientPayment) => Promise<Record<string, unknown>>
  /** Loaded when a token is paid first. */
  loadTokens: () => Promise<TokenScheme>
}

/**
 * The scheme `exact` of one network for `x402Client`: native currency by the methods of this project, tokens by the official class. Version 1 and 2.
 * It names no default asset, so the client's spend controls refuse everything that its owner has not allowed.
 */
export class ExactClient implements SchemeNetworkClient {
  readonly scheme = EXACT_SCHEME
  readonly schemeHooks: SchemeClientHooks
  readonly #payer: ExactPayer
  /** What each challenge is for, until it is paid: the core hands a scheme the requirements without it. */
  readonly #resources = new WeakMap<object, ResourceInfo>()

  constructor(payer: ExactPayer) {
    this.#payer = payer
    this.schemeHooks = {
      onBeforePaymentCreation: async ({ paymentRequired, selectedRequirements }) =>
        void this.#resources.set(selectedRequirements, paymentRequired.resource),
    }
  }

  async createPaymentPayload(
    version: number,
    requirements: PaymentRequirements,
    context?: PaymentPayloadContext,
  ): Promise<PaymentPayloadResult> {
    const order = readOrder(version, requirements, this.#resources.get(requirements))
    const paid = order.native
      ? { payload: await this.#payer.payNative(version, order) }
      : await (await this.#payer.loadTokens()).createPaymentPayload(2, encodeV2(order), context)
    // The core takes what a scheme of version 1 returns as the whole payment.
    const whole = {
      x402Version: 1,
      scheme: EXACT_SCHEME,
      network: requirements.network,
      payload: paid.payload,
    }
    return version === 1 ? whole : { ...paid, x402Version: version }
  }
}

/** A token's payload is the same in both versions; the official classes of version 1 know a few networks only. */
function encodeV2({
  network,
  asset,
  payTo,
  amountAtomic,
  maxTimeoutSeconds,
  extra,
}: ClientPayment): PaymentRequirements {
  const caip2 = network as PaymentRequirements['network']
  return {
    scheme: EXACT_SCHEME,
    network: caip2,
    asset,
    payTo,
    amount: amountAtomic.toString(),
    maxTimeoutSeconds,
    extra: { ...extra },
  }
}
