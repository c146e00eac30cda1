import { keccak_256 } from '@noble/hashes/sha3.js'
import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { isHashSignedByEvm } from '#chains/evm/verify-signature.ts'
import { isSignedBySolana } from '#chains/solana/signature.ts'
import { formatAmount } from '#contract/amount.ts'
import { type HostedIntent, intentText, intentTypedData } from '#contract/hosted-intent.ts'
import { LosslessNumber } from '#contract/json.ts'
import { familyOf, type Asset } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import { limitProblem } from '#contract/reason-problems.ts'
import type { LimitReason, RefusalCode } from '#contract/reasons.ts'
import { findRule, type HostedRule } from '../config/hosted-rules.ts'
import type { ProxyContext } from '../context/context.ts'
import { moveIntent, setSent, type HostedRow } from '../db/hosted.ts'
import { spender } from '../session/rule.ts'
import type { Visitor } from '../session/visitor.ts'
import { ForwardedError } from '../upstream/problem.ts'
import { UPSTREAM_TIMEOUT_MS } from '../upstream/upstream.ts'

/** Why a payment from a managed wallet is not made. Every one of them is certain: nothing was sent. */
const REFUSALS = {
  hosted_off: 'Payments from managed wallets are turned off.',
  hosted_wallet: 'Payments from this wallet in this asset are not enabled.',
  hosted_signer: 'Sign with an operator wallet of this session, on the same kind of network.',
  hosted_intent: 'There is no such payment to sign in this session.',
  hosted_expired: 'Too much time passed before it was signed. Prepare it again.',
  hosted_used: 'This was already signed and sent. Another signature does not send it again.',
  hosted_signature: 'The signature is not over this payment, or not of the wallet it was made for.',
  hosted_not_sent: 'It never reached the payment service. Nothing was sent; prepare it again.',
} as const satisfies Partial<Record<RefusalCode, string>>
export type HostedRefusal = keyof typeof REFUSALS

export function refuseHosted(reason: HostedRefusal): ProblemError {
  const code = reason === 'hosted_intent' ? 'NOT_FOUND' : 'FORBIDDEN'
  return new ProblemError(code, { message: REFUSALS[reason], reason })
}

/** The payment is above a limit of the operator. `left`: the most that it may be now. */
export function refuseOverLimit(
  code: Extract<LimitReason['code'], `hosted_${string}`>,
  left: bigint,
  { address, symbol, decimals }: Asset,
): ProblemError {
  const maximum = { amountAtomic: left < 0n ? 0n : left, asset: address, symbol, decimals }
  return limitProblem({ code, params: { maximum } })
}

/** `restoredAt`: the service lost what it may have made before then, and nobody will tell. */
export type SendOutcome = {
  state: 'sent' | 'unknown'
  paymentId: string | null
  restoredAt: number | null
}
const UNKNOWN = { state: 'unknown', paymentId: null, restoredAt: null } as const

export function sent(paymentId: string | null): SendOutcome {
  return { state: 'sent', paymentId, restoredAt: null }
}

type Asking = { context: ProxyContext; visitor: Visitor; requestId: string }

/** A request that was under way when the time for new ones was over has ended by then. */
const SETTLED_AFTER_MS = 2 * 60_000
/** What the clocks of this program and of the service may differ by. */
const CLOCKS_MS = 60 * 60_000
/** The service says these before it keeps a payment, and never after. */
const BEFORE_PERSISTED = new Set([
  'INVALID_PARAMETERS',
  'INVALID_RECIPIENT',
  'INSUFFICIENT_BALANCE',
  'SIGNING_REFUSED',
  'RATE_LIMIT',
  'CHAIN_UNAVAILABLE',
])

/** Until then only the request that took the intent asks the service: its answer has come, or has not come in time. */
const EXCLUSIVE_REQUEST_MS = UPSTREAM_TIMEOUT_MS + 5_000

