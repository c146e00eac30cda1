import * as v from 'valibot'
import { parseJson, stringifyJson } from '#contract/json.ts'
import { PaymentStatusBody } from '#contract/payment-body.ts'
import { examples } from '#service/openapi/examples.ts'

const EXAMPLE = v.parse(PaymentStatusBody, parseJson(stringifyJson(examples.paymentStatus.reply)))

/** A status body as a client reads it: the API's example with these fields replaced. */
export function statusBody(change: Partial<PaymentStatusBody> = {}): PaymentStatusBody {
  return { ...EXAMPLE, ...change }
}
