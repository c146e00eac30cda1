import type { PaymentIntent } from '#chains/match.ts'
import { stringifyJson } from '#contract/json.ts'
import type { Network } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import { isDatabaseUnavailable, isRolledBack } from '#postgres/open.ts'
import type { BuiltTransaction, SenderFunds } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { readAttempts, type AttemptRecord } from '../db/attempts.ts'
import { lockNonceQueue, type NonceQueue } from '../db/nonce-queue.ts'
import { findPayment, type PaymentRecord } from '../db/payments.ts'
import { recordPayment } from '../db/record-payment.ts'
import type { WalletRecord } from '../db/wallet-ledger.ts'
import {
  reserveRefund,
  reserveReturn,
  returnedBy,
  type Refund,
} from '../payments/reserve-refund.ts'
import { signPayment } from '../wallets/sign.ts'
import { allocateNonce, type NonceSlot } from './nonce-queue.ts'
import { requireSending } from './require-sending.ts'

export type PersistedPayment = { payment: PaymentRecord; attempt: AttemptRecord }

const LOOKS = 4
const PAUSE_MS = 500

/**
 * Finds out whether a payment was stored whose commit broke off. Locking its nonce queue waits for that
 * commit to end, either way.
 * @throws the error itself when nothing was stored; `SERVICE_UNAVAILABLE` that names the payment
 * when it stays unknown
 */
export async function recoverCommit(
  context: Context,
  { paymentId, nonceQueue, error }: { paymentId: string; nonceQueue: NonceQueue; error: unknown },
): Promise<PersistedPayment> {
  if (!isDatabaseUnavailable(error) || isRolledBack(error)) throw error
  for (let look = 1; ; look++) {
    try {
      const persisted = await findPersisted(context, paymentId, nonceQueue)
      if (persisted) return persisted
      break
    } catch (again) {
      if (look === LOOKS) throw unknown(paymentId, again)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
  throw error
}

async function findPersisted(
  context: Context,
  paymentId: string,
  nonceQueue: NonceQueue,
): Promise<PersistedPayment | undefined> {
  return context.db.transaction(async (tx) => {
    await lockNonceQueue(tx, nonceQueue)
    const payment = await findPayment(tx, paymentId)
    const [attempt] = payment ? await readAttempts(tx, paymentId) : []
    return payment && attempt && { payment, attempt }
  })
}

function unknown(paymentId: string, cause: unknown): ProblemError {
  const message =
    'The database was lost while the payment was being kept: whether it is made is not known. ' +
    'GET /payment/status/:paymentId tells, and so does the same request under the same Idempotency-Key.'
  return new ProblemError(
    'SERVICE_UNAVAILABLE',
    { message, details: { paymentId, decided: false }, retryAfter: 2 },
    { cause },
  )
}

export type TransferOrder = {
  accountId: string
  network: Network
  intent: PaymentIntent
  built: Extract<BuiltTransaction, { ok: true }>
  priorityFeeAtomic: bigint | undefined
  resource: string | undefined
  metadata: Record<string, unknown> | undefined
  /** What it refunds. */
  refund: Refund | undefined
  idempotency: { key: string; fingerprint: string } | undefined
}

type Reserved = ({ ok: true } & PersistedPayment) | Extract<NonceSlot, { ok: false }>

/**
 * Takes the funds and a nonce, signs, and stores payment and signed bytes, all in one commit:
 * before it nothing exists, after it the payment is executed even if this process dies. Nothing is
 * stored when the wallet cannot cover it on top of what is under way.
 * @throws `SERVICE_UNAVAILABLE` when the wallet is stopped or the signer away; `SIGNING_REFUSED`;
 * `INVALID_PARAMETERS` when it refunds more than is left of a payment, or a transfer that another payment refunds
 */
export async function reserve(
  context: Context,
  order: TransferOrder,
  { funds, wallet }: { funds: SenderFunds; wallet: WalletRecord },
): Promise<Reserved> {
  const { network, intent, built } = order
  const { paymentId, sender, amountAtomic } = intent
  const { feeAtomic } = built
  const at = context.now()
  const returned = returnedBy(termsOf(order), order.metadata)
  return context.db.transaction(async (tx) => {
    const place = await allocateNonce(tx, { network, sender, funds, amountAtomic, feeAtomic })
    if (!place.ok) return place
    await requireSending(tx, { network: network.network, sender })
    if (order.refund) await reserveRefund(tx, order.refund, amountAtomic)
    else if (returned) await reserveReturn(tx, returned)
    context.atPoint?.('send:reserved')
    const { signed, paymentProof } = await signPayment({ signer: context.signer, wallet }, intent, {
      unsigned: built.bytes,
      nonce: place.nonce,
      resource: order.resource ?? null,
    })
    const { bytes, signature } = signed
    context.atPoint?.('send:signed')
    const lastValidBlockHeight = place.nonce === null ? built.lastValidBlockHeight : null
    const attempt = {
      paymentId,
      number: 1,
      network: network.network,
      signer: null,
      signature,
      signedTransaction: Buffer.from(bytes).toString('base64'),
      paymentProof,
      nonce: place.nonce,
      lastValidBlockHeight,
      maxFee: feeAtomic,
      createdAt: at,
      broadcastAt: at,
    }
    const row = {
      ...rowOf(order),
      nonce: place.nonce,
      lastValidBlockHeight,
      reportedSignature: signature,
      paymentProof,
      createdAt: at,
      updatedAt: at,
    }
    const created = { status: 'created', source: 'service', blockHeight: null, at } as const
    const payment = await recordPayment(tx, row, { events: [created], signed: attempt })
    return { ok: true, payment, attempt }
  })
}

function termsOf({ accountId, intent }: TransferOrder) {
  const { network, asset, recipient, amountAtomic: amount } = intent
  return { accountId, network, asset: asset.address, recipient, amount }
}

function rowOf(order: TransferOrder) {
  const { intent, built, priorityFeeAtomic, resource, metadata, refund, idempotency } = order
  const { paymentId, asset, sender } = intent
  return {
    ...termsOf(order),
    id: paymentId,
    mode: 'hosted',
    status: 'created',
    symbol: asset.symbol,
    decimals: asset.decimals,
    sender,
    resource: resource ?? null,
    metadata: metadata ? stringifyJson(metadata) : null,
    ...refund,
    builtHeight: built.builtHeight,
    priorityFee: priorityFeeAtomic ?? null,
    maxFee: built.feeAtomic,
    idempotencyKey: idempotency?.key ?? null,
    idempotencyFingerprint: idempotency?.fingerprint ?? null,
  } as const
}
