/** Words of x402 v2 section 9. */
type InputReason =
  | 'invalid_x402_version'
  | 'invalid_payload'
  | 'invalid_payment_requirements'
  | 'unsupported_scheme'
  | 'invalid_network'

/** A question that cannot be answered for any payer: an answer of x402 all the same, never an error of ours. */
export class InputRefusedError extends Error {
  override name = 'InputRefusedError'
  readonly reason: InputReason

  constructor(reason: InputReason, message: string) {
    super(message)
    this.reason = reason
  }
}
