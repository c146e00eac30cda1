import type { Built, PaymentOrder } from '../../payment/order.ts'
import type { WalletAnswer } from '../../payment/ports.ts'
import { describeSignal, isNothingSent, signalOf } from '../errors.ts'
import type { SolanaSigner } from './standard.ts'

/** Has the wallet sign a payment. Signing sends nothing: whatever goes wrong, no byte has left. */
export async function signWithWallet(signer: SolanaSigner, order: PaymentOrder, built: Built): Promise<WalletAnswer> {
  try {
    return { kind: 'signed', bytes: await signer.signTransaction(order.sender, order.network, built.bytes) }
  } catch (error) {
    const signal = signalOf(error)
    const { code, title, body } = describeSignal(signal, order.walletName)
    return { kind: 'refused', trouble: { code, title, body: isNothingSent(signal) ? body : 'Nothing was sent. You can sign again.' } }
  }
}
