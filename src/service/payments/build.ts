import { describeAmountProblem, formatAmount, parseAmount } from '#contract/amount.ts'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { describe } from '#contract/fields.ts'
import { LosslessNumber, stringifyJson } from '#contract/json.ts'
import { familyOf, findAsset, nativeAsset, type Asset, type Network } from '#contract/network.ts'
import { createPaymentId } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import { proofTypedData } from '#x402/txid.ts'
import type { Built } from '../chains/chain.ts'
import type { Actor, Context } from '../context.ts'
import { insertPayment, type PaymentRecord } from '../db/payments.ts'
import { recordEvent } from '../events/record.ts'
import { wakeWatcher } from '../watchers/wake.ts'
import { checkRecipient, isNobody } from './check-recipient.ts'
import { chainOf, chooseNetwork, refuseParameters } from './network.ts'

type Body = EndpointInput<'transactionSend'>['body']
type Ready = Extract<Built, { ok: true }>
type Wish = { network: Network; asset: Asset; amountAtomic: bigint; priorityFeeAtomic: bigint | undefined }

/** How long a built transaction is offered, in seconds. */
const VALID_S = 60

/**
 * Builds the unsigned transaction of a payment, simulates it, and records the payment before its bytes leave.
 * @throws `INVALID_PARAMETERS`, `INVALID_RECIPIENT`, `INSUFFICIENT_BALANCE`, `CHAIN_UNAVAILABLE`
 */
export async function buildTransaction(context: Context, actor: Actor, body: Body): Promise<EndpointReply<'transactionSend'>> {
  const wish = readWish(context, body)
  const { network, asset, amountAtomic } = wish
  const sender = body.walletAddress
  const recipient = checkRecipient(body.recipientAddress, { network: network.network, sender })
  const chain = chainOf(context, network.network)
  const paymentId = createPaymentId()
  const built = await chain.build({ paymentId, network: network.network, asset, sender, recipient, amountAtomic }, wish.priorityFeeAtomic)
  if (!built.ok) throw refuseBuilt(built, body, amountAtomic)

  const at = context.now()
  const row = await context.db.transaction(async (tx) => {
    const inserted = await insertPayment(tx, {
      id: paymentId,
      accountId: actor.accountId,
      mode: 'local',
      status: 'created',
      network: network.network,
      asset: asset.address,
      symbol: asset.symbol,
      decimals: asset.decimals,
      amount: amountAtomic,
      sender,
      recipient,
      resource: body.resource ?? null,
      metadata: body.metadata ? stringifyJson(body.metadata) : null,
      unsignedTransaction: Buffer.from(built.bytes).toString('base64'),
      nonce: built.nonce ?? null,
      builtHeight: built.builtHeight,
      lastValidBlockHeight: built.lastValidBlockHeight,
      expiresAt: new Date(at.getTime() + VALID_S * 1000),
      createdAt: at,
      updatedAt: at,
    })
    await recordEvent(tx, { accountId: actor.accountId, paymentId, status: 'created', source: 'service', blockHeight: null, at })
    return inserted
  })
  wakeWatcher(chain)
  return reply(row, built, network)
}

/** What is asked for, with every problem of it in one answer. */
function readWish(context: Context, body: Body): Wish {
  const choice = chooseNetwork(context.config.networks, body.walletAddress, body.network)
  if (!choice.ok) throw refuseParameters({ [body.network === undefined ? 'walletAddress' : 'network']: choice.problem })
  const { network } = choice
  const native = nativeAsset(network)
  const details: Record<string, string> = {}

  const asset = findAsset(network, body.asset)
  if (!asset) details.asset = `Expected ${native.symbol} or ${native.address}, received ${describe(body.asset)}.`
  else if (!asset.native) details.asset = `Expected the native currency (${native.symbol}): tokens cannot be paid in local mode yet, received ${asset.symbol}.`
  const { decimals } = asset ?? native
  const amount = parseAmount(body.amount, decimals)
  if (!amount.ok) details.amount = describeAmountProblem(amount.problem, body.amount, decimals)
  const priorityFee = readPriorityFee(body.priorityFee, native.decimals)
  if (typeof priorityFee === 'string') details.priorityFee = priorityFee

  if (isNobody(body.walletAddress)) details.walletAddress = 'Expected a wallet, received the zero address.'
  // Postgres text cannot hold this character.
  if (body.resource?.includes('\0')) details.resource = 'Expected a URL without a null character.'
  if (!asset || !amount.ok || typeof priorityFee === 'string' || Object.keys(details).length > 0) throw refuseParameters(details)
  return { network, asset, amountAtomic: amount.atomic, priorityFeeAtomic: priorityFee }
}

