import type { TransactionModifyingSigner } from '@solana/kit'
import { encodeBase64 } from '../header.ts'
import { NATIVE_TRANSFER_METHOD, TXID_METHOD } from '../methods.ts'
import { ExactClient, type TokenScheme } from './exact-client.ts'
import { ClientPaymentError, type ClientPayment } from './order.ts'

/**
 * The holder of the payer's key: a browser wallet, a managed wallet, an agent. Transactions are
 * bytes in the wire format.
 */
export type SolanaPayer = {
  /** Base58. */
  readonly address: string
  /** The RPC endpoint where tokens read their mint and a blockhash. */
  readonly rpcUrl: string
  /**
   * Builds the transfer of an order and has it signed; the signature of `order.feePayer` stays
   * empty where that is another account.
   */
  signPayment: (order: ClientPayment) => Promise<Uint8Array>
  /** Adds the payer's signature. Wallets may add guards before they sign. */
  signTransaction: (transaction: Uint8Array) => Promise<Uint8Array>
  /**
   * Pays and resolves with the first signature, base58, for sellers that accept payments already
   * sent. Called once for each payment.
   */
  sendPayment?: (order: ClientPayment) => Promise<string>
}

/**
 * The scheme `exact` on Solana: SOL by `native-transfer` or `txid`, tokens by the transfer of the
 * token programs.
 */
export function createSolanaClient(payer: SolanaPayer): ExactClient {
  return new ExactClient({
    payNative: (_version, order) => payNative(payer, order),
    loadTokens: () => loadTokens(payer),
  })
}

async function payNative(
  payer: SolanaPayer,
  order: ClientPayment,
): Promise<Record<string, unknown>> {
  const method = order.method ?? NATIVE_TRANSFER_METHOD
  if (order.memo === null)
    throw new ClientPaymentError(
      'The seller names no memo: nothing would bind the transfer to what is paid for.',
    )
  if (method === NATIVE_TRANSFER_METHOD)
    return { transaction: encodeBase64(await payer.signPayment(order)) }
  if (method !== TXID_METHOD || !payer.sendPayment)
    throw new ClientPaymentError(
      `The seller asks for the method ${method}, which moves no native currency here.`,
    )
  return {
    type: 'payment-proof',
    alg: 'Ed25519',
    format: 'solana-memo',
    txRef: await payer.sendPayment(order),
    from: payer.address,
  }
}

/** Heavy, and only needed for tokens. */
async function loadTokens(payer: SolanaPayer): Promise<TokenScheme> {
  const { ExactSvmScheme } = await import('@x402/svm/exact/client')
  return new ExactSvmScheme(await toKitSigner(payer), { rpcUrl: payer.rpcUrl })
}

type SignWith = TransactionModifyingSigner['modifyAndSignTransactions']
type Signed = Awaited<ReturnType<SignWith>>[number]

/** A signer that may change what it signs, as wallets do. */
async function toKitSigner({
  address,
  signTransaction,
}: SolanaPayer): Promise<TransactionModifyingSigner> {
  const kit = await import('@solana/kit')
  const sign = async (transaction: Parameters<SignWith>[0][number]): Promise<Signed> => {
    const bytes = await signTransaction(
      Uint8Array.from(kit.getTransactionEncoder().encode(transaction)),
    )
    // The network checks its lifetime and its size: nothing is sent from here.
    return { ...transaction, ...kit.getTransactionDecoder().decode(bytes) } as Signed
  }
  return {
    address: kit.address(address),
    modifyAndSignTransactions: (transactions) => Promise.all(transactions.map(sign)),
  }
}