/*
 * Two requests about one intent, a crash between any two commits, and an answer that is lost:
 *
 * 1. `open` to `sending`, or to `refused`, is one commit before the service is asked. Who is refused an open intent is refused for all; who is too
 *    late for it is told what became of it.
 * 2. The service is asked under one key, so there is one payment, unless it refused: that frees the key, and another request under it may pay.
 * 3. Only who took the intent calls such a refusal certain, and only while nobody else has asked: `sending` to `repeated` is a commit before any other
 *    request, and `sending` to `refused` fails after it. No clock decides this; `EXCLUSIVE_REQUEST_MS` keeps a refusal certain that comes in time.
 * 4. A crash before the service is asked, during it, or after it leaves `sending`, which counts against the cap. A repetition asks again under the key.
 * 5. After its time nobody asks any more. The payment is looked for among those that were made, and only without one the intent is `refused`. Here alone
 *    time decides: a process that stood still for `SETTLED_AFTER_MS` between the commit and its request could still pay.
 * 6. A service that was restored from a backup since does not know what it made before: then nothing is concluded, and the intent counts against the
 *    cap for its day.
 * 7. `sent` replaces every state: it comes with the id of a payment.
 */

/** Has the service pay, for the first time. A refusal that comes before anything is kept is certain: nothing was sent. Any other answer is not. */
export async function sendApproved(
  asking: Asking,
  row: HostedRow,
  rule: HostedRule,
): Promise<SendOutcome> {
  const { context, requestId } = asking
  try {
    // Its budget was charged before the intent was taken.
    return await send(asking, { row, rule, spend: () => undefined })
  } catch (error) {
    if (
      error instanceof ForwardedError &&
      BEFORE_PERSISTED.has(error.code) &&
      (await moveIntent(context.db, row.id, { from: ['sending'], to: 'refused' }))
    )
      throw error
    context.log.warn(
      { err: error, requestId },
      'a payment from a managed wallet has no certain answer yet',
    )
    return UNKNOWN
  }
}

type Sending = { row: HostedRow; rule: HostedRule; spend: () => void }

/** The idempotency key is the intent's: however often this is asked, there is one payment. */
async function send(
  { context, requestId }: Asking,
  { row, rule, spend }: Sending,
): Promise<SendOutcome> {
  const request = {
    body: requestOf(row, rule),
    requestId,
    idempotencyKey: `hosted-${row.id}`,
    prefer: 'respond-async',
    once: true,
  }
  const { parsed } = await context.upstream.write(
    row.refundOf === null ? 'paymentSend' : 'paymentRefund',
    request,
    spend,
  )
  await setSent(context.db, row.id, parsed.paymentId)
  return sent(parsed.paymentId)
}

/**
 * Finds out what became of a request whose answer got lost. While its time lasts it is asked again under the same key, and no refusal then says
 * anything about the first time; after that the payment is only looked for. Undefined where it was decided meanwhile.
 */
export async function recoverOutcome(
  asking: Asking,
  row: HostedRow,
): Promise<SendOutcome | undefined> {
  const { context, visitor } = asking
  const now = context.now().getTime()
  if (row.state === 'sending' && now < (row.takenAt?.getTime() ?? 0) + EXCLUSIVE_REQUEST_MS)
    return UNKNOWN
  const rule = findRule(context.config.hosted, row)
  if (rule && row.expiresAt.getTime() > now) {
    if (!(await moveIntent(context.db, row.id, { from: UNDECIDED, to: 'repeated' })))
      return undefined
    try {
      const spend = () => context.budgets.spend(spender(visitor), 'action')
      return await send(asking, { row, rule, spend })
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      return UNKNOWN
    }
  }
  const { paymentId, restoredAt } = await findMade(asking, row)
  if (paymentId !== undefined) {
    await setSent(context.db, row.id, paymentId)
    return sent(paymentId)
  }
  if (now < row.expiresAt.getTime() + SETTLED_AFTER_MS) return UNKNOWN
  if (restoredAt !== null && restoredAt > row.createdAt.getTime() - CLOCKS_MS)
    return { ...UNKNOWN, restoredAt }
  if (!(await moveIntent(context.db, row.id, { from: UNDECIDED, to: 'refused' }))) return undefined
  throw refuseHosted('hosted_not_sent')
}

const UNDECIDED = ['sending', 'repeated'] as const

