import { queryOptions } from '@tanstack/react-query'
import type { PublicConfig } from '#contract/dashboard-endpoints.ts'
import { findAsset, type Asset, type Network } from '#contract/network.ts'
import { differingTerm, readLink, type LinkTerms } from '#contract/payment-link.ts'
import { callProxy, proxyAddress } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { refusalOf, formatRefusal, type RefusalReason } from '../../errors/refusals.ts'

/** A link whose terms the proxy found genuine and the page found equal to what stands in the link. */
export type OpenLink = {
  text: string
  terms: LinkTerms
  network: Network
  asset: Asset
  /** The seller's name and the host that signed, for the payer. */
  setBy: string
}

export type LinkProblem = { title: string; body: string }
export type LinkView =
  | { kind: 'open'; link: OpenLink }
  | { kind: 'closed'; link: OpenLink; problem: LinkProblem }
  | { kind: 'refused'; problem: LinkProblem }

/** Asks the proxy about a link. What is wrong with the link is an answer; an error is that nobody could be asked. */
export function linkQuery(text: string, config: PublicConfig) {
  return queryOptions({
    queryKey: ['linkRead', text],
    queryFn: ({ signal }) => openLink(text, config, signal),
    retry: (failures, error) => failures < 2 && error instanceof ApiError && error.retryable,
    staleTime: 0,
  })
}

async function openLink(
  text: string,
  config: PublicConfig,
  signal: AbortSignal,
): Promise<LinkView> {
  const own = readLink(text)
  // What cannot even be read needs no proxy to be refused.
  if (!own) return { kind: 'refused', problem: linkProblem('link_changed') }
  try {
    const { terms, state } = await callProxy('linkRead', { body: { link: text } }, { signal })
    if (differingTerm(own.terms, terms))
      return { kind: 'refused', problem: linkProblem('link_other_terms') }
    const network = config.networks.find((each) => each.network === terms.network)
    const asset = network && findAsset(network, terms.asset)
    if (!network || !asset) return { kind: 'refused', problem: linkProblem('link_network') }
    const link = {
      text,
      terms: own.terms,
      network,
      asset,
      setBy: `${config.title} · ${new URL(proxyAddress('/')).host}`,
    }
    return state === 'open'
      ? { kind: 'open', link }
      : { kind: 'closed', link, problem: linkProblem(`link_${state}`) }
  } catch (error) {
    const reason = linkReason(error)
    if (reason) return { kind: 'refused', problem: linkProblem(reason) }
    throw error
  }
}

/** What a refusal says about the link itself, if it is about one. */
export function linkReason(error: unknown): RefusalReason | undefined {
  const reason = refusalOf(error)
  return reason?.startsWith('link_') ? reason : undefined
}

/** Why a link cannot be paid, in the payer's terms. */
export function linkProblem(reason: RefusalReason): LinkProblem {
  const { title, body } = formatRefusal(reason)
  return { title, body }
}
