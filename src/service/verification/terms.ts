import type { Authorization } from '#chains/evm/authorization.ts'
import { decodeTransaction } from '#chains/solana/decode.ts'
import { parseAddress } from '#contract/address.ts'
import { amountFact, fact, textFact } from '#contract/facts.ts'
import { findAsset, type Asset, type Network } from '#contract/network.ts'
import { decodeBase64 } from '#x402/header.ts'
import type { PaymentPayload } from '#x402/payload.ts'
import type { Requirements, ResourceInfo } from '#x402/requirements.ts'
import type { VerificationReport } from './verification-report.ts'

/** What a proof is checked against: what the seller asked, never what the payer says was asked. */
export type ExpectedTerms = {
  network: Network
  asset: Asset
  payTo: string
  amountAtomic: bigint
  /** Null: any. */
  resource: string | null
  /** What the caller says of the resource besides its URL; a payment must name the same. */
  resourceInfo: ResourceInfo | null
  /** Solana: what the memo must be; null: the id of a payment of this account. */
  memo: string | null
  /** The method that the seller offered; null: any that moves the asset. */
  method: string | null
  /**
   * Unix milliseconds between which the payment must have been made; null where nobody set them.
   */
  notBefore: number | null
  expiresAt: number | null
  /** Solana: who may pay the network fee for the payer; only the payer otherwise. */
  feePayers: readonly string[]
}

/** What a payment proves by itself, before the chain is asked. */
export type VerifiedProof = {
  /** The key that identifies this payment on its network; null where only the chain shows it. */
  key: string | null
  /** Null where only the chain shows it. */
  payer: string | null
  /** Transaction hash or first signature; null while nobody has broadcast anything. */
  signature: string | null
  /** The resource the payer bound the payment to; null where it bound none. */
  resource: string | null
  /** The signed transaction, where the service is to broadcast it. */
  bytes: Uint8Array | null
  memo: string | null
  /** EVM, where the service broadcasts. */
  nonce?: number
  /** EVM: the fees per gas of a transaction that the payer signed. */
  fingerprint?: string
  /**
   * Solana: who pays the network fee for the payer and has not signed yet; null when the payer
   * does.
   */
  feePayer?: string | null
  /** EVM: what the payer signed for others to execute. */
  authorization?: Authorization
}

/**
 * What a payment is for: what the caller asks for, or else what the payment says, because the core of
 * the official packages tells a facilitator no resource. A `txid` proof is signed over it; on Solana
 * nobody signs it.
 */
export function resourceOf({
  terms,
  verifiedProof,
}: {
  terms: Pick<ExpectedTerms, 'resource'>
  verifiedProof: Pick<VerifiedProof, 'resource'>
}): string | null {
  return terms.resource ?? verifiedProof.resource
}

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

/** Who a payload says pays, unproven: answers about a payment that is refused name it too. Undefined where it names nobody. */
export function namedPayer(paymentPayload: Readonly<Record<string, unknown>>): string | undefined {
  const { payload } = paymentPayload
  const named =
    field(field(payload, 'authorization'), 'from') ??
    field(field(payload, 'permit2Authorization'), 'from') ??
    field(payload, 'from')
  const parsed = typeof named === 'string' ? parseAddress(named) : undefined
  if (parsed?.ok) return parsed.address
  const transaction = field(payload, 'transaction')
  const bytes = typeof transaction === 'string' ? decodeBase64(transaction) : null
  const facts = bytes && decodeTransaction(bytes)
  // A fee payer who is not the payer signs before the payer.
  return facts?.ok ? facts.signers.at(-1) : undefined
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** A payment that is verified: what it says, what it is checked against, and what was found so far. */
export type Verification = {
  payment: PaymentPayload
  terms: ExpectedTerms
  report: VerificationReport
}

/** What the payer says it accepted must be what was asked; it decides nothing beyond that. */
export function checkAcceptedTerms(
  { terms, report }: Verification,
  { requirements, resource }: { requirements: Requirements; resource: ResourceInfo | null },
): void {
  const asset = findAsset(terms.network, requirements.asset)?.address
  report.equal('asset_mismatch', {
    name: 'asset',
    source: 'proof',
    expected: terms.asset.address,
    got: asset ?? requirements.asset,
  })
  report.equal(
    'amount_mismatch',
    {
      name: 'amount',
      source: 'proof',
      expected: terms.amountAtomic.toString(),
      got: requirements.amount,
    },
    (atomic) => amountFact(atomic, terms.asset),
  )
  const payTo = parseAddress(requirements.payTo)
  report.equal('recipient_mismatch', {
    name: 'recipient',
    source: 'proof',
    expected: terms.payTo,
    got: payTo.ok ? payTo.address : requirements.payTo,
  })
  if (terms.resource === null) return
  // A proof for one resource must never buy another.
  report.check('resource_mismatch', {
    name: 'resource',
    source: 'proof',
    ok: resource?.url === terms.resource,
    expected: textFact(terms.resource),
    got: resource?.url === undefined ? fact('nothing') : textFact(resource.url),
  })
  for (const field of ['description', 'mimeType'] as const) {
    const expected = terms.resourceInfo?.[field]
    // Absent and empty are signed alike.
    if (expected)
      report.equal(
        'resource_mismatch',
        { name: field, source: 'proof', expected, got: resource?.[field] ?? '' },
        textFact,
      )
  }
}
