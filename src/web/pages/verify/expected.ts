import { t } from '@lingui/core/macro'
import { parseAddress } from '#contract/address.ts'
import { describeAmountProblem, parseAmount } from '#contract/amount.ts'
import { familyOf, findAsset, nativeAsset, type Asset, type Network } from '#contract/network.ts'
import { readDecimal } from '../../locales/decimal.ts'
import { numberLocale } from '../../locales/formats.ts'
import { writeAmount } from '../../payment-flow/form/fields.ts'
import type { ProofFacts } from './proof/facts.ts'
import type { Expected } from './proof/local-checks.ts'

/** The form of what is expected. */
export type ExpectedFields = {
  network: string
  asset: string
  wallet: string
  amount: string
  resource: string
  memo: string
  facilitator: string
  timeout: string
}

export type ExpectedProblems = Partial<Record<keyof ExpectedFields, string>>

/** Starts with what the proof says of itself; the reader corrects what they expected otherwise. Never the payee: that is what is checked first. */
export function startFields(
  facts: ProofFacts | undefined,
  networks: readonly Network[],
  wallets: readonly string[],
): ExpectedFields {
  const network = networks.find((each) => each.network === facts?.network) ?? networks[0]
  // A figure in the proof's own smallest units says nothing in another currency.
  const named = network && facts?.network === network.network ? assetOf(facts, network) : undefined
  const asset = named ?? (network && nativeAsset(network))
  const own =
    network &&
    wallets.find((wallet) => wallet.startsWith('0x') === (familyOf(network.network) === 'evm'))
  return {
    network: network?.network ?? '',
    asset: asset?.address ?? '',
    wallet: own ?? '',
    amount:
      facts && facts.amountAtomic !== null && named
        ? writeAmount(facts.amountAtomic, named.decimals)
        : '',
    resource: facts?.resource ?? '',
    memo: network && familyOf(network.network) === 'solana' ? (facts?.memo ?? '') : '',
    facilitator: '',
    timeout: '30',
  }
}

/** An authorization moves a token, and of version 1 it does not say which: known only where the network has a single one. */
function assetOf(facts: ProofFacts, network: Network): Asset | undefined {
  if (facts.asset !== null) return findAsset(network, facts.asset)
  if (facts.body.kind !== 'authorization') return nativeAsset(network)
  const tokens = network.assets.filter((asset) => !asset.native)
  return tokens.length === 1 ? tokens[0] : undefined
}

export function readExpected(
  fields: ExpectedFields,
  networks: readonly Network[],
): { ok: true; expected: Expected } | { ok: false; problems: ExpectedProblems } {
  const problems: ExpectedProblems = {}
  const network = networks.find((each) => each.network === fields.network)
  const asset = network && findAsset(network, fields.asset)
  const wallet = parseAddress(fields.wallet.trim())
  if (!network) problems.network = t`Choose the network.`
  if (network && !asset) problems.asset = t`Choose the currency.`
  if (!wallet.ok) problems.wallet = t`Enter the recipient’s address.`
  else if (network && wallet.family !== familyOf(network.network))
    problems.wallet = t`Wrong network type.`
  const decimal = readDecimal(fields.amount.trim(), numberLocale())
  const amount = decimal.ok && asset ? parseAmount(decimal.plain, asset.decimals) : undefined
  if (!decimal.ok) problems.amount = t`Enter an amount, like 0.01.`
  else if (amount && !amount.ok && asset)
    problems.amount = describeAmountProblem(amount.problem, decimal.plain, asset.decimals)
  const seconds = Number(fields.timeout)
  if (!/^[0-9]{1,3}$/.test(fields.timeout) || seconds < 1 || seconds > 120)
    problems.timeout = t`Enter 1 to 120 seconds.`
  if (fields.facilitator !== '' && !fields.facilitator.startsWith('https://'))
    problems.facilitator = t`Enter an address with https://.`
  if (!network || !asset || !wallet.ok || !amount?.ok || Object.keys(problems).length > 0)
    return { ok: false, problems }
  const orAny = (text: string) => (text.trim() === '' ? null : text.trim())
  const memo = wallet.family === 'solana' ? orAny(fields.memo) : null
  return {
    ok: true,
    expected: {
      network,
      asset,
      wallet: wallet.address,
      amountAtomic: amount.atomic,
      resource: orAny(fields.resource),
      memo,
    },
  }
}
