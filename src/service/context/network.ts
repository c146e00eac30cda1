import { parseAddress } from '#contract/address.ts'
import { defaultNetwork, familyOf, type Network } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import { toWire, type LimitReason } from '#contract/reasons.ts'
import type { Chain } from '../chains/chain.ts'
import type { Context } from './context.ts'

export type NetworkChoice = { ok: true; network: Network } | { ok: false; problem: string }

/** The network a wallet's payment uses: the one named, or the first one configured for the wallet's family. */
export function chooseNetwork(
  networks: readonly Network[],
  walletAddress: string,
  name: string | undefined,
): NetworkChoice {
  const wallet = parseAddress(walletAddress)
  if (!wallet.ok) return { ok: false, problem: 'Expected a network of the wallet.' }
  const possible = networks.filter(({ network }) => familyOf(network) === wallet.family)
  const network =
    name === undefined
      ? defaultNetwork(networks, wallet.family)
      : possible.find((candidate) => candidate.network === name)
  if (network) return { ok: true, network }
  const expected =
    possible.length === 0
      ? 'this service is configured for none'
      : possible.map((candidate) => candidate.network).join(' or ')
  return {
    ok: false,
    problem: `Expected a network that an address of this family can use (${expected}), received ${name === undefined ? 'none' : JSON.stringify(name.slice(0, 60))}.`,
  }
}

export function chainOf(context: Context, network: string): Chain {
  const chain = context.chains.get(network)
  if (!chain)
    throw new ProblemError('CHAIN_UNAVAILABLE', {
      message: `The network ${network} is not configured any more.`,
      retryAfter: 60,
    })
  return chain
}

/** All that is wrong with a request, by field, in one answer. `reason`: of the first limit that is not kept. */
export function refuseParameters(
  details: Record<string, string>,
  reason?: LimitReason,
): ProblemError {
  const fields = Object.keys(details)
  const message =
    fields.length === 1
      ? `${fields[0]}: ${Object.values(details)[0]}`
      : `${fields.length} fields are not valid: ${fields.join(', ')}.`
  return new ProblemError('INVALID_PARAMETERS', {
    message,
    ...(reason && { reason: toWire(reason) }),
    details,
  })
}
