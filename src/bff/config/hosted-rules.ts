import * as v from 'valibot'
import { parseAddress } from '#contract/address.ts'
import { parseAmount } from '#contract/amount.ts'
import { familyOf, findAsset, type Asset, type Network } from '#contract/network.ts'

/** From which managed wallet operators may pay, in what, and how much. Amounts in atomic units. */
export type HostedRule = {
  name: string
  wallet: string
  network: Network
  asset: Asset
  maxPerPayment: bigint
  maxPerDay: bigint
}

/** One as it stands in the configuration; amounts as decimals in text. */
export const HostedRuleText = v.strictObject({
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(60)),
  wallet: v.string(),
  network: v.string(),
  asset: v.optional(v.string(), 'native'),
  maxPerPayment: v.string(),
  maxPerDay: v.string(),
})
export type HostedRuleText = v.InferOutput<typeof HostedRuleText>

/** Reads the rules against the networks they name. */
export function readRules(
  texts: readonly HostedRuleText[],
  networks: readonly Network[],
): { rules: HostedRule[]; problems: string[] } {
  const rules: HostedRule[] = []
  const problems: string[] = []
  for (const [index, text] of texts.entries()) {
    const read = readRule(text, networks)
    const twice = typeof read !== 'string' && rules.some((rule) => isFor(rule, read))
    if (typeof read === 'string' || twice)
      problems.push(
        `at ${index}: ${typeof read === 'string' ? read : 'this wallet and asset stand there twice.'}`,
      )
    else rules.push(read)
  }
  return { rules, problems }
}

function readRule(text: HostedRuleText, networks: readonly Network[]): HostedRule | string {
  const network = networks.find((known) => known.network === text.network)
  if (!network) return `${text.network} is not a configured network.`
  const asset = findAsset(network, text.asset)
  if (!asset) return `${text.asset} is not an asset of ${network.name}.`
  const wallet = parseAddress(text.wallet)
  if (!wallet.ok || wallet.family !== familyOf(network.network))
    return `${text.wallet} is not a wallet on ${network.name}.`
  const [maxPerPayment, maxPerDay] = [
    parseAmount(text.maxPerPayment, asset.decimals),
    parseAmount(text.maxPerDay, asset.decimals),
  ]
  if (!maxPerPayment.ok || !maxPerDay.ok)
    return 'maxPerPayment and maxPerDay are decimals above 0, in text.'
  return {
    name: text.name,
    wallet: wallet.address,
    network,
    asset,
    maxPerPayment: maxPerPayment.atomic,
    maxPerDay: maxPerDay.atomic,
  }
}

function isFor(one: HostedRule, other: HostedRule): boolean {
  return (
    one.wallet === other.wallet &&
    one.network.network === other.network.network &&
    one.asset.address === other.asset.address
  )
}

export function findRule(
  rules: readonly HostedRule[],
  requested: { network: string; sender: string; asset: string },
): HostedRule | undefined {
  return rules.find(
    ({ wallet, network, asset }) =>
      wallet === requested.sender &&
      network.network === requested.network &&
      asset.address === requested.asset,
  )
}
