import { queryOptions } from '@tanstack/react-query'
import { t } from '@lingui/core/macro'
import type { PublicConfig } from '#contract/desk-endpoints.ts'
import { findAsset, type Asset, type Network } from '#contract/network.ts'
import { differingTerm, readLink, type LinkTerms } from '#contract/payment-link.ts'
import { callProxy, proxyAddress } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'

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
export type LinkView = { kind: 'open'; link: OpenLink } | { kind: 'closed'; link: OpenLink; problem: LinkProblem } | { kind: 'refused'; problem: LinkProblem }

/** Asks the proxy about a link. What is wrong with the link is an answer; an error is that nobody could be asked. */
export function linkQuery(text: string, config: PublicConfig) {
  return queryOptions({
    queryKey: ['linkRead', text],
    queryFn: ({ signal }) => openLink(text, config, signal),
    retry: (failures, error) => failures < 2 && error instanceof ApiError && error.retryable,
    staleTime: 0,
  })
}

async function openLink(text: string, config: PublicConfig, signal: AbortSignal): Promise<LinkView> {
  const own = readLink(text)
  // What cannot even be read needs no proxy to be refused.
  if (!own) return { kind: 'refused', problem: linkProblem('link_changed') }
  try {
    const { terms, state } = await callProxy('linkRead', { body: { link: text } }, { signal })
    if (differingTerm(own.terms, terms)) return { kind: 'refused', problem: linkProblem('link_other_terms') }
    const network = config.networks.find((each) => each.network === terms.network)
    const asset = network && findAsset(network, terms.asset)
    if (!network || !asset) return { kind: 'refused', problem: linkProblem('link_network') }
    const link = { text, terms: own.terms, network, asset, setBy: `${config.title} · ${new URL(proxyAddress('/')).host}` }
    return state === 'open' ? { kind: 'open', link } : { kind: 'closed', link, problem: linkProblem(`link_${state}`) }
  } catch (error) {
    if (error instanceof ApiError && linkReason(error)) return { kind: 'refused', problem: linkProblem(linkReason(error) ?? '') }
    throw error
  }
}

/** What a refusal says about the link itself, if it is about one. */
export function linkReason({ details }: ApiError): string | undefined {
  const { reason } = details
  return typeof reason === 'string' && reason.startsWith('link_') ? reason : undefined
}

/** Why a link cannot be paid, in the payer's terms. */
export function linkProblem(reason: string): LinkProblem {
  switch (reason) {
    case 'link_changed':
      return {
        title: t`This payment link is not as its seller made it`,
        body: t`It was changed on its way, or not copied whole. Nothing was sent. Ask the seller for the link again.`,
      }
    case 'link_other_terms':
      return {
        title: t`The link and the desk do not say the same`,
        body: t`What stands in the link is not what this desk asks for. Do not pay. Tell the seller.`,
      }
    case 'link_expired':
      return { title: t`This payment link has expired`, body: t`Nothing was sent. Ask the seller for a new one.` }
    case 'link_used':
      return { title: t`This payment link is already paid`, body: t`It was made for a set number of payments, and they were made. Nothing was sent now.` }
    case 'link_busy':
      return {
        title: t`Someone is paying this link right now`,
        body: t`It takes one more payment, and another wallet is about to make it. If it does not, you can pay in two minutes. Nothing was sent.`,
      }
    case 'link_withdrawn':
      return { title: t`The seller withdrew this payment link`, body: t`Nothing was sent. Ask the seller whether there is a new one.` }
    case 'link_wallet':
      return {
        title: t`This payment link pays a wallet the seller no longer uses`,
        body: t`Nothing was sent. Ask the seller for a new link.`,
      }
    case 'link_network':
      return { title: t`This desk no longer takes payments on that network`, body: t`Nothing was sent. Ask the seller for a new link.` }
    default:
      return { title: t`This desk does not know this payment link`, body: t`Nothing was sent. Ask the seller for a new one.` }
  }
}
