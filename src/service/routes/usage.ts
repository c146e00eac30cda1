import { readUsage } from '../usage/read-usage.ts'
import type { Routes } from './handler.ts'

export const usage: Routes['usage'] = ({ context, actor, input }) => readUsage(context, actor, input.query)
