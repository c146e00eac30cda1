import { and, eq, inArray, isNotNull, sql, type SQL } from 'drizzle-orm'
import { parseAddress } from '#contract/address.ts'
import { stringifyJson } from '#contract/json.ts'
import { isPaymentId } from '#contract/payment.ts'
import { payment } from '../db/schema.ts'
import { SEARCHED, searchExpressions } from '../db/search-expressions.ts'

/**
 * The conditions a text can be found by, each with an index of its own: payment id, signature, address, `metadata.referenceId`,
 * the start of the resource with or without its scheme.
 */
export function searchBranches(text: string): SQL[] {
  // Postgres text cannot hold this character, so nothing can match it.
  if (text.includes('\0')) return [sql`false`]
  if (isPaymentId(text)) return [eq(payment.id, text)]
  const parsed = parseAddress(text)
  const branches = [
    and(isNotNull(payment.signature), inArray(payment.signature, [...new Set([text, text.toLowerCase()])])),
    // Stored metadata is JSON without spaces. The index holds the start of the value; the whole of it is compared after.
    and(
      sql`${sql.raw(searchExpressions.referenceStart)} = ${[...stringifyJson(text)].slice(0, SEARCHED).join('')}`,
      sql`strpos(${payment.metadata}, ${`"referenceId":${stringifyJson(text)}`}) > 0`,
    ),
    startsWith(text),
  ]
  if (parsed.ok) branches.push(eq(payment.sender, parsed.address), eq(payment.recipient, parsed.address))
  return branches.flatMap((branch) => (branch ? [branch] : []))
}

/** People copy an address with or without its scheme, and a host's letters have no case. */
function startsWith(text: string): SQL | undefined {
  const bare = text.replace(/^https?:\/\//i, '').toLowerCase()
  if (bare === '') return undefined
  const pattern = (start: string) => `${start.replace(/[\\%_]/g, '\\$&')}%`
  const start = [...bare].slice(0, SEARCHED).join('')
  return and(
    sql`${sql.raw(searchExpressions.resourceStart)} like ${pattern(start)}`,
    start === bare ? undefined : sql`${sql.raw(searchExpressions.resource)} like ${pattern(bare)}`,
  )
}
