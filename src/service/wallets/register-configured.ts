import { ProblemError } from '#contract/problem.ts'
import type { Context } from '../context/context.ts'
import { registerWallet } from './ownership.ts'

/**
 * Registers the wallets of `PAYOUT_WALLETS` for their accounts, by the operator's authority. What cannot be registered is logged and left: a wrong line of
 * the configuration does not stop payments.
 */
export async function registerConfiguredWallets({ config, db, log, now }: Context): Promise<void> {
  for (const { accountId, address } of config.payoutWallets ?? []) {
    try {
      const { created } = await registerWallet(
        { db, now: now() },
        { accountId, address, network: null, proof: 'operator' },
      )
      if (created) log.info({ accountId, wallet: address }, 'payout wallet registered')
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      log.error(
        { accountId, wallet: address, reason: error.message },
        'PAYOUT_WALLETS: this wallet is not registered',
      )
    }
  }
}
