import { VersionedTransaction, type Keypair } from '@solana/web3.js'
import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { NATIVE_ETH, type Network } from '#contract/network.ts'
import { refundRequestTypedData } from '#contract/refund-request.ts'
import { at, succeed, textAt, type ApiReply } from './api-client.ts'
import {
  readStatus,
  readUnmatched,
  readView,
  takersOf,
  type UnmatchedRow,
  type LedgerView,
} from './tenant-ledger.ts'
import type { Tenant, Tenants } from './two-tenants.ts'

/** An order as its merchant had it built, and what its payer was given to sign. */
export type TenantOrder = { paymentId: string; transaction: string; reply: unknown }

export type OrderTerms = {
  from: string
  to: string
  /** In whole units, as a number of JSON. */
  amount: number
  asset?: string
  resource?: string
  reference?: string
}

/** Fees that no service named: what a wallet that knows better puts in. */
export const WALLET_FEES = {
  maxFeePerGas: 20_000_000_000n,
  maxPriorityFeePerGas: 2_000_000_001n,
} as const
/** Above those by more than the tenth that a node asks of a replacement. */
export const RAISED_FEES = {
  maxFeePerGas: 40_000_000_000n,
  maxPriorityFeePerGas: 4_000_000_003n,
} as const

type Changes = { nonce?: number; maxFeePerGas?: bigint; maxPriorityFeePerGas?: bigint }

/** Asks a merchant's account for an order. */
export function requestOrder(
  tenant: Pick<Tenant, 'api'>,
  { from, to, amount, asset, resource, reference }: OrderTerms,
  more: object = {},
): Promise<ApiReply> {
  return tenant.api.post('/transaction/send', {
    walletAddress: from,
    recipientAddress: to,
    amount,
    ...(asset !== undefined && { asset }),
    ...(resource !== undefined && { resource }),
    ...(reference !== undefined && { metadata: { referenceId: reference } }),
    ...more,
  })
}

export async function buildOrder(
  tenant: Pick<Tenant, 'api'>,
  terms: OrderTerms,
  more: object = {},
): Promise<TenantOrder> {
  return toOrder(succeed(await requestOrder(tenant, terms, more)).body)
}

export function toOrder(reply: unknown): TenantOrder {
  return { paymentId: textAt(reply, 'paymentId'), transaction: textAt(reply, 'transaction'), reply }
}

/** Signs an order's transaction as a wallet does: as it was built, or with fees or a nonce of the wallet's own. */
export function signOrder(
  payer: PrivateKeyAccount,
  order: Pick<TenantOrder, 'transaction'>,
  changes: Changes = {},
): Promise<Hex> {
  const decoded = decodeTransaction(Buffer.from(order.transaction, 'base64'))
  if (!decoded.ok) throw new Error(decoded.problem.code)
  const { chainId, gas, maxFeePerGas, maxPriorityFeePerGas, to, valueAtomic, data, nonce } = decoded
  return payer.signTransaction({
    type: 'eip1559',
    chainId,
    gas,
    maxFeePerGas,
    maxPriorityFeePerGas,
    to: to as Hex,
    value: valueAtomic,
    data,
    nonce,
    ...changes,
  })
}

export function nonceOf(order: Pick<TenantOrder, 'transaction'>): number {
  const decoded = decodeTransaction(Buffer.from(order.transaction, 'base64'))
  if (!decoded.ok) throw new Error(decoded.problem.code)
  return decoded.nonce
}

/** Broadcasts an order's transaction; no block yet. */
export async function payOrder(
  t: Pick<Tenants, 'evm'>,
  payer: PrivateKeyAccount,
  order: Pick<TenantOrder, 'transaction'>,
  changes: Changes = {},
): Promise<Hex> {
  return t.evm.client.sendRawTransaction({
    serializedTransaction: await signOrder(payer, order, changes),
  })
}

