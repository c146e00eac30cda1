import { readList } from '../payments/history.ts'
import type { Routes } from './handler.ts'

export const paymentList: Routes['paymentList'] = ({ context, actor, input }) => readList(context, actor, input.query)
