import type * as v from 'valibot'
import { describeAmountProblem, parseAmount } from '#contract/amount.ts'
import { parseAddress } from '#contract/address.ts'
import { createId } from '#contract/id.ts'
import type { browserEndpoints } from '#contract/browser-endpoints.ts'
import { familyOf, findAsset } from '#contract/network.ts'
import { linkPayload, type LinkTerms } from '#contract/payment-link.ts'
import { requireNoProblems } from '../http/parse.ts'
import type { ProxyContext } from '../context/context.ts'
import { insertLink, type LinkRow } from '../db/links.ts'
import { macOf, signingKey } from './keys.ts'

export type LinkRequest = v.InferOutput<(typeof browserEndpoints)['linkCreate']['body']>

/** Makes and keeps a link. @throws ProblemError `INVALID_PARAMETERS` that names every field that is wrong */
export async function createLink(
  context: ProxyContext,
  wish: LinkRequest,
  createdBy: string,
): Promise<LinkRow> {
  const terms = readTerms(context, wish)
  const now = context.now()
  const key = await signingKey(context.db, now)
  const payload = linkPayload(terms, key.id)
  const row: LinkRow = {
    id: terms.id,
    link: macOf(payload, key.secret) + payload,
    code: null,
    short: null,
    expiresAt: terms.expiresAt === null ? null : new Date(terms.expiresAt),
    maxPayments: terms.maxPayments,
    createdBy,
    createdAt: now,
    withdrawnAt: null,
  }
  await insertLink(context.db, row)
  return row
}

function readTerms({ config, now }: ProxyContext, wish: LinkRequest): LinkTerms {
  const details: Record<string, string> = {}
  const network = config.networks.find((known) => known.network === wish.network)
  if (!network)
    details['network'] =
      `Expected one of ${config.networks.map((known) => known.network).join(', ')}.`
  const asset = network && findAsset(network, wish.asset)
  if (network && !asset)
    details['asset'] =
      `Expected an asset of ${network.name}: ${network.assets.map(({ symbol }) => symbol).join(', ')}.`
  const recipient = parseAddress(wish.recipient)
  if (!config.sellerWallets.includes(wish.recipient))
    details['recipient'] =
      `Expected one of the seller's wallets: ${config.sellerWallets.join(', ')}.`
  else if (network && recipient.ok && recipient.family !== familyOf(network.network))
    details['recipient'] = `Expected a wallet on ${network.name}.`
  const amount =
    wish.amount !== undefined && asset ? parseAmount(wish.amount, asset.decimals) : undefined
  if (amount && !amount.ok)
    details['amount'] = describeAmountProblem(
      amount.problem,
      wish.amount ?? '',
      asset?.decimals ?? 0,
    )
  if (wish.expiresAt !== undefined && wish.expiresAt <= now().getTime())
    details['expiresAt'] = 'Expected a time to come.'
  requireNoProblems(details)
  return {
    id: createId('lnk'),
    network: wish.network,
    recipient: wish.recipient,
    asset: asset?.address ?? '',
    amountAtomic: amount?.ok ? amount.atomic.toString() : null,
    resource: wish.resource ?? null,
    description: wish.description ?? null,
    reference: wish.reference ?? null,
    expiresAt: wish.expiresAt ?? null,
    maxPayments: wish.maxPayments ?? null,
    returnUrl: wish.returnUrl ?? null,
  }
}