/** The same on Solana; the signature. */
export function paySolanaOrder(
  t: Pick<Tenants, 'solana'>,
  payer: Keypair,
  order: Pick<TenantOrder, 'transaction'>,
): Promise<string> {
  const transaction = VersionedTransaction.deserialize(Buffer.from(order.transaction, 'base64'))
  transaction.sign([payer])
  return t.solana.connection.sendRawTransaction(transaction.serialize())
}

export function report(
  tenant: Pick<Tenant, 'api'>,
  order: Pick<TenantOrder, 'paymentId'>,
  signature: string,
  more: object = {},
): Promise<ApiReply> {
  return tenant.api.post('/transaction/submitted', {
    paymentId: order.paymentId,
    signature,
    ...more,
  })
}

/** Makes blocks until the service tells this of an order. */
export async function untilStatus(
  t: Tenants,
  { tenant, paymentId }: { tenant: Tenant; paymentId: string },
  statuses: readonly string[],
): Promise<unknown> {
  const { body } = await t.until(
    () => readStatus(tenant, paymentId),
    (reply) => statuses.includes(String(at(reply.body, 'status'))),
  )
  return body
}

export const untilPaid = (
  t: Tenants,
  tenant: Tenant,
  { paymentId }: Pick<TenantOrder, 'paymentId'>,
) => untilStatus(t, { tenant, paymentId }, ['confirmed', 'finalized'])

/** Makes blocks until a merchant's money that belongs to no order is listed with this transfer. @throws Error where the service has no such list */
export async function untilUnmatched(
  t: Tenants,
  tenant: Tenant,
  signature: string,
): Promise<UnmatchedRow> {
  succeed(await tenant.api.get('/unmatched'))
  const transfers = await t.until(
    () => readUnmatched(tenant),
    (list) => list.some((transfer) => transfer.signature === signature),
  )
  const transfer = transfers.find((each) => each.signature === signature)
  if (!transfer) throw new Error('The transfer is not there any more.')
  return transfer
}

/** Makes blocks until the service has decided on every one of these transfers, and has polled the chain again since. */
export async function untilDecided(
  t: Tenants,
  signatures: readonly string[],
  tenants: readonly Tenant[] = [t.a, t.b, t.c],
): Promise<LedgerView> {
  // More than the blocks for which equal candidates may wait for a report.
  await t.evm.mine(40)
  await t.until(
    () => readView(tenants),
    (view) => signatures.every((signature) => takersOf(view, signature).length > 0),
  )
  await untilMonitored(t)
  return readView(tenants)
}

/** An honest payment is made and found: the monitor has read everything that was on the chain before. */
export async function untilMonitored(t: Tenants): Promise<void> {
  const payer = await t.payer()
  const order = await buildOrder(t.b, {
    from: payer.address,
    to: t.b.payout.evm.address,
    amount: 0.001,
  })
  await payOrder(t, payer, order)
  await untilPaid(t, t.b, order)
}

/** What a payer's wallet sends to ask for all that is left of a payment. `reading`: `GET /refund-requests/:paymentId`. */
export async function signRefundRequest(
  { evm }: { evm: { network: Pick<Network, 'network'> } },
  payer: PrivateKeyAccount,
  reading: unknown,
): Promise<{ paymentId: string; number: number; signature: string }> {
  const paymentId = textAt(reading, 'paymentId')
  const number = Number(at(reading, 'next.number'))
  const { address: asset, symbol, decimals } = NATIVE_ETH
  const data = refundRequestTypedData({
    paymentId,
    number,
    network: evm.network.network,
    deployment: textAt(reading, 'next.deployment'),
    payer: payer.address,
    asset,
    symbol,
    decimals,
    amountAtomic: BigInt(textAt(reading, 'next.amountAtomic')),
    reason: '',
  })
  // Its addresses are in their normal form, which the types of viem cannot see.
  const typed = data as unknown as Parameters<typeof payer.signTypedData>[0]
  return { paymentId, number, signature: await payer.signTypedData(typed) }
}
