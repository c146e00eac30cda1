import { releasePayoutWallet } from '../wallets/payout-wallets.ts'
import type { Routes } from './handler.ts'

export const payoutRelease: Routes['payoutRelease'] = ({ context, actor, input }) => releasePayoutWallet(context, actor, input.params.walletAddress)
