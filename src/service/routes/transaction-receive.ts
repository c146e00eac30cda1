import { buildSettlement } from '../settlements/build.ts'
import type { Routes } from './handler.ts'

export const transactionReceive: Routes['transactionReceive'] = ({ context, actor, input }) => buildSettlement(context, actor, input.body)
