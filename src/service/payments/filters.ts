import { and, eq, gte, inArray, like, lte, or, sql, type SQL } from 'drizzle-orm'
import { parseAddress } from '#contract/address.ts'
import { parseAmount } from '#contract/amount.ts'
import type { EndpointInput } from '#contract/endpoints.ts'
import { describe } from '#contract/fields.ts'
import { stringifyJson } from '#contract/json.ts'
import { findAsset, type Network } from '#contract/network.ts'
import { payment } from '../db/schema.ts'
import { LAST_MOMENT } from './cursor.ts'
import { refuseParameters } from './network.ts'

export type ListQuery = EndpointInput<'paymentHistory'>['query']
type Type = ListQuery['type']

/** Amounts of all assets are compared on this many decimals, more than any asset has. */
const DECIMALS = 36

/**
 * The conditions of a list, without those of paging.
 * @param wallets whose payments they are; undefined for all of the account
 * @throws `INVALID_PARAMETERS` with every problem in one answer
 */
export function listFilters(
  accountId: string,
  query: ListQuery,
  scope: { wallets: readonly string[] | undefined; networks: readonly Network[] },
): SQL | undefined {
  const details: Record<string, string> = {}
  const conditions = [
    eq(payment.accountId, accountId),
    scope.wallets ? ofWallets(scope.wallets, query.type) : ofAccount(query.type),
    query.status && inArray(payment.status, query.status),
    query.network === undefined ? undefined : eq(payment.network, readNetwork(query.network, scope.networks, details)),
    query.asset === undefined ? undefined : ofAsset(query.asset, scope.networks, details),
    query.since === undefined ? undefined : gte(payment.createdAt, moment(query.since)),
    query.until === undefined ? undefined : lte(payment.createdAt, moment(query.until)),
    query.minAmount === undefined ? undefined : sql`${scaledAmount} >= ${readAmount('minAmount', query.minAmount, details)}::numeric`,
    query.maxAmount === undefined ? undefined : sql`${scaledAmount} <= ${readAmount('maxAmount', query.maxAmount, details)}::numeric`,
    query.q === undefined ? undefined : search(query.q),
  ]
  if (query.since !== undefined && query.until !== undefined && query.since > query.until) details.until = 'Expected a time that is not before since.'
  if (query.cursor !== undefined && query.offset > 0) details.offset = 'Expected no offset beside a cursor.'
  if (Object.keys(details).length > 0) throw refuseParameters(details)
  return and(...conditions)
}

function ofWallets(wallets: readonly string[], type: Type): SQL | undefined {
  const sent = inArray(payment.sender, [...wallets])
  const received = inArray(payment.recipient, [...wallets])
  return type === 'sent' ? sent : type === 'received' ? received : or(sent, received)
}

/** Without wallets to see from, what a managed wallet paid is sent; everything else came in. */
function ofAccount(type: Type): SQL | undefined {
  return type === 'all' ? undefined : type === 'sent' ? eq(payment.mode, 'hosted') : sql`${payment.mode} <> 'hosted'`
}

function readNetwork(name: string, networks: readonly Network[], details: Record<string, string>): string {
  if (!networks.some(({ network }) => network === name)) {
    details.network = `Expected one of ${networks.map(({ network }) => network).join(', ')}, received ${describe(name)}.`
  }
  return name
}

/** A symbol may stand for several assets: one on each network. */
function ofAsset(name: string, networks: readonly Network[], details: Record<string, string>): SQL | undefined {
  const assets = networks.flatMap((network) => {
    const asset = findAsset(network, name)
    return asset ? [and(eq(payment.network, network.network), eq(payment.asset, asset.address))] : []
  })
  if (assets.length > 0) return or(...assets)
  const parsed = parseAddress(name)
  if (parsed.ok) return eq(payment.asset, parsed.address)
  details.asset = `Expected a configured symbol or an address, received ${describe(name)}.`
  return undefined
}

function moment(at: number): Date {
  return new Date(Math.min(at, LAST_MOMENT))
}

const scaledAmount = sql`${payment.amount} * power(10::numeric, ${DECIMALS} - ${payment.decimals})`

function readAmount(field: 'minAmount' | 'maxAmount', text: string, details: Record<string, string>): string {
  if (/^0(\.0+)?$/.test(text)) return '0'
  const parsed = parseAmount(text, DECIMALS)
  if (parsed.ok) return parsed.atomic.toString()
  details[field] = `Expected a decimal number, received ${describe(text)}.`
  return '0'
}

/** Payment id, signature, address, `metadata.referenceId`, or the start of the resource. */
function search(text: string): SQL | undefined {
  // Postgres text cannot hold this character, so nothing can match it.
  if (text.includes('\0')) return sql`false`
  const parsed = parseAddress(text)
  const address = parsed.ok ? parsed.address : text
  return or(
    eq(payment.id, text),
    inArray(payment.signature, [text, text.toLowerCase()]),
    eq(payment.sender, address),
    eq(payment.recipient, address),
    // Stored metadata is JSON without spaces; inside a string its quotes would be escaped.
    sql`strpos(${payment.metadata}, ${`"referenceId":${stringifyJson(text)}`}) > 0`,
    like(payment.resource, `${text.replace(/[\\%_]/g, '\\$&')}%`),
  )
}