/** The payment that was made for an intent, among all that its wallet made around that time and the service still knows. */
async function findMade(
  { context, visitor, requestId }: Asking,
  row: HostedRow,
): Promise<{ paymentId: string | undefined; restoredAt: number | null }> {
  const [since, until] = [
    row.createdAt.getTime() - CLOCKS_MS,
    row.expiresAt.getTime() + SETTLED_AFTER_MS + CLOCKS_MS,
  ]
  const around = {
    wallets: row.sender,
    type: 'sent',
    network: row.network,
    since: String(since),
    until: String(until),
    limit: '500',
  }
  let cursor: string | null = null
  let restoredAt: number | null
  do {
    const query: Record<string, string> = cursor === null ? around : { ...around, cursor }
    const { parsed } = await context.upstream.read('paymentList', { query, requestId }, () =>
      context.budgets.spend(spender(visitor), 'tail'),
    )
    const found = parsed.payments.find(({ metadata }) => metadata?.['hostedIntent'] === row.id)
    restoredAt = parsed.restoredAt
    if (found) return { paymentId: found.paymentId, restoredAt }
    cursor = parsed.nextCursor
  } while (cursor !== null)
  return { paymentId: undefined, restoredAt }
}

function requestOf(row: HostedRow, { asset }: HostedRule): Record<string, unknown> {
  const amount = new LosslessNumber(formatAmount(row.amount, asset.decimals))
  const fee = row.priorityFee !== null && { priorityFee: new LosslessNumber(row.priorityFee) }
  if (row.refundOf !== null)
    return {
      paymentId: row.refundOf,
      walletAddress: row.sender,
      amount,
      ...(row.description !== null && { reason: row.description }),
      ...fee,
      metadata: { hostedIntent: row.id },
    }
  const metadata = {
    ...(row.description !== null && { description: row.description }),
    ...(row.reference !== null && { referenceId: row.reference }),
    hostedIntent: row.id,
  }
  return {
    walletAddress: row.sender,
    recipientAddress: row.recipient,
    amount,
    network: row.network,
    ...(!asset.native && { asset: asset.address }),
    ...fee,
    ...(row.resource !== null && { resource: row.resource }),
    metadata,
  }
}

/** What has to be signed, from what is kept. */
export function toHostedIntent(row: HostedRow, { asset }: HostedRule): HostedIntent {
  return {
    nonce: row.id,
    network: row.network,
    from: row.sender,
    to: row.recipient,
    asset: row.asset,
    symbol: asset.symbol,
    decimals: asset.decimals,
    amountAtomic: row.amount.toString(),
    priorityFee: row.priorityFee ?? '',
    resource: row.resource ?? '',
    description: row.description ?? '',
    reference: row.reference ?? '',
    refundOf: row.refundOf ?? '',
    expiresAt: Math.floor(row.expiresAt.getTime() / 1000),
  }
}

/** Whether `signer` itself signed exactly this payment. */
export function isIntentSigned(signer: string, intent: HostedIntent, signature: string): boolean {
  return familyOf(intent.network) === 'evm'
    ? isHashSignedByEvm(signer, intentHash(intent), signature)
    : isSignedBySolana(signer, intentText(intent), signature)
}

/** EIP-712 over a flat struct of addresses, numbers and texts. */
export function intentHash(intent: HostedIntent): Uint8Array {
  const { domain, types, message } = intentTypedData(intent)
  const fields = types.HostedPayment
  const domainFields = [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
  ] as const
  const separator = structHash('EIP712Domain', domainFields, {
    ...domain,
    chainId: String(domain.chainId),
  })
  return keccak_256(
    concatBytes(Uint8Array.of(0x19, 0x01), separator, structHash('HostedPayment', fields, message)),
  )
}

type Field = { name: string; type: 'address' | 'uint256' | 'string' }

function structHash(
  name: string,
  fields: readonly Field[],
  values: Readonly<Record<string, string>>,
): Uint8Array {
  const type = `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`
  return keccak_256(
    concatBytes(
      keccak_256(utf8ToBytes(type)),
      ...fields.map((field) => word(field, values[field.name] ?? '')),
    ),
  )
}

function word({ type }: Field, value: string): Uint8Array {
  if (type === 'string') return keccak_256(utf8ToBytes(value))
  const hex = type === 'address' ? value.slice(2).toLowerCase() : BigInt(value).toString(16)
  return hexToBytes(hex.padStart(64, '0'))
}
