import type { VerifiedAuthorization } from '#chains/evm/authorization.ts'
import type { Chain } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { noteUnmatched } from '../payments/unmatched.ts'
import { contractsOf } from '../verification/check-authorization.ts'
import type { Job } from './outcome.ts'

type Refused = { chain: Chain; key: string; authorization: VerifiedAuthorization }

/**
 * A refused authorization that a third party had executed: its payer paid and gets nothing. The
 * money is noted as unmatched for the payee. The refusal stands whatever happens here.
 */
export async function noteExecuted(
  context: Context,
  { accountId, deadline, keyless = false }: Job,
  { chain, key, authorization }: Refused,
): Promise<void> {
  if (keyless) return
  try {
    await deadline.within(note())
  } catch (error) {
    context.log.warn(
      { err: error, network: chain.network.network, payer: authorization.from },
      'a refused authorization was not looked for among what was executed',
    )
  }

  async function note(): Promise<void> {
    const use = await contractsOf(chain).findUse(authorization)
    if (!use.used || use.signature === null) return
    const { signature } = use
    await noteUnmatched(context, chain, {
      signature,
      accountIds: [accountId],
      executed: { key, authorization },
    })
  }
}
