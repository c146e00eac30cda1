import { TransactionNotFoundError, type Hash, type PublicClient } from 'viem'
import { decodeTransaction } from '#chains/evm/decode.ts'
import type { BroadcastReading } from '../state/wallet-adapter.ts'

/**
 * Nonce and fees of a transaction as the payer's RPC shows them, beside those of the bytes that the service built; null while the RPC does not show it.
 * @throws when the RPC cannot be reached
 */
export async function readBroadcast(
  client: PublicClient,
  { signature, bytes }: { signature: string; bytes: Uint8Array },
): Promise<BroadcastReading | null> {
  const built = decodeTransaction(bytes)
  if (!built.ok) return null
  try {
    const {
      nonce,
      maxFeePerGas = null,
      maxPriorityFeePerGas = null,
    } = await client.getTransaction({ hash: signature as Hash })
    return {
      sent: { nonce, maxFeePerGas, maxPriorityFeePerGas },
      fees: { maxFeePerGas: built.maxFeePerGas, maxPriorityFeePerGas: built.maxPriorityFeePerGas },
    }
  } catch (error) {
    if (error instanceof TransactionNotFoundError) return null
    throw error
  }
}
