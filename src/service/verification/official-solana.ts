import type { FacilitatorSvmSigner } from '@x402/svm'
import { DEFAULT_COMPUTE_CAPS } from '#chains/solana/signed-rules.ts'
import { renderCheckFact } from '#contract/render-facts.ts'
import { EXACT_SCHEME } from '#x402/methods.ts'
import { decodeBase64, encodeBase64 } from '#x402/header.ts'
import type { Chain } from '../chains/chain.ts'
import type { ExpectedTerms } from './terms.ts'

const MAX_SIGNATURES = 2

/**
 * The verdict of the official facilitator on a token transfer, as its reason code; null when it is
 * satisfied. It simulates through our chain and signs nothing: what our fee payer signs is recorded
 * before it is sent, and the package remembers what it settled in the memory of one process.
 */
export async function verifyTokenOfficially({
  chain,
  terms,
  bytes,
  feePayer,
}: {
  chain: Chain
  terms: ExpectedTerms
  bytes: Uint8Array
  feePayer: string
}): Promise<string | null> {
  const [{ ExactSvmScheme }, { address }] = await Promise.all([
    import('@x402/svm/exact/facilitator'),
    import('@solana/kit'),
  ])
  const never = () =>
    Promise.reject(new Error('Nothing is signed or sent while a payment is verified.'))
  const failure: { error?: unknown } = {}
  const signer: FacilitatorSvmSigner = {
    getAddresses: () => [address(feePayer)],
    signTransaction: never,
    sendTransaction: never,
    confirmTransaction: never,
    async simulateTransaction(transaction) {
      const simulation = await chain
        .simulateSigned(decodeBase64(transaction) ?? new Uint8Array())
        .catch((error: unknown) => {
          failure.error = error
          throw error
        })
      if (!simulation.ok) throw new Error(renderCheckFact(simulation.reason))
    },
  }
  const { units, microLamports } = DEFAULT_COMPUTE_CAPS
  const scheme = new ExactSvmScheme(signer, undefined, {
    maxComputeUnits: units,
    maxPriorityFeeMicroLamports: Number(microLamports),
    maxRequiredSignatures: MAX_SIGNATURES,
  })
  const requirements = {
    scheme: EXACT_SCHEME,
    network: terms.network.network as `${string}:${string}`,
    amount: terms.amountAtomic.toString(),
    asset: terms.asset.address,
    payTo: terms.payTo,
    maxTimeoutSeconds: 60,
    extra: { feePayer, ...(terms.memo !== null && { memo: terms.memo }) },
  }
  const { isValid, invalidReason } = await scheme.verify(
    { x402Version: 2, accepted: requirements, payload: { transaction: encodeBase64(bytes) } },
    requirements,
  )
  // A chain that could not be asked is no verdict.
  if ('error' in failure) throw failure.error
  return isValid ? null : (invalidReason ?? 'invalid')
}
