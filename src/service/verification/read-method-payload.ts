import * as v from 'valibot'
import { fieldProblemOf } from '#contract/explain-issue.ts'
import { fact, type CheckFact } from '#contract/facts.ts'
import { methodOf } from '#x402/payload.ts'
import type { Examination } from './echo.ts'

/** The payload of the method that the payment names. @throws ProofRefused `malformed` */
export function readMethodPayload<S extends v.GenericSchema>(
  { payment, report }: Examination,
  schema: S,
): v.InferOutput<S> {
  const result = v.safeParse(schema, payment.payload)
  const got: CheckFact = result.success
    ? fact('such_payload')
    : {
        code: 'unreadable_field',
        params: {
          field: v.getDotPath(result.issues[0]) ?? 'payload',
          problem: fieldProblemOf(result.issues[0]),
        },
      }
  report.check('malformed', {
    name: 'payload',
    source: 'proof',
    ok: result.success,
    expected: { code: 'payload_of', params: { method: methodOf(payment) ?? null } },
    got,
  })
  return result.output
}
