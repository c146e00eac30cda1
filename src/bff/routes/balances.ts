import { parseAddress } from '#contract/address.ts'
import { describeAmountProblem, parseAmount } from '#contract/amount.ts'
import type { BalanceWallet } from '#contract/hosted-endpoints.ts'
import { endpoints } from '#contract/endpoints.ts'
import { familyOf, nativeAsset } from '#contract/network.ts'
import type { BffConfig } from '../config/config.ts'
import { listAlerts, removeAlert, setAlert, type BalanceAlertRow } from '../db/hosted.ts'
import { type OwnCall, type OwnRule, requireRole, spender } from '../session/rule.ts'
import { OperatorError } from '../upstream/problem.ts'
import { refuseField } from '../http/parse.ts'

/**
 * Which wallets the account has, and below which balance people are warned. No chain is asked here:
 * browsers read balances through the public endpoints, and only while somebody looks.
 */

export const balanceWallets: OwnRule<'balanceWallets'> = async (call) => {
  const { context } = call
  const [{ wallets, complete }, alerts] = await Promise.all([
    readWallets(call),
    listAlerts(context.db),
  ])
  const managed = new Set(wallets.filter((each) => each.managed).map(({ wallet }) => wallet))
  return {
    value: {
      wallets,
      complete,
      alerts: alerts
        .filter((alert) => managed.has(alert.wallet) && isConfigured(context.config, alert))
        .map(alertBody),
    },
  }
}

/** Read by every overview of people of the account: one query of this program's own database. */
export const balanceAlerts: OwnRule<'balanceAlerts'> = async ({ context, visitor }) => {
  context.budgets.spendNote(visitor.address)
  const alerts = (await listAlerts(context.db)).filter((alert) =>
    isConfigured(context.config, alert),
  )
  return { value: { alerts: alerts.map((row) => ({ ...alertBody(row), name: row.name })) } }
}

export const balanceAlert: OwnRule<'balanceAlert'> = async (call) => {
  const { context, visitor, body } = call
  const { wallet: setBy } = requireRole(visitor, 'operator').member
  const network = context.config.networks.find((each) => each.network === body.network)
  if (!network)
    throw refuseField('network', `Expected a configured network, received ${body.network}.`)
  const { wallets } = await readWallets(call)
  const wallet = wallets.find((each) => each.managed && each.wallet === body.walletAddress)
  if (!wallet || wallet.family !== familyOf(network.network))
    throw refuseField(
      'walletAddress',
      `Expected a managed wallet of this account on ${network.name}, received ${body.walletAddress}.`,
    )
  const key = { wallet: wallet.wallet, network: network.network }
  if (body.threshold === null) {
    await removeAlert(context.db, key)
    return { value: { alert: null } }
  }
  const { decimals } = nativeAsset(network)
  const parsed = parseAmount(body.threshold, decimals)
  if (!parsed.ok)
    throw refuseField('threshold', describeAmountProblem(parsed.problem, body.threshold, decimals))
  const row = {
    ...key,
    name: wallet.name ?? '',
    threshold: parsed.atomic,
    setBy,
    setAt: context.now(),
  }
  await setAlert(context.db, row)
  return { value: { alert: alertBody(row) } }
}

type Wallets = { wallets: BalanceWallet[]; complete: boolean }

/** The wallets of the account; where the key may not list them, those that the configuration names. */
async function readWallets({
  context,
  visitor,
  requestId,
}: Pick<OwnCall<'balanceWallets'>, 'context' | 'visitor' | 'requestId'>): Promise<Wallets> {
  // One for each of the two requests.
  context.budgets.spend(spender(visitor), 'sync')
  context.budgets.spend(spender(visitor), 'sync')
  try {
    const [managed, owned] = await Promise.all([
      context.upstream.requestOwn(endpoints.walletList, { requestId }),
      context.upstream.requestOwn(endpoints.payoutList, { requestId }),
    ])
    const known = new Set(managed.wallets.map(({ walletAddress }) => walletAddress))
    return {
      complete: true,
      wallets: [
        ...managed.wallets.map(({ walletAddress: wallet, family, name, stopped }) => ({
          wallet,
          family,
          managed: true,
          name,
          network: null,
          stopped,
        })),
        ...owned.wallets
          .filter(({ walletAddress }) => !known.has(walletAddress))
          .map(({ walletAddress: wallet, family, network }) => ({
            wallet,
            family,
            managed: false,
            name: null,
            network,
            stopped: [],
          })),
      ],
    }
  } catch (error) {
    if (error instanceof OperatorError && error.reason === 'scope_missing')
      return { complete: false, wallets: configuredWallets(context.config) }
    throw error
  }
}

function configuredWallets({
  hosted,
  sellerWallets,
}: Pick<BffConfig, 'hosted' | 'sellerWallets'>): BalanceWallet[] {
  const base = { network: null, stopped: [] }
  const managed = new Map(
    hosted.map(({ wallet, name, network }) => [
      wallet,
      { ...base, wallet, family: familyOf(network.network), managed: true, name },
    ]),
  )
  const own = sellerWallets.flatMap((wallet) => {
    const parsed = parseAddress(wallet)
    if (!parsed.ok || managed.has(wallet)) return []
    return [{ ...base, wallet, family: parsed.family, managed: false, name: null }]
  })
  return [...managed.values(), ...own]
}

function isConfigured({ networks }: Pick<BffConfig, 'networks'>, alert: BalanceAlertRow): boolean {
  return networks.some(({ network }) => network === alert.network)
}

function alertBody({ wallet, network, threshold }: BalanceAlertRow) {
  return { wallet, network, thresholdAtomic: threshold.toString() }
}
