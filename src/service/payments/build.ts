import { formatAmount } from '#contract/amount.ts'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { LosslessNumber, stringifyJson } from '#contract/json.ts'
import { familyOf, nativeAsset, type Network } from '#contract/network.ts'
import { createPaymentId } from '#contract/payment.ts'
import type { Database } from '#postgres/open.ts'
import { proofTypedData } from '#x402/txid.ts'
import { type BuiltTransaction, notifyMonitor } from '../chains/chain.ts'
import type { Actor, Context } from '../context/context.ts'
import { readDeployment } from '../db/deployment.ts'
import type { PaymentRecord } from '../db/payments.ts'
import { recordPayment } from '../db/record-payment.ts'
import { checkRecipient, readIntent, refuseBuilt } from './read-intent.ts'
import { describeMoney, estimateConfirmation } from './describe-money.ts'
import { chainOf, refuseParameters } from '../context/network.ts'
import { evidenceRequest } from './attribution.ts'
import { reserveRefund, reserveReturn, returnedBy, type Refund } from './reserve-refund.ts'

type Body = EndpointInput<'transactionSend'>['body']
type Ready = Extract<BuiltTransaction, { ok: true }>

/** How long a built transaction is offered, in seconds. */
const VALID_S = 60

/**
 * Builds the unsigned transaction of a payment, simulates it, and records the payment before its bytes leave. `refund`: what it returns.
 * @throws `INVALID_PARAMETERS` (also where another payment refunds the transfer that it names), `INVALID_RECIPIENT`, `INSUFFICIENT_BALANCE`, `CHAIN_UNAVAILABLE`
 */
export async function buildTransaction(
  context: Context,
  actor: Actor,
  { refund, ...body }: Body & { refund?: Refund },
): Promise<EndpointReply<'transactionSend'>> {
  const parsed = readIntent(context.config.networks, body)
  if (!parsed.ok) throw refuseParameters(parsed.details)
  const { network, asset, amountAtomic } = parsed
  const sender = body.walletAddress
  const recipient = checkRecipient(body.recipientAddress, { network: network.network, sender })
  const chain = chainOf(context, network.network)
  const paymentId = createPaymentId()
  const intent = { paymentId, network: network.network, asset, sender, recipient, amountAtomic }
  const built = await chain.build(intent, {
    priorityFeeAtomic: parsed.priorityFeeAtomic,
    fingerprint: true,
  })
  if (!built.ok) throw refuseBuilt(built, body.recipientAddress)

  const at = context.now()
  const terms = {
    accountId: actor.accountId,
    network: network.network,
    asset: asset.address,
    recipient,
    amount: amountAtomic,
  }
  const record = (db: Database) =>
    recordPayment(
      db,
      {
        ...terms,
        id: paymentId,
        mode: 'local',
        status: 'created',
        symbol: asset.symbol,
        decimals: asset.decimals,
        sender,
        resource: body.resource ?? null,
        metadata: body.metadata ? stringifyJson(body.metadata) : null,
        unsignedTransaction: Buffer.from(built.bytes).toString('base64'),
        nonce: built.nonce ?? null,
        fingerprint: built.fingerprint ?? null,
        senderVerified: body.senderVerified ?? false,
        draft: body.senderVerified === false,
        ...refund,
        builtHeight: built.builtHeight,
        lastValidBlockHeight: built.lastValidBlockHeight,
        expiresAt: new Date(at.getTime() + VALID_S * 1000),
        createdAt: at,
        updatedAt: at,
      },
      { events: [{ status: 'created', source: 'service', blockHeight: null, at }] },
    )
  const returned = returnedBy(terms, body.metadata)
  // What refunds nothing locks nothing: its statement needs no transaction around it.
  const row = await (refund || returned
    ? context.db.transaction(async (tx) => {
        if (refund) await reserveRefund(tx, refund, amountAtomic)
        else if (returned) await reserveReturn(tx, returned)
        return record(tx)
      })
    : record(context.db))
  notifyMonitor(chain)
  return reply(row, built, { network, deployment: await readDeployment(context.db) })
}

function reply(
  row: PaymentRecord,
  built: Ready,
  { network, deployment }: { network: Network; deployment: string },
): EndpointReply<'transactionSend'> {
  const { decimals } = nativeAsset(network)
  return {
    success: true,
    transaction: Buffer.from(built.bytes).toString('base64'),
    encoding: built.encoding,
    lastValidBlockHeight: built.lastValidBlockHeight,
    expiresAt: row.createdAt.getTime() + VALID_S * 1000,
    paymentId: row.id,
    paymentProof: null,
    ...describeMoney(row),
    fee: {
      amount: new LosslessNumber(formatAmount(built.feeAtomic, decimals)),
      amountAtomic: built.feeAtomic.toString(),
      priorityFee: new LosslessNumber(formatAmount(built.priorityFeeAtomic, decimals)),
      rent: new LosslessNumber(formatAmount(built.rentAtomic ?? 0n, decimals)),
      rentAtomic: (built.rentAtomic ?? 0n).toString(),
    },
    estimatedConfirmation: estimateConfirmation(network),
    decoded: built.decoded,
    proofRequest: familyOf(row.network) === 'evm' ? proofRequest(row) : null,
    evidence: {
      fingerprint: row.fingerprint !== null,
      request: evidenceRequest(row, deployment),
    },
  }
}

/** What the payer signs once the transaction has a hash; the hash goes into `message.txRef`. */
function proofRequest(row: PaymentRecord): Record<string, unknown> {
  return proofTypedData({
    network: row.network,
    from: row.sender,
    payTo: row.recipient,
    asset: row.asset,
    amountAtomic: row.amount,
    maxTimeoutSeconds: VALID_S,
    resource: row.resource === null ? {} : { url: row.resource },
  })
}
