import { registerPayoutWallet } from '../wallets/payout-wallets.ts'
import type { Routes } from './handler.ts'

export const payoutRegister: Routes['payoutRegister'] = ({ context, actor, input }) => registerPayoutWallet(context, actor, input.body)
