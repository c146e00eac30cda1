import type { CheckedTransaction, WalletPaymentIntent } from '../../payment-intent/intent.ts'
import type { WalletResponse } from '../../payment-intent/ports.ts'
import { describeUnsigned } from '../../errors/error-messages.ts'
import { signalOf } from '../state/errors.ts'
import type { SolanaSigner } from './standard.ts'

/** Has the wallet sign a payment. Signing sends nothing: after any error, no byte has left. */
export async function signWithWallet(
  signer: SolanaSigner,
  order: WalletPaymentIntent,
  built: CheckedTransaction,
): Promise<WalletResponse> {
  try {
    return {
      kind: 'signed',
      bytes: await signer.signTransaction(order.sender, order.network, built.bytes),
    }
  } catch (error) {
    return { kind: 'refused', userError: describeUnsigned(signalOf(error), order.walletName) }
  }
}
