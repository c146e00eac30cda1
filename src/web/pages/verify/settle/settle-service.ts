import { decodeBase64 } from '#x402/header.ts'
import { call } from '../../../api/client.ts'
import { requestWithRetry } from '../../../api/retry.ts'
import type { WalletPaymentIntent, UserError } from '../../../payment-intent/intent.ts'
import type { PaymentService } from '../../../payment-intent/ports.ts'
import { describeUserError, type UserErrorName } from '../../../errors/error-messages.ts'
import { paymentService } from '../../../payment-flow/form/payment-service.ts'
import { questionOf } from '../proof/service-checks.ts'
import type { Settlement } from './settlement.ts'

type Reply = Awaited<ReturnType<typeof call<'transactionReceive'>>>

/** The service's transaction is not the one that was asked for. */
class NotThat extends Error {
  override name = 'NotThat'
  readonly userError: UserErrorName

  constructor(userError: UserErrorName) {
    super(userError)
    this.userError = userError
  }
}

/** Asks for the transaction by which the payee settles a proof, or acknowledges one that is settled. */
export function settleService({ header, expected }: Settlement): PaymentService {
  return {
    build: async (order, key) => {
      const question = { body: questionOf(header, expected) }
      const reply = await requestWithRetry(() =>
        call('transactionReceive', question, { idempotencyKey: key, timeoutMs: 45_000 }),
      )
      const bytes = decodeBase64(reply.transaction)
      const other = judge(order, reply)
      if (other || !bytes) throw new NotThat(other ?? 'other_payment')
      const { lastValidBlockHeight, expiresAt } = reply
      const paymentId =
        order.operation?.kind === 'acknowledge' ? receiptText(reply.paymentId) : reply.paymentId
      return { paymentId, bytes, lastValidBlockHeight, expiresAt }
    },
    report: async (paymentId, signature) => {
      // A note is nobody's payment: the service watches for none.
      if (paymentId.startsWith(RECEIPT)) return
      await call(
        'transactionSubmitted',
        { body: { paymentId, signature } },
        { idempotencyKey: `${paymentId}:${signature.slice(0, 100)}` },
      )
    },
    explain,
  }
}

const RECEIPT = 'x402-receipt:'

/** What the payee writes; both sides know it by the payment's id. */
function receiptText(paymentId: string): string {
  return `${RECEIPT}${paymentId}`
}

/** Why a reply is of no use for an order; undefined when it is what was asked for. */
function judge(
  { operation, sender }: WalletPaymentIntent,
  { settlement, signer }: Reply,
): UserErrorName | undefined {
  if (operation?.kind === 'acknowledge')
    return settlement === 'already_settled' && signer === sender ? undefined : 'not_settled_yet'
  if (settlement === 'already_settled') return 'already_settled'
  const wanted =
    operation?.kind === 'settle' && operation.way === 'broadcast' ? 'broadcast_only' : 'required'
  return settlement === wanted &&
    (wanted === 'broadcast_only' ? signer === null : signer === sender)
    ? undefined
    : 'other_payment'
}

function explain(error: unknown): UserError {
  return error instanceof NotThat
    ? describeUserError(error.userError)
    : paymentService.explain(error)
}
