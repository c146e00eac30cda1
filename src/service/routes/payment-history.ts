import { readHistory } from '../payments/history.ts'
import type { Routes } from './handler.ts'

export const paymentHistory: Routes['paymentHistory'] = ({ context, actor, input }) => readHistory(context, actor, input)
