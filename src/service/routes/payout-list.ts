import { listPayoutWallets } from '../wallets/payout-wallets.ts'
import type { Routes } from './handler.ts'

export const payoutList: Routes['payoutList'] = ({ context, actor }) => listPayoutWallets(context, actor)
