import { hashTypedData, hexToBytes } from 'viem'
import { recoverSigner, signerOf } from '#chains/evm/token-authorization.ts'
import { chainIdOf } from '#contract/network.ts'
import { PERMIT2 } from '#chains/evm/signed-types.ts'
import { permitSignerOf, type TokenPermit } from '#chains/evm/token-permit.ts'
import type { Eip3009Payload, Permit2Payload } from '#x402/authorization.ts'
import type { PaymentPayload } from '#x402/payload.ts'
import { fromV1 } from '#x402/requirements.ts'
import { offerProofTypedData, proofTypedData, type TxidPayload } from '#x402/txid.ts'
import type { Expected } from './local-checks.ts'

/** Whose key signed a proof, by the terms that are expected; what the payer says of them decides nothing. */

type Typed = Parameters<typeof hashTypedData>[0]

export async function recoverProof(
  payment: PaymentPayload,
  proof: TxidPayload,
  expected: Expected,
): Promise<string | undefined> {
  const { network, wallet, amountAtomic } = expected
  const terms = { network: network.network, from: proof.from, payTo: wallet, amountAtomic }
  const data = payment.x402Version === 2 ? ofV2(payment, proof, terms) : ofV1(proof, terms)
  if (!data) return undefined
  try {
    return recoverSigner(hashTypedData(data as Typed), hexToBytes(proof.signature as `0x${string}`))
  } catch {
    return undefined
  }
}

type Terms = { network: string; from: string; payTo: string; amountAtomic: bigint }

function ofV2(
  payment: Extract<PaymentPayload, { x402Version: 2 }>,
  proof: TxidPayload,
  terms: Terms,
): unknown {
  const { asset, maxTimeoutSeconds } = payment.accepted
  return proofTypedData(
    { ...terms, asset, maxTimeoutSeconds, resource: payment.resource ?? {} },
    proof.txRef,
  )
}

function ofV1(proof: TxidPayload, terms: Terms): unknown {
  if (!proof.offer) return undefined
  const { requirements, resource } = fromV1(proof.offer)
  const { asset, maxTimeoutSeconds, network: networkName } = requirements
  return offerProofTypedData(
    { ...terms, networkName, asset, maxTimeoutSeconds, resource },
    proof.txRef,
  )
}

/** Null: the proof does not say how the token names itself, so no signature can be read from it alone. */
export function recoverAuthorization(
  payment: PaymentPayload,
  { authorization, signature }: Eip3009Payload,
  { network, asset }: Expected,
): string | null | undefined {
  if (payment.x402Version !== 2) return null
  const { name, version } = payment.accepted.extra
  if (typeof name !== 'string' || typeof version !== 'string') return null
  const domain = {
    name,
    version,
    chainId: chainIdOf(network.network),
    verifyingContract: asset.address as `0x${string}`,
  }
  return signerOf({ domain, message: authorization }, hexToBytes(signature))
}

/** A permit as it is signed, on the network that is expected. */
export function permitOf(
  { permit2Authorization }: Permit2Payload,
  { network }: Pick<Expected, 'network'>,
): TokenPermit {
  const { from, permitted, spender, nonce, deadline, witness } = permit2Authorization
  const chain = { chainId: chainIdOf(network.network), verifyingContract: PERMIT2 } as const
  return { ...chain, from, ...permitted, spender, nonce, deadline, ...witness }
}

export function recoverPermit(
  proof: Permit2Payload,
  expected: Pick<Expected, 'network'>,
): string | undefined {
  return permitSignerOf(permitOf(proof, expected), hexToBytes(proof.signature))
}
