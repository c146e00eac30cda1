import { and, eq, inArray, isNull, lt, or, sql, type SQL } from 'drizzle-orm'
import { hashTypedData, hexToBytes } from 'viem'
import { isHashSignedByEvm } from '#chains/evm/verify-signature.ts'
import { TOKEN_PROGRAMS } from '#chains/solana/programs.ts'
import { associatedTokenAccount } from '#chains/solana/token-account.ts'
import { SOLANA_NATIVE } from '#contract/address.ts'
import { familyOf } from '#contract/network.ts'
import { payerEvidenceRequest, type PayerEvidenceRequest } from '#contract/payer-evidence.ts'
import type { Evidence } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import type { ObservedTransfer, TransferBlock } from '../chains/chain.ts'
import type { Actor } from '../context/context.ts'
import { KEYLESS_SCOPE, type Claimant } from '../db/claims.ts'
import { findPayment, type MonitoredRecord, type PaymentRecord } from '../db/payments.ts'
import { attempt, payment } from '../db/schema/payment.ts'
import { findOwner } from '../db/wallet-owners.ts'
import { readMetadata } from './describe-money.ts'

/**
 * Decides which order a transfer pays. The parties and the amount of an EVM transfer are public and
 * anybody can have an equal order built, so they are no evidence: an order is confirmed only by
 * what its payer alone can provide. One function decides for reports, the monitor and proofs.
 */

type Order = Pick<
  PaymentRecord,
  | 'id'
  | 'mode'
  | 'network'
  | 'status'
  | 'draft'
  | 'senderVerified'
  | 'fingerprint'
  | 'payerNonce'
  | 'payerSignature'
  | 'builtHeight'
  | 'nonce'
  | 'reportedSignature'
  | 'signature'
  | 'createdAt'
>

/**
 * A transfer that landed or is pending; `senderOwned`: the account whose orders are checked owns
 * the sender.
 */
export type SeenTransfer = { transfer: ObservedTransfer; signature: string; senderOwned: boolean }

/** What ties a transfer to an order whose terms it meets; null when nothing does. */
export function evidenceOf(
  order: Order,
  { transfer, senderOwned }: Omit<SeenTransfer, 'signature'>,
): Evidence | null {
  if (order.mode === 'hosted') return 'hosted'
  // Its memo has been compared with the order's id.
  if (familyOf(order.network) === 'solana') return 'memo'
  if (
    order.payerSignature !== null &&
    order.payerNonce !== null &&
    order.payerNonce === transfer.nonce
  )
    return 'payer_signature'
  if (hasFingerprint(order, transfer)) return 'fingerprint'
  // A caller that is not signed in may name any sender, even the account's own wallets.
  return order.senderVerified || (senderOwned && !order.draft) ? 'sender' : null
}

/** Whether a transfer has the order's fees, or replaces one in the pool that had them: a replacement keeps the nonce. */
function hasFingerprint(
  { fingerprint, payerNonce, payerSignature }: Order,
  transfer: ObservedTransfer,
): boolean {
  if (payerSignature === null && payerNonce !== null && payerNonce === transfer.nonce) return true
  return fingerprint !== null && fingerprint === transfer.fingerprint
}

/**
 * Whether a transfer was made after an EVM order. One with the order's fingerprint was, in any block: its digits are random. A payer may sign for each of
 * its transfers, and a proven sender has made all of them, so these must have landed above the block that the order was built on; or, where a reorganization
 * replaced that block, in one that is younger than the order.
 */
function isMadeAfter(
  order: Order,
  transfer: ObservedTransfer,
  { height, blockTime }: TransferBlock,
): boolean {
  const { builtHeight, createdAt } = order
  return (
    hasFingerprint(order, transfer) ||
    (builtHeight !== null && height > builtHeight) ||
    (blockTime !== null && blockTime > createdAt)
  )
}

