import { formatAmount } from '#contract/amount.ts'
import { LosslessNumber } from '#contract/json.ts'
import { nativeAsset } from '#contract/network.ts'
import { readLink } from '#contract/payment-link.ts'
import { describeError } from '../../errors/codes.ts'
import { renderReason } from '../../errors/payment-reasons.ts'
import { call, callProxy } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { requestWithRetry } from '../../api/retry.ts'
import type { LinkChoice, WalletPaymentIntent, UserError } from '../../payment-intent/intent.ts'
import type { PaymentService } from '../../payment-intent/ports.ts'
import { describeUserError } from '../../errors/error-messages.ts'
import { configQuery } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { linkProblem, linkReason } from './open-link.ts'

/** Longer than the proxy and the chain may take: a report that is given up while it runs would be refused when it is repeated. */
const REPORTED_WITHIN_MS = 45_000

/** The service behind the proxy, as a payment uses it. */
export const paymentService: PaymentService = {
  build: async (order, key) => {
    const reply = await requestWithRetry(() => requestPayment(order, key))
    const { paymentId, lastValidBlockHeight, expiresAt, transaction, evidence } = reply
    const bytes = Uint8Array.from(atob(transaction), (char) => char.charCodeAt(0))
    return { paymentId, lastValidBlockHeight, expiresAt, bytes, evidence }
  },
  report: async (paymentId, signature) => {
    await call(
      'transactionSubmitted',
      { body: { paymentId, signature } },
      {
        idempotencyKey: `${paymentId}:${signature.slice(0, 100)}`,
        timeoutMs: REPORTED_WITHIN_MS,
      },
    )
  },
  release: async ({ refundOf }, paymentId) => {
    await call(
      'transactionRelease',
      { body: { paymentId } },
      { idempotencyKey: `${paymentId}:release` },
    )
    // What can be refunded is more now.
    await queryClient.invalidateQueries({ queryKey: ['paymentStatus', refundOf] })
  },
  explain: explainError,
}

/** A link's terms are not sent again: the proxy takes them from the link. */
async function requestPayment(
  order: WalletPaymentIntent,
  idempotencyKey: string,
): ReturnType<typeof call<'transactionSend'>> {
  const { asset, description, reference, resource, refundOf } = order
  const { networks } = await queryClient.ensureQueryData(configQuery)
  const network = networks.find((each) => each.network === order.network)
  if (!network)
    throw new ApiError({
      code: 'INVALID_PARAMETERS',
      message: `The network ${order.network} is not configured.`,
    })
  const own = {
    walletAddress: order.sender,
    // The fee is paid in the native currency, no matter which asset is sent.
    ...(order.priorityFeeAtomic !== undefined && {
      priorityFee: decimalOf(order.priorityFeeAtomic, nativeAsset(network).decimals),
    }),
  }
  const amount = decimalOf(order.amountAtomic, asset.decimals)
  if (order.link) {
    const { text, choice, email } = order.link
    const left = openTerms(order.link)
    const open = {
      ...(left.amount && { amount }),
      ...(left.description && description && { description }),
      ...(left.reference && reference && { reference }),
      ...(choice && { option: { network: order.network, asset: asset.address } }),
      ...(choice && choice.pieces > 1 && { pieces: choice.pieces }),
      ...(choice?.token && { quote: choice.token }),
      ...(email && { email }),
    }
    return callProxy('linkPay', { body: { link: text, ...own, ...open } }, { idempotencyKey })
  }
  const metadata = {
    ...(description && { description }),
    ...(reference && { referenceId: reference }),
    ...(refundOf && { refundOf }),
  }
  const body = {
    ...own,
    recipientAddress: order.recipient,
    amount,
    asset: asset.address,
    network: order.network,
    ...(resource && { resource }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
  return call('transactionSend', { body }, { idempotencyKey })
}

/** What a link leaves to its payer. */
export function openTerms({
  text,
  choice,
}: Pick<NonNullable<WalletPaymentIntent['link']>, 'text' | 'choice'>): LinkChoice['open'] {
  if (choice) return choice.open
  const terms = readLink(text)?.terms
  return {
    amount: terms?.amountAtomic === null,
    description: !terms?.description,
    reference: !terms?.reference,
    asset: false,
  }
}

function decimalOf(atomic: bigint, decimals: number): LosslessNumber {
  return new LosslessNumber(formatAmount(atomic, decimals))
}

/** The form input that corresponds to a field of the request. */
const INPUTS: Readonly<Record<string, string>> = {
  walletAddress: 'sender',
  recipientAddress: 'recipient',
  amount: 'amount',
  resource: 'resource',
  priorityFee: 'priorityFee',
  network: 'network',
  metadata: 'description',
}

function explainError(error: unknown): UserError {
  // What a library says about its own request helps no payer.
  if (!(error instanceof ApiError)) return describeUserError('rpc_silent')
  const reason = linkReason(error)
  if (reason) {
    const { title, body } = linkProblem(reason)
    return { code: reason, title, body }
  }
  const { title, body, detail } = describeError(error)
  const refused = renderReason(error)
  if (refused) return { code: error.code, ...refused, detail }
  if (error.code === 'INVALID_RECIPIENT') return { code: error.code, title, body, detail }
  const fields: Record<string, string> = {}
  for (const [name, text] of Object.entries(error.details)) {
    const input = INPUTS[name.split('.')[0] ?? name]
    if (input && typeof text === 'string') fields[input] = text
  }
  return { code: error.code, title, body, detail, fields }
}
