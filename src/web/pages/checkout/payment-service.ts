import { formatAmount, parseAmount } from '#contract/amount.ts'
import { LosslessNumber } from '#contract/json.ts'
import { describeError } from '../../api/error-words.ts'
import { call } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import type { PaymentOrder, Trouble } from '../../payment/order.ts'
import type { PaymentService } from '../../payment/ports.ts'

const WAIT_MS = 1_000
const WAITS = 5

/** The service behind the proxy, as a payment uses it. */
export const paymentService: PaymentService = {
  build: async (order, key) => {
    const reply = await send(order, key, WAITS)
    const { paymentId, lastValidBlockHeight, expiresAt, transaction } = reply
    return { paymentId, lastValidBlockHeight, expiresAt, bytes: Uint8Array.from(atob(transaction), (char) => char.charCodeAt(0)) }
  },
  report: async (paymentId, signature) => {
    await call('transactionSubmitted', { body: { paymentId, signature } }, { idempotencyKey: `${paymentId}:${signature.slice(0, 100)}` })
  },
  explain: explainError,
}

/** A request of ours that is still running elsewhere (a reload in the middle) is waited for, never raced. */
async function send(order: PaymentOrder, key: string, waits: number): ReturnType<typeof call<'transactionSend'>> {
  try {
    return await call('transactionSend', { body: bodyOf(order) }, { idempotencyKey: key })
  } catch (error) {
    if (waits === 0 || !(error instanceof ApiError) || error.code !== 'IDEMPOTENCY_IN_PROGRESS') throw error
    await new Promise((resolve) => setTimeout(resolve, (error.retryAfter ?? 0) * 1000 || WAIT_MS))
    return send(order, key, waits - 1)
  }
}

function bodyOf(order: PaymentOrder) {
  const { asset, description, reference, resource, priorityFeeAtomic } = order
  const metadata = { ...(description && { description }), ...(reference && { referenceId: reference }) }
  return {
    walletAddress: order.sender,
    recipientAddress: order.recipient,
    amount: new LosslessNumber(formatAmount(order.amountAtomic, asset.decimals)),
    network: order.network,
    ...(resource && { resource }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(priorityFeeAtomic !== undefined && { priorityFee: new LosslessNumber(formatAmount(priorityFeeAtomic, asset.decimals)) }),
  }
}

/** Which input of the form a field of the request comes from. */
const INPUTS: Readonly<Record<string, string>> = {
  walletAddress: 'sender',
  recipientAddress: 'recipient',
  amount: 'amount',
  resource: 'resource',
  priorityFee: 'priorityFee',
  network: 'network',
  metadata: 'description',
}

function explainError(error: unknown): Trouble {
  if (!(error instanceof ApiError)) {
    return {
      code: 'RPC_DOWN',
      title: 'Your connection to the network does not answer',
      body: 'Nothing was built and nothing was sent. Try again, or choose another network.',
      detail: error instanceof Error ? error.message : undefined,
    }
  }
  const { title, body, detail } = describeError(error)
  const fields: Record<string, string> = {}
  for (const [name, text] of Object.entries(error.details)) {
    const input = INPUTS[name.split('.')[0] ?? name]
    if (input && typeof text === 'string') fields[input] = text
  }
  if (error.code === 'INVALID_RECIPIENT') fields['recipient'] ??= error.message
  if (error.code === 'INSUFFICIENT_BALANCE') return { code: error.code, title, body: describeShortfall(error) ?? body, detail }
  return { code: error.code, title, body, detail, fields }
}

/** How much is missing, to the last unit. */
function describeShortfall({ details }: ApiError): string | undefined {
  const text = (name: string) => (details[name] instanceof LosslessNumber ? details[name].value : String(details[name] ?? ''))
  // 36 decimals hold the digits of any asset; only the difference is shown.
  const [required, available] = [parseAmount(text('required'), 36), parseAmount(text('available'), 36)]
  if (!required.ok) return undefined
  const have = available.ok ? available.atomic : 0n
  const asset = typeof details['asset'] === 'string' && details['asset'].length <= 12 ? ` ${details['asset']}` : ''
  return `This wallet holds ${formatAmount(have, 36)}${asset} and the payment needs up to ${formatAmount(required.atomic, 36)}${asset}, the fee included. It lacks ${formatAmount(required.atomic - have, 36)}${asset}. Nothing was sent.`
}
