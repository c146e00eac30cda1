import { TOKEN_PROGRAMS } from '#chains/solana/programs.ts'
import { associatedTokenAccount } from '#chains/solana/token-account.ts'
import { SOLANA_NATIVE } from '#contract/address.ts'
import { familyOf } from '#contract/network.ts'
import type { ObservedTransfer } from '../chains/chain.ts'
import type { PaymentRecord } from '../db/payments.ts'

/**
 * Whether a transfer on the chain is this payment: the parties, the asset, the exact amount; on Solana the memo that names it, and on EVM, which has
 * none, a block after the one it was built on, so that no older transfer pays for it.
 * @param height of the transfer's block; null while it is in the pool
 */
export function matchesPayment(
  payment: PaymentRecord,
  transfer: ObservedTransfer | null | undefined,
  height: number | null,
): transfer is ObservedTransfer {
  if (!transfer) return false
  const same =
    transfer.sender === payment.sender &&
    (transfer.recipient === payment.recipient || isAccountOf(payment, transfer)) &&
    transfer.asset === payment.asset &&
    transfer.amountAtomic === payment.amount
  if (!same) return false
  // A proof that was handed in has bound this very transaction to the payment.
  if (payment.mode === 'received') return true
  if (familyOf(payment.network) === 'solana') return transfer.memo === payment.id
  // What the service signed has the nonce of its place in the nonce queue.
  if (payment.mode === 'hosted' && transfer.nonce !== payment.nonce) return false
  return height === null || (payment.builtHeight !== null && height > payment.builtHeight)
}

/** A token's transfer whose recipient the chain does not name, because it failed, stands there with the account it was meant for. */
function isAccountOf(
  { network, recipient, asset }: PaymentRecord,
  transfer: ObservedTransfer,
): boolean {
  if (familyOf(network) !== 'solana' || asset === SOLANA_NATIVE) return false
  return TOKEN_PROGRAMS.some(
    (program) =>
      associatedTokenAccount({ owner: recipient, mint: asset, program }).address ===
      transfer.recipient,
  )
}
