import { readKeys } from '../keys/read-keys.ts'
import type { Routes } from './handler.ts'

export const apiKeyList: Routes['apiKeyList'] = async ({ context, actor }) => ({ success: true, keys: await readKeys(context, actor) })
