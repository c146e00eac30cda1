import type { x402Client } from '@x402/core/client'
import { parseEther } from 'viem'
import { approvePermit2Of, contractClient, deploySafe, safePayer } from '../contract-payers.ts'
import type { HOLDER_METHODS, ProofMakers } from '../tenant-proofs.ts'
import { approvePermit2, evmPayer, type EvmTokens } from '../token-payers.ts'

/** Payers by Permit2, and a Safe that pays by either method. Every signature has a different nonce, so each can pay again. */
export async function openHolders(
  { evm, usdc }: Pick<ProofMakers, 'evm' | 'usdc'>,
  tokens: EvmTokens,
): Promise<Record<(typeof HOLDER_METHODS)[number], x402Client>> {
  const wallet = await evm.wallet(parseEther('100'))
  await tokens.fund(wallet.address)
  await approvePermit2(evm, wallet, usdc)
  const safe = await deploySafe(evm, { owners: 1, threshold: 1 })
  await tokens.fund(safe.address)
  await approvePermit2Of(evm, safe.address, usdc)
  const contract = contractClient(evm, safePayer(safe, 'typed'))
  return {
    'evm permit2': evmPayer(evm, wallet),
    'evm contract eip3009': contract,
    'evm contract permit2': contract,
  }
}
