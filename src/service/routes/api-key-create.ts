import { grantKey } from '../keys/grant-key.ts'
import type { Routes } from './handler.ts'

export const apiKeyCreate: Routes['apiKeyCreate'] = ({ context, actor, input }) => grantKey(context, actor, input.body)
