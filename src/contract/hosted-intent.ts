import { formatAmount, parseAmount } from './amount.ts'
import { chainIdOf, type Asset } from './network.ts'
import type { LimitReason } from './reasons.ts'

/** Of a payment from a managed wallet, in the native currency, both ends included: specification, section 8. */
export const HOSTED_LIMITS = {
  amount: { minimum: '0.001', maximum: '100' },
  priorityFee: { minimum: '0.00001', maximum: '0.01' },
} as const

export type HostedField = keyof typeof HOSTED_LIMITS

/** Why a managed wallet does not pay so much, or so much for priority; undefined where it does. */
export function hostedLimitReason(
  field: HostedField,
  atomic: bigint,
  { address, symbol, decimals }: Pick<Asset, 'address' | 'symbol' | 'decimals'>,
): LimitReason | undefined {
  const amountOf = (text: string) => {
    const parsed = parseAmount(text, decimals)
    return { amountAtomic: parsed.ok ? parsed.atomic : 0n, asset: address, symbol, decimals }
  }
  const minimum = amountOf(HOSTED_LIMITS[field].minimum)
  const maximum = amountOf(HOSTED_LIMITS[field].maximum)
  const name = field === 'amount' ? 'amount' : 'priority_fee'
  if (atomic < minimum.amountAtomic) return { code: `${name}_below_minimum`, params: { minimum } }
  if (atomic > maximum.amountAtomic) return { code: `${name}_above_maximum`, params: { maximum } }
  return undefined
}

/**
 * What an operator signs so that a managed wallet pays. The browser builds it from the input, the
 * proxy from its record: a signature counts only over the same content. EIP-712 on EVM networks, a
 * text on Solana.
 */
export type HostedIntent = {
  /** Identifies this one payment; accepted once. */
  nonce: string
  /** CAIP-2. */
  network: string
  from: string
  to: string
  /** Normal form. */
  asset: string
  symbol: string
  decimals: number
  amountAtomic: string
  /** What the validator gets, a decimal in the native currency; empty where the service decides. */
  priorityFee: string
  resource: string
  description: string
  reference: string
  /** The payment that this one refunds; empty for any other. */
  refundOf: string
  /** Unix seconds; at most five minutes after creation. */
  expiresAt: number
}

const FIELDS = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'asset', type: 'address' },
  { name: 'amount', type: 'uint256' },
  { name: 'priorityFee', type: 'string' },
  { name: 'network', type: 'string' },
  { name: 'resource', type: 'string' },
  { name: 'description', type: 'string' },
  { name: 'reference', type: 'string' },
  { name: 'refundOf', type: 'string' },
  { name: 'nonce', type: 'string' },
  { name: 'expiresAt', type: 'uint256' },
] as const

/** Typed data (EIP-712) of an intent on an EVM network. `amount` in atomic units. */
export function intentTypedData(intent: HostedIntent) {
  const {
    from,
    to,
    asset,
    amountAtomic,
    priorityFee,
    network,
    resource,
    description,
    reference,
    refundOf,
    nonce,
    expiresAt,
  } = intent
  return {
    domain: {
      name: 'Paydesk payment from a managed wallet',
      version: '1',
      chainId: chainIdOf(network),
    },
    types: { HostedPayment: FIELDS },
    primaryType: 'HostedPayment',
    message: {
      from,
      to,
      asset,
      amount: amountAtomic,
      priorityFee,
      network,
      resource,
      description,
      reference,
      refundOf,
      nonce,
      expiresAt: String(expiresAt),
    },
  } as const
}

/**
 * The text of an intent on Solana. User input is quoted on a separate line, so that it cannot look
 * like another line.
 */
export function intentText(intent: HostedIntent): string {
  const {
    from,
    to,
    asset,
    amountAtomic,
    decimals,
    symbol,
    priorityFee,
    network,
    resource,
    description,
    reference,
    refundOf,
    nonce,
    expiresAt,
  } = intent
  const words = { Resource: resource, Description: description, Reference: reference }
  return [
    'Pay from a managed wallet. Signing this moves money.',
    '',
    `Amount: ${formatAmount(BigInt(amountAtomic), decimals)} ${symbol} (${amountAtomic} units)`,
    `From: ${from}`,
    `To: ${to}`,
    `Asset: ${asset}`,
    ...(priorityFee === '' ? [] : [`Priority fee: ${priorityFee} SOL`]),
    `Network: ${network}`,
    ...Object.entries(words).flatMap(([name, text]) =>
      text === '' ? [] : [`${name}: ${JSON.stringify(text)}`],
    ),
    ...(refundOf === '' ? [] : [`Refund of: ${refundOf}`]),
    `Nonce: ${nonce}`,
    `Expires: ${new Date(expiresAt * 1000).toISOString()}`,
  ].join('\n')
}
