import { deleteKey } from '../keys/delete-key.ts'
import type { Routes } from './handler.ts'

export const apiKeyDelete: Routes['apiKeyDelete'] = ({ context, actor, input }) => deleteKey(context, actor, input.params.id)
