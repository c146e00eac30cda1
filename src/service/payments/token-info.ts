import type { EndpointReply } from '#contract/endpoints.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Context } from '../context.ts'
import { chainOf, chooseNetwork, refuseParameters } from './network.ts'

/** What a token is, read from its chain. @throws `NOT_FOUND` when the address is no token there */
export async function readTokenInfo(context: Context, query: { address: string; network: string | undefined }): Promise<EndpointReply<'tokenInfo'>> {
  const choice = chooseNetwork(context.config.networks, query.address, query.network)
  if (!choice.ok) throw refuseParameters({ [query.network === undefined ? 'mintAddress' : 'network']: choice.problem })
  const { network } = choice.network
  const info = await chainOf(context, network).token(query.address)
  if (!info) throw new ProblemError('NOT_FOUND', { message: `There is no token at ${query.address} on ${choice.network.name}.` })
  const { totalSupplyAtomic, ...facts } = info
  return { success: true, ...facts, network, totalSupply: totalSupplyAtomic?.toString() ?? null }
}
