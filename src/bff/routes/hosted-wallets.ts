import { outflowToday } from '../db/hosted.ts'
import type { OwnRule } from '../session/own-rule.ts'
import { requireOperator } from '../session/rule.ts'

export const hostedWallets: OwnRule<'hostedWallets'> = async ({ context, visitor }) => {
  requireOperator(visitor)
  const wallets = await Promise.all(
    context.config.hosted.map(
      async ({ name, wallet, network, asset, maxPerPayment, maxPerDay }) => ({
        name,
        wallet,
        network: network.network,
        asset: asset.address,
        maxPerPaymentAtomic: maxPerPayment.toString(),
        maxPerDayAtomic: maxPerDay.toString(),
        spentAtomic: (
          await outflowToday(
            context.db,
            { sender: wallet, network: network.network, asset: asset.address },
            context.now(),
          )
        ).toString(),
      }),
    ),
  )
  return { value: { wallets } }
}
