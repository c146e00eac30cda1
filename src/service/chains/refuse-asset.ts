import type { Asset } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'

/** A configured token that cannot be paid with. `reason` is the rest of a sentence. */
export function refuseAsset({ symbol, address }: Asset, reason: string): ProblemError {
  return new ProblemError('INVALID_PARAMETERS', {
    message: `${symbol} cannot be paid here: ${reason}.`,
    details: { asset: `Expected a token that can be paid, received ${address}: ${reason}.` },
  })
}