/** `isMadeAfter` as a database condition. */
function madeAfter(
  { nonce, fingerprint }: ObservedTransfer,
  { height, blockTime }: TransferBlock,
): SQL | undefined {
  return or(
    lt(payment.builtHeight, height),
    blockTime === null ? undefined : lt(payment.createdAt, blockTime),
    fingerprint === undefined ? undefined : eq(payment.fingerprint, fingerprint),
    nonce === null ? undefined : and(isNull(payment.payerSignature), eq(payment.payerNonce, nonce)),
  )
}

export type AttributionChoice<T> = { orders: readonly T[]; evidence: Evidence }

const STRONGEST_FIRST: readonly Evidence[] = [
  'hosted',
  'memo',
  'payer_signature',
  'fingerprint',
  'sender',
]

/**
 * Of one account's orders whose terms a transfer meets, those with the strongest evidence, best
 * first. If that is the sender, they are all of one payer: then the one reported with this
 * transaction; else those built with this nonce; open before expired, newer before older. More than
 * one means that the payer's report may still name one of them.
 */
export function chooseOrder<T extends Order>(
  orders: readonly T[],
  seen: SeenTransfer,
): AttributionChoice<T> | null {
  const byEvidence = Map.groupBy(orders, (order) => evidenceOf(order, seen))
  const evidence = STRONGEST_FIRST.find((each) => byEvidence.has(each))
  if (evidence === undefined) return null
  const tied = byEvidence.get(evidence) ?? []
  const { transfer, signature } = seen
  const open = tied.filter(({ status }) => status !== 'expired')
  const narrowed = [
    tied.filter((order) => order.signature === signature),
    tied.filter((order) => order.reportedSignature === signature),
    open.filter((order) => order.nonce === transfer.nonce),
    open,
    tied.filter((order) => order.nonce === transfer.nonce),
    tied,
  ].find((group) => group.length > 0)
  const newestFirst = (narrowed ?? []).toSorted(
    (a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1),
  )
  return { orders: newestFirst, evidence }
}

/**
 * What ties a transfer to this order, among all orders of its account that it could pay; null when
 * nothing does, or when it belongs to another order.
 * @param block that the transfer is in; null while it is in the pool
 */
export async function attribute(
  tx: Database,
  row: PaymentRecord,
  {
    transfer,
    signature,
    block,
  }: { transfer: ObservedTransfer; signature: string; block: TransferBlock | null },
): Promise<Evidence | null> {
  if (row.mode !== 'local' || familyOf(row.network) !== 'evm')
    return evidenceOf(row, { transfer, senderOwned: false })
  // Of any account: what the service signed for a hosted payment pays no order that somebody had
  // built.
  if (await findHosted(tx, row.network, signature)) return null
  const senderOwned = (await findOwner(tx, row.network, row.sender)) === row.accountId
  const rivals = await readRivals(tx, row, { transfer, signature, block, senderOwned })
  const choice = chooseOrder(rivals, { transfer, signature, senderOwned })
  return choice?.orders[0]?.id === row.id ? choice.evidence : null
}

type Landing = SeenTransfer & { block: TransferBlock | null }
type Ledger = { accountId: string; network: string }

/**
 * The orders with the same terms that have any evidence for this transfer. Others, however many
 * were planted, are not read.
 */
function readRivals(
  tx: Database,
  ledger: Ledger,
  { transfer, signature, block, senderOwned }: Landing,
): Promise<PaymentRecord[]> {
  return tx
    .select()
    .from(payment)
    .where(
      and(
        meetsTerms(ledger, transfer),
        // A transaction that a reorg has dropped no longer pays anything.
        or(
          isNull(payment.signature),
          eq(payment.signature, signature),
          eq(payment.status, 'rolled_back'),
        ),
        block === null ? undefined : madeAfter(transfer, block),
        hasEvidence(transfer, senderOwned),
      ),
    )
}

/** Orders of an account that may still be paid, with the terms of a transfer. */
function meetsTerms(
  { accountId, network }: Ledger,
  { sender, recipient, asset, amountAtomic }: ObservedTransfer,
): SQL | undefined {
  return and(
    eq(payment.accountId, accountId),
    eq(payment.sender, sender),
    eq(payment.recipient, recipient),
    eq(payment.network, network),
    eq(payment.asset, asset),
    eq(payment.amount, amountAtomic),
    eq(payment.mode, 'local'),
    inArray(payment.status, ['created', 'pending', 'rolled_back', 'expired']),
  )
}

