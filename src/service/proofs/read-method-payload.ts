import * as v from 'valibot'
import { methodOf } from '#x402/payload.ts'
import type { Examination } from './echo.ts'

/** The payload of the method that the payment names. @throws ProofRefused `malformed` */
export function readMethodPayload<S extends v.GenericSchema>({ payment, checklist }: Examination, schema: S): v.InferOutput<S> {
  const result = v.safeParse(schema, payment.payload)
  const problem = result.success ? null : `${v.getDotPath(result.issues[0]) ?? 'payload'}: ${result.issues[0].message}`
  checklist.check('malformed', {
    name: 'payload',
    source: 'proof',
    ok: result.success,
    expected: `the payload of ${methodOf(payment) ?? 'a method'}`,
    got: problem ?? 'such a payload',
  })
  return result.output
}
