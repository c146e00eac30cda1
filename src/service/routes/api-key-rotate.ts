import { replaceKey } from '../keys/replace-key.ts'
import type { Routes } from './handler.ts'

export const apiKeyRotate: Routes['apiKeyRotate'] = ({ context, actor, input }) => replaceKey(context, actor, input)
