import * as v from 'valibot'
import { parseAddress, type Family } from '#contract/address.ts'
import { fieldProblemOf } from '#contract/explain-issue.ts'
import type { FacilitatorInput } from '#contract/facilitator.ts'
import { describe } from '#contract/fields.ts'
import { familyOf, findAsset, type Asset, type NetworkId } from '#contract/network.ts'
import type { ProofReason } from '#contract/proof.ts'
import { renderDecodeProblem } from '#contract/render-en.ts'
import { EXACT_SCHEME, methodsOf } from '#x402/methods.ts'
import { readNetwork } from '#x402/networks.ts'
import { readPayload, type PaymentPayload } from '#x402/payload.ts'
import { fromV1, Requirements, RequirementsV1, ResourceInfo } from '#x402/requirements.ts'
import type { Context } from '../context/context.ts'
import { InputRefusedError, type ExpectedTerms } from '../verification/terms.ts'
import { IN_SETTLEMENT } from './claim.ts'
import { facilitatorWallets } from './facilitator-wallet.ts'
import { readIdentifier } from './payment-identifier.ts'

/** What a resource server asks of the facilitator, and the payment it got for it. */
export type FacilitatorQuestion = {
  payment: PaymentPayload
  terms: ExpectedTerms
  identifier: string | null
}

/** @throws InputRefusedError */
export function readInput(
  context: Context,
  { x402Version, paymentPayload, paymentRequirements }: FacilitatorInput,
): FacilitatorQuestion {
  // The specification's own examples name the version in the payment alone.
  const version = x402Version ?? paymentPayload.x402Version
  if (version !== 1 && version !== 2)
    throw new InputRefusedError(
      'invalid_x402_version',
      `x402Version: Expected 1 or 2, received ${describe(version)}.`,
    )
  if (paymentPayload.x402Version !== version)
    throw new InputRefusedError(
      'invalid_x402_version',
      `x402Version: Expected the version of the payment, ${describe(paymentPayload.x402Version)}, received ${version}.`,
    )
  const payload = readPayload(paymentPayload)
  if (!payload.ok)
    throw new InputRefusedError(
      'invalid_payload',
      `paymentPayload: ${renderDecodeProblem(payload.problem)}`,
    )
  const identifier = readIdentifier(paymentPayload)
  return {
    payment: payload.payload,
    terms: toTerms(context, { ...readRequirements(version, paymentRequirements), version }),
    identifier,
  }
}

type PaymentTerms = { requirements: Requirements; resource: ResourceInfo | null }

/** v1 says the resource within; in v2 a server may say it in `extra`, as a URL or with its description and type. */
function readRequirements(version: 1 | 2, value: unknown): PaymentTerms {
  const result =
    version === 1 ? v.safeParse(RequirementsV1, value) : v.safeParse(Requirements, value)
  if (!result.success)
    throw refuseRequirements(
      v.getDotPath(result.issues[0]) ?? 'the root',
      renderDecodeProblem(fieldProblemOf(result.issues[0])),
    )
  if ('maxAmountRequired' in result.output) return fromV1(result.output)
  const requirements = result.output
  const { resource } = requirements.extra
  if (resource === undefined) return { requirements, resource: null }
  const parsed = v.safeParse(
    ResourceInfo,
    typeof resource === 'string' ? { url: resource } : resource,
  )
  if (!parsed.success)
    throw refuseRequirements(
      'extra.resource',
      renderDecodeProblem(fieldProblemOf(parsed.issues[0])),
    )
  return { requirements, resource: parsed.output }
}

function refuseRequirements(field: string, problem: string): InputRefusedError {
  return new InputRefusedError(
    'invalid_payment_requirements',
    `paymentRequirements, at ${field}: ${problem}`,
  )
}

function toTerms(
  context: Context,
  { requirements, resource, version }: PaymentTerms & { version: 1 | 2 },
): ExpectedTerms {
  const { extra, payTo: payee, amount } = requirements
  if (requirements.scheme !== EXACT_SCHEME)
    throw new InputRefusedError(
      'unsupported_scheme',
      `paymentRequirements, at scheme: Expected ${EXACT_SCHEME}, received ${describe(requirements.scheme)}.`,
    )
  const id = readNetwork(requirements.network, version)
  const network = context.config.networks.find((candidate) => candidate.network === id)
  if (!network) {
    const expected = 'Expected a network this service is configured for'
    throw new InputRefusedError(
      'invalid_network',
      `paymentRequirements, at network: ${expected}, received ${describe(requirements.network)}.`,
    )
  }
  const asset = findAsset(network, requirements.asset)
  if (!asset)
    throw refuseRequirements(
      'asset',
      `Expected an asset of ${network.network} that this service is configured for, received ${describe(requirements.asset)}.`,
    )
  const payTo = parseAddress(payee)
  if (!payTo.ok || payTo.family !== familyOf(network.network))
    throw refuseRequirements(
      'payTo',
      `Expected an address of ${network.network}, received ${describe(payee)}.`,
    )
  if (BigInt(amount) === 0n)
    throw refuseRequirements('amount', 'Expected an amount above 0, received 0.')
  return {
    network,
    asset,
    payTo: payTo.address,
    amountAtomic: BigInt(amount),
    resource: resource?.url ?? null,
    resourceInfo: resource,
    method: publicMethod(network.network, { asset, named: extra.assetTransferMethod }),
    memo: textOf(extra.memo) ?? textOf(extra.paymentId),
    notBefore: secondsOf(extra.notBefore),
    expiresAt: secondsOf(extra.expiresAt),
    feePayers: facilitatorWallets(context, 'solana'),
  }
}

