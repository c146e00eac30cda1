import { buildTransaction } from '../payments/build.ts'
import type { Routes } from './handler.ts'

export const transactionSend: Routes['transactionSend'] = ({ context, actor, input }) => buildTransaction(context, actor, input.body)
