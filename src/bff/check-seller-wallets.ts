import * as v from 'valibot'
import type { Endpoint } from '#contract/endpoint.ts'
import type { ProxyContext } from './context/context.ts'
import { createId } from './session/random.ts'
import { ForwardedError, OperatorError } from './upstream/problem.ts'

/** The part of `GET /wallets/payout` that is looked at. */
const payoutList = {
  method: 'GET',
  path: '/wallets/payout',
  summary: 'The wallets of the account',
  scope: 'wallets:manage',
  audience: 'key',
  response: v.object({ wallets: v.array(v.object({ walletAddress: v.string() })) }),
  problems: [],
} as const satisfies Endpoint

/** Of these wallets, those that the account of this program's key does not own; undefined where the key may not ask. */
export async function findUnowned({
  config,
  upstream,
}: Pick<ProxyContext, 'config' | 'upstream'>): Promise<string[] | undefined> {
  try {
    const { wallets } = await upstream.ask(payoutList, { requestId: createId('req') })
    const owned = new Set(wallets.map(({ walletAddress }) => walletAddress))
    return config.sellerWallets.filter((wallet) => !owned.has(wallet))
  } catch (error) {
    if (error instanceof OperatorError && error.reason === 'scope_missing') return undefined
    if (error instanceof ForwardedError && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}

/** At the start: warns once, by name, of seller wallets that the account does not own. Never throws. `stopping`: aborted when the program ends. */
export async function warnOfUnowned(context: ProxyContext, stopping: AbortSignal): Promise<void> {
  try {
    const unowned = await findUnowned(context)
    if (unowned === undefined) {
      context.log.info(
        'Whether the account owns SELLER_WALLETS is not known: SERVICE_API_KEY has no scope wallets:manage.',
      )
      return
    }
    if (unowned.length === 0) {
      context.log.info('The account of SERVICE_API_KEY owns all SELLER_WALLETS.')
      return
    }
    context.log.warn(
      { wallets: unowned },
      `The account of SERVICE_API_KEY does not own these SELLER_WALLETS: ${unowned.join(', ')}. Their payments are not counted as received, and other accounts ` +
        'can use them. Prove each with POST /wallets/payout/challenge and POST /wallets/payout, or have the operator of the service run ' +
        '`npm run admin -- wallet register`.',
    )
  } catch (error) {
    if (stopping.aborted) return
    context.log.warn(
      { err: error },
      'Whether the account owns SELLER_WALLETS could not be asked at the start.',
    )
  }
}