/**
 * The method that a seller of ETH offers. Anybody can read a transaction in the pool: where the
 * seller offers `txid`, which its payer signs for, the transaction alone pays nothing.
 */
function publicMethod(
  network: NetworkId,
  { asset, named }: { asset: Asset; named: unknown },
): string | null {
  const open = familyOf(network) === 'evm' && asset.native
  return (open && methodsOf(network, asset).find((method) => method === named)) || null
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** Unix seconds on the wire, milliseconds inside. */
function secondsOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value * 1000 : null
}

/** x402's word for an outcome that is still open. */
export const SETTLEMENT_PENDING = 'settlement_pending'
/** x402's word for a settlement that another call was told of, or is about to be. */
export const DUPLICATE_SETTLEMENT = 'duplicate_settlement'

type Words = string | Readonly<Record<Family, string>>

/**
 * How `/facilitator/*` names our reasons: the words of x402 v2 section 9, else those of the official packages, else ours. Other endpoints keep ours.
 */
const X402_REASONS: Readonly<Record<ProofReason, Words>> = {
  malformed: 'invalid_payload',
  unsupported_scheme: 'unsupported_scheme',
  unsupported_method: 'unsupported_asset_transfer_method',
  network_mismatch: 'invalid_network',
  asset_mismatch: { evm: 'asset_mismatch', solana: 'invalid_exact_svm_payload_mint_mismatch' },
  amount_mismatch: {
    evm: 'invalid_exact_evm_payload_authorization_value',
    solana: 'invalid_exact_svm_payload_amount_mismatch',
  },
  recipient_mismatch: {
    evm: 'invalid_exact_evm_payload_recipient_mismatch',
    solana: 'invalid_exact_svm_payload_recipient_mismatch',
  },
  resource_mismatch: 'resource_mismatch',
  payer_mismatch: 'payer_mismatch',
  memo_mismatch: { evm: 'memo_mismatch', solana: 'invalid_exact_svm_payload_memo_mismatch' },
  spender_mismatch: 'invalid_permit2_spender',
  invalid_signature: {
    evm: 'invalid_exact_evm_payload_signature',
    solana: 'invalid_exact_svm_payload_signature_invalid',
  },
  signature_missing: {
    evm: 'invalid_exact_evm_payload_signature',
    solana: 'invalid_exact_svm_payload_signature_invalid',
  },
  fee_payer_mismatch: { evm: 'fee_payer_mismatch', solana: 'invalid_exact_svm_fee_payer_mismatch' },
  too_many_signers: {
    evm: 'too_many_signers',
    solana: 'invalid_exact_svm_payload_excessive_signers',
  },
  unexpected_instruction: {
    evm: 'unexpected_instruction',
    solana: 'invalid_exact_svm_payload_transaction_instructions',
  },
  compute_limits: {
    evm: 'compute_limits',
    solana: 'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction',
  },
  sponsor_at_risk: {
    evm: 'sponsor_at_risk',
    solana: 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds',
  },
  insufficient_funds: 'insufficient_funds',
  permit2_allowance_required: 'permit2_allowance_required',
  simulation_failed: {
    evm: 'invalid_exact_evm_transaction_simulation_failed',
    solana: 'invalid_exact_svm_transaction_simulation_failed',
  },
  transaction_failed: 'invalid_transaction_state',
  outside_window: 'outside_window',
  already_used: 'already_used',
  payer_refused: 'payer_refused',
}

/** Where the check that failed says more than its reason. */
const WORDS_OF_CHECKS: Readonly<Record<string, Words>> = {
  valid_after: 'invalid_exact_evm_payload_authorization_valid_after',
  valid_before: 'invalid_exact_evm_payload_authorization_valid_before',
  compute_price: 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction',
  // Used on the chain, and nobody was told success here.
  fresh: { evm: 'invalid_exact_evm_nonce_already_used', solana: 'invalid_transaction_state' },
  [IN_SETTLEMENT]: DUPLICATE_SETTLEMENT,
}

/** The word that `/facilitator/*` answers with for a refusal. `check`: the name of the check that failed. */
export function nameReason(
  { reason, check }: { reason: ProofReason; check: string },
  family: Family,
): string {
  const words = WORDS_OF_CHECKS[check] ?? X402_REASONS[reason]
  return typeof words === 'string' ? words : words[family]
}
