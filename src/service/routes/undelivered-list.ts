import { readUndelivered } from '../payments/undelivered.ts'
import type { Routes } from './handler.ts'

export const undeliveredList: Routes['undeliveredList'] = ({ context, actor, input }) => readUndelivered(context, actor, input.query)
