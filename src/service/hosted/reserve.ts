import type { PaymentIntent } from '#chains/intent.ts'
import { stringifyJson } from '#contract/json.ts'
import type { Network } from '#contract/network.ts'
import type { BuiltTransaction, SenderFunds } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { insertAttempt } from '../db/attempts.ts'
import { insertPayment } from '../db/payments.ts'
import { recordEvent } from '../db/record-event.ts'
import { signPayment } from '../wallets/sign.ts'
import type { WalletRecord } from '../db/wallets.ts'
import { allocateNonce, type NonceSlot } from './nonce-queue.ts'
import { reserveRefund, type Refund } from '../payments/reserve-refund.ts'
import { requireSending } from './require-sending.ts'
import type { PersistedPayment } from './recover-commit.ts'

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
 * `INVALID_PARAMETERS` when it refunds more than is left of a payment
 */
export async function reserve(
  context: Context,
  order: TransferOrder,
  { funds, wallet }: { funds: SenderFunds; wallet: WalletRecord },
): Promise<Reserved> {
  const { accountId, network, intent, built } = order
  const { paymentId, sender, amountAtomic } = intent
  const { feeAtomic } = built
  const at = context.now()
  return context.db.transaction(async (tx) => {
    const place = await allocateNonce(tx, { network, sender, funds, amountAtomic, feeAtomic })
    if (!place.ok) return place
    await requireSending(tx, { network: network.network, sender })
    if (order.refund) await reserveRefund(tx, order.refund, amountAtomic)
    context.atPoint?.('send:reserved')
    const { signed, paymentProof } = await signPayment({ signer: context.signer, wallet }, intent, {
      unsigned: built.bytes,
      nonce: place.nonce,
      resource: order.resource ?? null,
    })
    const { bytes, signature } = signed
    context.atPoint?.('send:signed')
    const lastValidBlockHeight = place.nonce === null ? built.lastValidBlockHeight : null
    const payment = await insertPayment(tx, {
      ...rowOf(order),
      nonce: place.nonce,
      lastValidBlockHeight,
      reportedSignature: signature,
      paymentProof,
      createdAt: at,
      updatedAt: at,
    })
    const attempt = await insertAttempt(tx, {
      paymentId,
      number: 1,
      network: network.network,
      signature,
      signedTransaction: Buffer.from(bytes).toString('base64'),
      paymentProof,
      nonce: place.nonce,
      lastValidBlockHeight,
      maxFee: feeAtomic,
      createdAt: at,
      broadcastAt: at,
    })
    await recordEvent(tx, {
      accountId,
      paymentId,
      status: 'created',
      source: 'service',
      blockHeight: null,
      at,
    })
    return { ok: true, payment, attempt }
  })
}

function rowOf({
  accountId,
  intent,
  built,
  priorityFeeAtomic,
  resource,
  metadata,
  refund,
  idempotency,
}: TransferOrder) {
  const { paymentId, network, asset, sender, recipient, amountAtomic } = intent
  return {
    id: paymentId,
    accountId,
    mode: 'hosted',
    status: 'created',
    network,
    asset: asset.address,
    symbol: asset.symbol,
    decimals: asset.decimals,
    amount: amountAtomic,
    sender,
    recipient,
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