/**
 * Whether a proof for a resource may adopt an order. One that names no resource, or that belongs to
 * a payment link, is paid by its transfer alone: a proof would buy a second thing with it.
 */
export function isAdoptable(
  order: Pick<PaymentRecord, 'resource' | 'metadata'>,
  resource: string | null,
): boolean {
  return (
    resource !== null &&
    order.resource === resource &&
    readMetadata(order.metadata)?.paymentLink === undefined
  )
}

/**
 * The order that a proof of this transfer may adopt: with evidence, and built for exactly this
 * resource.
 */
export async function findAdoptable(
  tx: Database,
  { resource, ...landing }: Ledger & Omit<Landing, 'senderOwned'> & { resource: string | null },
): Promise<PaymentRecord | undefined> {
  if (resource === null) return undefined
  const { accountId, network, transfer, signature, block } = landing
  const hosted = await findHosted(tx, network, signature)
  if (hosted)
    return hosted.accountId === accountId &&
      isAdoptable(hosted, resource) &&
      matchesPayment(hosted, transfer, block)
      ? hosted
      : undefined
  if (familyOf(network) === 'solana') {
    const named = transfer.memo === null ? undefined : await findPayment(tx, transfer.memo)
    if (
      named?.accountId !== accountId ||
      !isAdoptable(named, resource) ||
      named.mode !== 'local' ||
      !matchesPayment(named, transfer, block)
    )
      return undefined
    // A second transfer with its memo is another payment.
    return named.signature === null || named.signature === signature ? named : undefined
  }
  const senderOwned = (await findOwner(tx, network, transfer.sender)) === accountId
  const rivals = await readRivals(
    tx,
    { accountId, network },
    { transfer, signature, block, senderOwned },
  )
  const choice = chooseOrder(
    rivals.filter((row) => isAdoptable(row, resource)),
    { transfer, signature, senderOwned },
  )
  return choice?.orders[0]
}

/** `evidenceOf` as a database condition. */
function hasEvidence(
  { nonce, fingerprint }: ObservedTransfer,
  senderOwned: boolean,
): SQL | undefined {
  return or(
    nonce === null ? undefined : eq(payment.payerNonce, nonce),
    fingerprint === undefined ? undefined : eq(payment.fingerprint, fingerprint),
    eq(payment.senderVerified, true),
    senderOwned ? sql`not ${payment.draft}` : undefined,
  )
}

/** The hosted payment that the service signed a transaction for. */
export async function findHosted(
  db: Database,
  network: string,
  signature: string,
): Promise<PaymentRecord | undefined> {
  const [row] = await db
    .select({ payment })
    .from(attempt)
    .innerJoin(payment, eq(payment.id, attempt.paymentId))
    .where(
      and(
        eq(attempt.network, network),
        eq(attempt.signature, signature),
        eq(payment.mode, 'hosted'),
      ),
    )
  return row?.payment
}

/**
 * Unsettled orders whose terms a transfer fits, regardless of their evidence, drafts last: the
 * candidates for unmatched money, at most 50.
 */
export function fittingOrders(
  db: Database,
  ledger: Ledger,
  { transfer, block }: { transfer: ObservedTransfer; block: TransferBlock },
): Promise<PaymentRecord[]> {
  return db
    .select()
    .from(payment)
    .where(and(meetsTerms(ledger, transfer), isNull(payment.signature), madeAfter(transfer, block)))
    .orderBy(payment.draft, payment.createdAt, payment.id)
    .limit(50)
}

export const PAYEE_NOT_OWNED = 'payee_not_owned'

/**
 * Who uses up transfers to a payee for a caller. A payee without an owner may be used by any account, which binds only that account; one with an owner, by
 * its owner alone.
 * @throws `FORBIDDEN`, `payee_not_owned`
 */
