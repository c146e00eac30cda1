import { describeSupported } from '../proofs/facilitator.ts'
import type { Routes } from './handler.ts'

export const facilitatorSupported: Routes['facilitatorSupported'] = async ({ context }) => describeSupported(context)
