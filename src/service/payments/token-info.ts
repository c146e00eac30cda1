import { erc20Abi } from 'viem'
import { PERMIT2 } from '#chains/evm/signed-types.ts'
import { parseAddress } from '#contract/address.ts'
import type { EndpointReply } from '#contract/endpoints.ts'
import { familyOf } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Chain } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { chainOf, chooseNetwork, refuseParameters } from '../context/network.ts'

type Query = { address: string; network?: string | undefined; owner?: string | undefined }

/** What a token is, read from its chain. @throws `NOT_FOUND` when the address is no token there */
export async function readTokenInfo(
  context: Context,
  query: Query,
): Promise<EndpointReply<'tokenInfo'>> {
  const choice = chooseNetwork(context.config.networks, query.address, query.network)
  if (!choice.ok)
    throw refuseParameters({
      [query.network === undefined ? 'mintAddress' : 'network']: choice.problem,
    })
  const { network } = choice.network
  const owner = query.owner === undefined ? undefined : parseAddress(query.owner)
  if (owner && (!owner.ok || owner.family !== familyOf(network)))
    throw refuseParameters({ owner: `Expected a wallet of ${choice.network.name}.` })
  const chain = chainOf(context, network)
  const info = await chain.token(query.address)
  if (!info)
    throw new ProblemError('NOT_FOUND', {
      message: `There is no token at ${query.address} on ${choice.network.name}.`,
    })
  const { totalSupplyAtomic, ...facts } = info
  const allowance =
    owner?.ok && info.standard === 'erc20'
      ? await readAllowance(chain, info.address, owner.address)
      : null
  const signingDomain = info.eip3009
    ? ((await chain.contracts?.domain(info.address)) ?? null)
    : null
  return {
    success: true,
    ...facts,
    network,
    signingDomain,
    totalSupply: totalSupplyAtomic?.toString() ?? null,
    permit2Allowance: allowance?.toString() ?? null,
  }
}

/**
 * Read again each time: an approval that was just given must be seen. Null where the token does not
 * answer.
 */
async function readAllowance(
  { contracts }: Chain,
  token: string,
  owner: string,
): Promise<bigint | null> {
  try {
    const answer = await contracts?.read({
      address: token as `0x${string}`,
      abi: erc20Abi,
      functionName: 'allowance',
      args: [owner, PERMIT2],
    })
    return typeof answer === 'bigint' ? answer : null
  } catch (error) {
    if (error instanceof ProblemError) throw error
    return null
  }
}