export async function claimantOf(
  db: Database,
  actor: Pick<Actor, 'accountId' | 'keyless'>,
  payee: { network: string; address: string },
): Promise<Claimant> {
  const { accountId, keyless = false } = actor
  const owner = await findOwner(db, payee.network, payee.address)
  if (owner !== undefined && (keyless || owner !== accountId)) throw refusePayee(payee.address)
  return { scope: keyless ? KEYLESS_SCOPE : accountId, accountId, exclusive: owner !== undefined }
}

/** Who uses up the transfer that pays an order; null where the order is the bookkeeping of a payer, whose payee belongs to another account. */
export async function claimantOfOrder(
  tx: Database,
  { accountId, network, recipient }: PaymentRecord,
): Promise<Claimant | null> {
  const owner = await findOwner(tx, network, recipient)
  return owner === undefined || owner === accountId
    ? { scope: accountId, accountId, exclusive: owner !== undefined }
    : null
}

export function refusePayee(payee: string): ProblemError {
  const message = `The wallet ${payee} belongs to another account, which alone can receive payments to it. Use the key of that account.`
  return new ProblemError('FORBIDDEN', {
    message,
    reason: PAYEE_NOT_OWNED,
    details: { walletAddress: 'Expected a wallet of this account.' },
  })
}

/**
 * Whether a transfer on the chain is this payment: the parties, the asset, the exact amount; on Solana the memo that names it. EVM has none: what the
 * service signed has its nonce, and no other transfer pays an order that was built after it.
 * @param block that the transfer is in; null while it is in the pool
 */
export function matchesPayment(
  payment: MonitoredRecord,
  transfer: ObservedTransfer | null | undefined,
  block: TransferBlock | null,
): transfer is ObservedTransfer {
  if (!transfer) return false
  const same =
    transfer.sender === payment.sender &&
    (transfer.recipient === payment.recipient || isAccountOf(payment, transfer)) &&
    transfer.asset === payment.asset &&
    transfer.amountAtomic === payment.amount
  if (!same) return false
  // A proof that was handed in has bound this very transaction to the payment.
  if (payment.mode === 'received') return true
  if (familyOf(payment.network) === 'solana') return transfer.memo === payment.id
  // What the service signed has the nonce of its place in the nonce queue.
  if (payment.mode === 'hosted') return transfer.nonce === payment.nonce
  return block === null || isMadeAfter(payment, transfer, block)
}

/** A failed transfer of tokens: the chain does not name its recipient, so it is listed with the account that it was meant for. */
function isAccountOf(
  { network, recipient, asset }: MonitoredRecord,
  transfer: ObservedTransfer,
): boolean {
  if (familyOf(network) !== 'solana' || asset === SOLANA_NATIVE) return false
  return TOKEN_PROGRAMS.some(
    (program) =>
      associatedTokenAccount({ owner: recipient, mint: asset, program }).address ===
      transfer.recipient,
  )
}

/** What the payer of an EVM order signs to say that it is theirs; null where the order needs none. `nonce`: of the transaction that pays it. */
export function evidenceRequest(
  row: PaymentRecord,
  deployment: string,
  nonce = row.nonce,
): PayerEvidenceRequest | null {
  if (row.mode !== 'local' || familyOf(row.network) !== 'evm' || nonce === null) return null
  const { id: paymentId, network, sender, recipient, asset, amount: amountAtomic } = row
  return payerEvidenceRequest({
    paymentId,
    network,
    deployment,
    sender,
    nonce,
    recipient,
    asset,
    amountAtomic,
  })
}

/** Whether the order's sender itself signed that its transaction with this nonce pays the order. */
export function isPayerSignature(
  row: PaymentRecord,
  deployment: string,
  signed: { nonce: number; signature: string },
): boolean {
  const request = evidenceRequest(row, deployment, signed.nonce)
  return (
    request !== null &&
    isHashSignedByEvm(row.sender, hexToBytes(hashTypedData(typed(request))), signed.signature)
  )
}

/** Addresses are in their normal form by now, which the types of viem cannot see. */
function typed(request: PayerEvidenceRequest): Parameters<typeof hashTypedData>[0] {
  return request as unknown as Parameters<typeof hashTypedData>[0]
}
