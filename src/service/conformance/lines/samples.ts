/** Well-formed values for requests. Nobody's money hangs on these addresses. */
export const EVM_ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
export const OTHER_EVM_ADDRESS = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
export const SOLANA_ADDRESS = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM'
export const OTHER_SOLANA_ADDRESS = 'AqynRZwvVqUPRwRJXvm6odUb3t93fDjnWe3p6BeuUFxD'
export const NATIVE_EVM = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
export const UNKNOWN_PAYMENT = `pay_${'2'.repeat(22)}`

export const send = {
  walletAddress: EVM_ADDRESS,
  recipientAddress: OTHER_EVM_ADDRESS,
  amount: 0.01,
}

/** Base64 of JSON that is no payment: well-formed as a header, worthless as a proof. */
export const receive = {
  walletAddress: OTHER_EVM_ADDRESS,
  paymentProof: btoa('{"x402Version":1}'),
  expectedAmount: 0.01,
}

export function without(body: Record<string, unknown>, field: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== field))
}