/** Atomic units; zero is a choice, nothing is `automatic`. A problem comes back as its sentence. */
function readPriorityFee(text: string | undefined, decimals: number): bigint | undefined | string {
  if (text === undefined) return undefined
  if (/^0(\.0+)?([eE][+-]?[0-9]+)?$/.test(text)) return 0n
  const parsed = parseAmount(text, decimals)
  return parsed.ok ? parsed.atomic : describeAmountProblem(parsed.problem, text, decimals)
}

function refuseBuilt(built: Exclude<Built, { ok: true }>, { recipientAddress }: Body, amountAtomic: bigint): ProblemError {
  if (built.code === 'INVALID_RECIPIENT') {
    return new ProblemError('INVALID_RECIPIENT', { message: built.message, details: { recipientAddress: `Received ${describe(recipientAddress)}.`, ...built.details } })
  }
  const { requiredAtomic, availableAtomic, feeAtomic, asset } = built
  const spell = (atomic: bigint) => formatAmount(atomic, asset.decimals)
  const rest = requiredAtomic > amountAtomic + feeAtomic ? 'its fee and the rent that the wallet must keep' : 'its fee'
  return new ProblemError('INSUFFICIENT_BALANCE', {
    message: `The wallet holds ${spell(availableAtomic)} ${asset.symbol}; ${spell(amountAtomic)} and ${rest} need ${spell(requiredAtomic)} ${asset.symbol}.`,
    details: {
      required: spell(requiredAtomic),
      requiredAtomic: requiredAtomic.toString(),
      available: spell(availableAtomic),
      availableAtomic: availableAtomic.toString(),
      fee: spell(feeAtomic),
      feeAtomic: feeAtomic.toString(),
      asset: asset.address,
      symbol: asset.symbol,
    },
  })
}

function reply(row: PaymentRecord, built: Ready, network: Network): EndpointReply<'transactionSend'> {
  const { decimals } = nativeAsset(network)
  return {
    success: true,
    transaction: Buffer.from(built.bytes).toString('base64'),
    encoding: built.encoding,
    lastValidBlockHeight: built.lastValidBlockHeight,
    expiresAt: row.createdAt.getTime() + VALID_S * 1000,
    paymentId: row.id,
    paymentProof: null,
    network: row.network,
    asset: row.asset,
    symbol: row.symbol,
    decimals: row.decimals,
    amount: new LosslessNumber(formatAmount(row.amount, row.decimals)),
    amountAtomic: row.amount.toString(),
    sender: row.sender,
    recipient: row.recipient,
    fee: {
      amount: new LosslessNumber(formatAmount(built.feeAtomic, decimals)),
      amountAtomic: built.feeAtomic.toString(),
      priorityFee: new LosslessNumber(formatAmount(built.priorityFeeAtomic, decimals)),
    },
    estimatedConfirmation: estimate(network),
    decoded: built.decoded,
    proofRequest: familyOf(row.network) === 'evm' ? proofRequest(row) : null,
  }
}

/** From one block time before the confirmations are there to as long again, in whole seconds. */
function estimate({ blockTimeMs, confirmations }: Network): string {
  const seconds = Math.max(1, Math.ceil((blockTimeMs * confirmations) / 1000))
  return `${seconds}-${seconds * 2 + 1} seconds`
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
