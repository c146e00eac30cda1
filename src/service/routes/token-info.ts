import { readTokenInfo } from '../payments/token-info.ts'
import type { Routes } from './handler.ts'

export const tokenInfo: Routes['tokenInfo'] = ({ context, input }) => readTokenInfo(context, { address: input.params.mintAddress, ...input.query })
