import { createOwnWallet } from '../wallets/own-wallets.ts'
import type { Routes } from './handler.ts'

export const walletCreate: Routes['walletCreate'] = ({ context, actor, input }) => createOwnWallet(context, actor, input.body)
