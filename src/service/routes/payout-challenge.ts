import { issueWalletChallenge } from '../wallets/payout-wallets.ts'
import type { Routes } from './handler.ts'

export const payoutChallenge: Routes['payoutChallenge'] = ({ context, actor, input }) => issueWalletChallenge(context, actor, input.body)
