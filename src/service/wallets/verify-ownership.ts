import { hashMessage, isHex } from 'viem'
import { isSignedByEvm } from '#chains/evm/verify-signature.ts'
import { isSignedBySolana } from '#chains/solana/verify-signature.ts'
import type { NetworkId } from '#contract/network.ts'
import type { Context } from '../context/context.ts'
import { chainOf } from '../context/network.ts'
import { familyOfAddress } from './ownership.ts'

export type SignedText = {
  address: string
  network: NetworkId | null
  message: string
  signature: string
}

/**
 * Who signed a text: the key of the address, which is one owner's on every chain of its family, or a contract at the address, on the chain named. Null where
 * neither did.
 * @throws `CHAIN_UNAVAILABLE`
 */
export async function verifyOwnership(
  context: Context,
  { address, network, message, signature }: SignedText,
): Promise<'key' | 'contract' | null> {
  if (familyOfAddress(address) === 'solana')
    return isSignedBySolana(address, message, signature) ? 'key' : null
  if (isSignedByEvm(address, message, signature)) return 'key'
  if (network === null || !isHex(signature) || signature.length % 2 !== 0) return null
  const { contracts } = chainOf(context, network)
  const accepted = await contracts?.accepts({ address, hash: hashMessage(message), signature })
  return accepted === true ? 'contract' : null
}
