import { listOwnWallets } from '../wallets/own-wallets.ts'
import type { Routes } from './handler.ts'

export const walletList: Routes['walletList'] = ({ context, actor }) => listOwnWallets(context, actor)
