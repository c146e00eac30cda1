import { parseAddress } from '#contract/address.ts'
import { formatAmount, parseAmount } from '#contract/amount.ts'
import type { EndpointResponse } from '#contract/endpoints.ts'
import { findAsset, nativeAsset } from '#contract/network.ts'
import { isPaid, isPaymentId, type PaymentStatus } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import { readPayment } from './read-payment.ts'
import { requireWallet, spender } from './rule.ts'
import type { Call } from './rule.ts'

type Original = EndpointResponse<'paymentStatus'>

/** A return that arrived or was sent counts; one that never left does not. */
const GONE: ReadonlySet<PaymentStatus> = new Set<PaymentStatus>(['pending', 'confirmed', 'finalized', 'rolled_back'])
const MOST_ROWS = '500'

/**
 * The payment that `metadata.refundOf` names, once it is sure that this one may send it back: it arrived at a wallet of the session,
 * goes from there to its payer in the same asset, and with what went back before is no more than was received.
 * @throws ProblemError `INVALID_PARAMETERS`, `NOT_FOUND`
 */
export async function refundedPayment(call: Call<'transactionSend'>): Promise<Original | undefined> {
  const { context, visitor, input, requestId } = call
  const { metadata, walletAddress } = input.body
  const named = metadata?.['refundOf']
  if (named === undefined) return undefined
  if (typeof named !== 'string' || !isPaymentId(named)) throw refuse('metadata.refundOf', 'Expected the id of a payment.')
  const session = requireWallet(visitor)
  const original = (await readPayment({ context, visitor, session, paymentId: named, requestId })).parsed
  const recipient = parseAddress(input.body.recipientAddress)
  if (!isPaid(original.status)) throw refuse('metadata.refundOf', 'Expected a payment that has arrived.')
  if (original.recipient !== walletAddress || !(session.operator || session.wallets.includes(walletAddress))) {
    throw refuse('walletAddress', 'Expected the wallet that received the payment.')
  }
  if (!recipient.ok || recipient.address !== original.sender) throw refuse('recipientAddress', 'Expected the payer of the payment.')
  const amountAtomic = readAmount(call, original)
  const left = BigInt(original.amountAtomic) - (await returnedAtomic(call, original))
  if (amountAtomic > left) {
    const most = `${formatAmount(left > 0n ? left : 0n, original.decimals)} ${original.symbol}`
    throw refuse('amount', `Expected at most ${most}, what is left of the payment to send back.`)
  }
  return original
}

function readAmount({ context, input }: Call<'transactionSend'>, original: Original): bigint {
  const { amount, asset: name, network: id } = input.body
  const network = context.config.networks.find((each) => each.network === original.network)
  const asset = network && (name === undefined ? nativeAsset(network) : findAsset(network, name))
  if (!network || (id !== undefined && id !== original.network)) throw refuse('network', 'Expected the network of the payment.')
  if (asset?.address !== original.asset) throw refuse('asset', 'Expected the asset of the payment.')
  const parsed = parseAmount(amount, original.decimals)
  if (!parsed.ok) throw refuse('amount', 'Expected an amount of this asset.')
  return parsed.atomic
}

/** Every payment from the payee to the payer since, which is few, looked through for those that send this one back. */
async function returnedAtomic({ context, visitor, requestId }: Call<'transactionSend'>, original: Original): Promise<bigint> {
  let sum = 0n
  let cursor: string | undefined
  do {
    const query = {
      wallets: original.recipient,
      type: 'sent',
      q: original.sender,
      since: String(original.timestamp),
      limit: MOST_ROWS,
      ...(cursor && { cursor }),
    }
    const { parsed } = await context.upstream.read('paymentList', { query, requestId }, () => context.budgets.spend(spender(visitor), 'action'))
    for (const row of parsed.payments) {
      const returns = row.metadata?.['refundOf'] === original.paymentId && row.network === original.network && row.asset === original.asset
      if (returns && row.sender === original.recipient && row.recipient === original.sender && GONE.has(row.status)) sum += BigInt(row.amountAtomic)
    }
    cursor = parsed.nextCursor ?? undefined
  } while (cursor)
  return sum
}

function refuse(field: string, message: string): ProblemError {
  return new ProblemError('INVALID_PARAMETERS', { message: `${field}: ${message}`, details: { [field]: message } })
}
