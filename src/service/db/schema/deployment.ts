import { text } from 'drizzle-orm/pg-core'
import { service } from './columns.ts'

/** One row, made with the database: what a payer signs for this deployment means nothing to another one. */
export const deployment = service.table('deployment', { id: text().primaryKey() })
