import { parseAddress, type Family } from '#contract/address.ts'
import { familyOf, type NetworkId } from '#contract/network.ts'
import type { Context } from '../context/context.ts'
import { findWalletByAddress, type WalletRecord } from '../db/wallets.ts'
import { unseal } from '../wallets/seal.ts'
import { undecided } from '../verification/verification-report.ts'

/**
 * The wallets of one family that the operator lets pay the network fee for settlements, in
 * configured order.
 */
export function facilitatorWallets({ config }: Pick<Context, 'config'>, family: Family): string[] {
  return (config.facilitators?.wallets ?? []).filter((address) => {
    const parsed = parseAddress(address)
    return parsed.ok && parsed.family === family
  })
}

/** Whether the service itself executes authorizations on a network. */
export function settlesHere(context: Context, network: NetworkId): boolean {
  return facilitatorWallets(context, familyOf(network)).length > 0
}

export type OpenedWallet = { wallet: WalletRecord; secret: Uint8Array }

/**
 * Works with a wallet's key, which is overwritten afterwards.
 * @throws `PAYMENT_VERIFICATION_FAILED` when no wallet with this address is managed here
 */
export async function withWallet<T>(
  context: Context,
  address: string | undefined,
  work: (opened: OpenedWallet) => Promise<T>,
): Promise<T> {
  const wallet = address === undefined ? undefined : await findWalletByAddress(context.db, address)
  if (!wallet)
    throw undecided(
      'This service does not settle such payments: it has no fee payer for them. Nothing is decided.',
    )
  const secret = await unseal(context.vault, wallet, wallet)
  return work({ wallet, secret }).finally(() => secret.fill(0))
}
