import { SIGNED_TRANSACTION_METHOD, TXID_METHOD } from '../methods.ts'
import { toV1 } from '../requirements.ts'
import { offerProofTypedData, proofTypedData } from '../txid.ts'
import { ExactClient, type TokenScheme } from './exact-client.ts'
import { ClientPaymentError, type ClientPayment } from './order.ts'

type Hex = `0x${string}`
export type SignableTypedData = {
  domain: Record<string, unknown>
  types: Record<string, unknown>
  primaryType: string
  message: Record<string, unknown>
}

/** The holder of the payer's key: a browser wallet, a managed wallet, an agent. */
export type EvmPayer = {
  /** EIP-55. */
  readonly address: Hex
  signTypedData: (data: SignableTypedData) => Promise<Hex>
  /**
   * Pays native currency and resolves with the transaction's hash in the pool or on the chain:
   * after a replacement, the new one.
   * Called once for each payment; a caller that retries checks its own record before it sends
   * again.
   */
  sendPayment: (order: ClientPayment) => Promise<Hex>
  /** Signs the payment without sending it; browser wallets refuse that. */
  signPayment?: (order: ClientPayment) => Promise<Hex>
}

/**
 * The scheme `exact` on EVM: ETH by `txid` or `signed-transaction`, tokens by EIP-3009 or Permit2.
 */
export function createEvmClient(payer: EvmPayer): ExactClient {
  return new ExactClient({
    payNative: (version, order) => payNative(payer, version, order),
    loadTokens: () => loadTokens(payer),
  })
}

async function payNative(
  payer: EvmPayer,
  version: number,
  order: ClientPayment,
): Promise<Record<string, unknown>> {
  const method = order.method ?? TXID_METHOD
  if (method === SIGNED_TRANSACTION_METHOD) {
    if (!payer.signPayment)
      throw new ClientPaymentError('This wallet signs no transaction that others broadcast.')
    return { signedTransaction: await payer.signPayment(order) }
  }
  if (method !== TXID_METHOD)
    throw new ClientPaymentError(
      `The seller asks for the method ${method}, which moves no native currency here.`,
    )
  const txRef = (await payer.sendPayment(order)).toLowerCase()
  return {
    type: 'payment-proof',
    alg: 'ES256K',
    format: 'eip712',
    txRef,
    from: payer.address,
    ...(await proofOf(payer, version, { order, txRef })),
  }
}

async function proofOf(
  payer: EvmPayer,
  version: number,
  { order, txRef }: { order: ClientPayment; txRef: string },
) {
  const { network, networkName, asset, payTo, amountAtomic, maxTimeoutSeconds, resource, extra } =
    order
  const terms = {
    network,
    from: payer.address,
    payTo,
    asset,
    amountAtomic,
    maxTimeoutSeconds,
    resource,
  }
  if (version !== 1) return { signature: await payer.signTypedData(proofTypedData(terms, txRef)) }
  const requirements = {
    scheme: 'exact',
    network: networkName,
    amount: amountAtomic.toString(),
    asset,
    payTo,
    maxTimeoutSeconds,
    extra: { ...extra },
  }
  return {
    signature: await payer.signTypedData(offerProofTypedData({ ...terms, networkName }, txRef)),
    offer: toV1(requirements, resource),
  }
}

/** Heavy, and only needed for tokens. */
async function loadTokens({ address, signTypedData }: EvmPayer): Promise<TokenScheme> {
  const { ExactEvmScheme } = await import('@x402/evm/exact/client')
  return new ExactEvmScheme({ address, signTypedData })
}
