import {
  MAX_TIME_MS,
  addressFact,
  amountFact,
  fact,
  networkFact,
  signedTime,
  textFact,
  type CheckFact,
} from '#contract/facts.ts'
import { findAsset, type Asset, type Network } from '#contract/network.ts'
import { checkNativeTransfer, type TransferRule } from '#chains/solana/native-transfer.ts'
import { checkTokenPayment, type TokenRule } from '#chains/solana/token-payment.ts'
import { EXACT_PERMIT2_PROXY } from '#x402/authorization.ts'
import { EXACT_SCHEME, methodsOf } from '#x402/methods.ts'
import type { PaymentPayload } from '#x402/payload.ts'
import type { KnownReason } from '../../../errors/proof-reasons.ts'
import type { Check } from '../../../payment-view/check.ts'
import type { ProofFacts } from './facts.ts'

/** What the reader expects of a proof. */
export type Expected = {
  network: Network
  asset: Asset
  wallet: string
  amountAtomic: bigint
  /** Null: any. */
  resource: string | null
  /** Solana: what the payer was asked to write. Null: any memo. */
  memo: string | null
}

const RULES: Readonly<Record<TransferRule | TokenRule, KnownReason>> = {
  fee_payer: 'fee_payer_mismatch',
  signers: 'too_many_signers',
  signatures: 'invalid_signature',
  programs: 'unexpected_instruction',
  compute_units: 'compute_limits',
  compute_price: 'compute_limits',
  order: 'unexpected_instruction',
  one_transfer: 'unexpected_instruction',
  mint: 'asset_mismatch',
  amount: 'amount_mismatch',
  destination: 'recipient_mismatch',
  lamports: 'amount_mismatch',
  source: 'payer_mismatch',
  sponsor_isolated: 'sponsor_at_risk',
  memo: 'memo_mismatch',
}

/** Every check of a proof that needs no request. `now`: Unix milliseconds. */
export async function checkLocally(
  facts: ProofFacts,
  payment: PaymentPayload,
  { expected, now }: { expected: Expected; now: number },
): Promise<Check[]> {
  const { network, asset, wallet, amountAtomic, resource } = expected
  const methods = methodsOf(network.network, asset)
  const named = facts.asset === null ? undefined : findAsset(network, facts.asset)
  const method = facts.method ?? methods[0]
  const checks: Check[] = [
    {
      ...local('format', true, 'malformed'),
      expected: fact('x402_payment'),
      got: { code: 'version', params: { version: facts.version } },
    },
    equal('scheme', [EXACT_SCHEME, facts.scheme, textFact], 'unsupported_scheme'),
    equal(
      'network',
      [network.network, facts.network ?? facts.networkName, networkFact],
      'network_mismatch',
    ),
    {
      ...local('method', methods.includes(method), 'unsupported_method'),
      expected: { code: 'one_of', params: { values: [...methods] } },
      got: textFact(method ?? ''),
    },
    ...(facts.asset === null
      ? []
      : [equal('asset', [asset.address, named?.address ?? facts.asset], 'asset_mismatch')]),
    ...(facts.payTo === null
      ? []
      : [equal('recipient', [wallet, facts.payTo], 'recipient_mismatch')]),
    ...(facts.amountAtomic === null ? [] : [amountCheck(asset, amountAtomic, facts.amountAtomic)]),
    ...(resource === null ? [] : [resourceCheck(facts, resource)]),
  ]
  return [...checks, ...(await checkBody(facts, payment, { expected, now }))]
}

/**
 * Some version 1 proofs name no resource: only someone who knows what was requested can check it.
 */
function resourceCheck(facts: ProofFacts, resource: string): Check {
  if (facts.resource !== null)
    return equal('resource', [resource, facts.resource, textFact], 'resource_mismatch')
  return {
    name: 'resource',
    source: 'local',
    state: 'open',
    expected: textFact(resource),
    got: fact('not_named'),
  }
}

async function checkBody(
  facts: ProofFacts,
  payment: PaymentPayload,
  { expected, now }: { expected: Expected; now: number },
): Promise<Check[]> {
  const { body } = facts
  switch (body.kind) {
    case 'unreadable':
      return [
        {
          ...local('payload', false, 'malformed'),
          expected: { code: 'payload_of', params: { method: null } },
          got: { code: 'unreadable_field', params: { field: body.at, problem: body.problem } },
        },
      ]
    case 'memo':
      return [
        {
          ...local('transaction', true, 'malformed'),
          expected: fact('signature_of_64_bytes'),
          got: { code: 'transaction', params: { transaction: body.proof.txRef } },
        },
      ]
    case 'solana': {
      const { wallet: payTo, amountAtomic, asset, memo } = expected
      const feePayer = otherFeePayer(facts, body.facts.feePayer)
      const rows = asset.native
        ? checkNativeTransfer(body.facts, {
            payTo,
            lamports: amountAtomic,
            memo: memo ?? facts.memo ?? 'a memo',
            feePayer,
          })
        : checkTokenPayment(body.facts, {
            payTo,
            mint: asset.address,
            symbol: asset.symbol,
            decimals: asset.decimals,
            amountAtomic,
            memo,
            feePayer,
          })
      return rows.map(({ rule, ok, ...row }) => ({ ...local(rule, ok, RULES[rule]), ...row }))
    }
    case 'txid': {
      const { recoverProof } = await import('./recover.ts')
      const signer = await recoverProof(payment, body.proof, expected)
      return [
        {
          ...local('signature', signer === facts.payer, 'invalid_signature'),
          expected: facts.payer === null ? fact('payer') : addressFact(facts.payer),
          got: signerFact(signer),
        },
      ]
    }
    case 'evm': {
      const { sender, chainId, data, to } = body.facts
      return [
        equal(
          'chain',
          [expected.network.network, `eip155:${chainId}`, networkFact],
          'network_mismatch',
        ),
        equal('transfer_to', [expected.wallet, to], 'recipient_mismatch'),
        {
          ...local('plain_transfer', data === '0x', 'unexpected_instruction'),
          expected: fact('plain_transfer'),
          got: fact(data === '0x' ? 'plain_transfer' : 'any_call'),
        },
        {
          ...local('signature', sender !== null, 'invalid_signature'),
          expected: fact('payer'),
          got: signerFact(sender),
        },
      ]
    }
    case 'permit': {
      const { recoverPermit } = await import('./recover.ts')
      const { from, spender, witness, deadline } = body.proof.permit2Authorization
      const signer = recoverPermit(body.proof, expected)
      return [
        {
          ...local('signature', signer === from, 'invalid_signature'),
          expected: addressFact(from),
          got: signerFact(signer),
        },
        equal('spender', [EXACT_PERMIT2_PROXY, spender], 'recipient_mismatch'),
        windowCheck({ validAfter: witness.validAfter, validBefore: deadline }, now),
      ]
    }
    case 'authorization': {
      const { recoverAuthorization } = await import('./recover.ts')
      const { from, ...window } = body.proof.authorization
      const signer = recoverAuthorization(payment, body.proof, expected)
      const signature: Check =
        signer === null
          ? {
              name: 'signature',
              source: 'local',
              state: 'open',
              expected: addressFact(from),
              got: fact('token_name_missing'),
            }
          : {
              ...local('signature', signer === from, 'invalid_signature'),
              expected: addressFact(from),
              got: signerFact(signer),
            }
      return [signature, windowCheck(window, now)]
    }
  }
}

function windowCheck(
  { validAfter, validBefore }: { validAfter: bigint; validBefore: bigint },
  now: number,
): Check {
  const seconds = BigInt(Math.floor(now / 1000))
  return {
    ...local('window', seconds > validAfter && seconds < validBefore, 'outside_window'),
    expected: {
      code: 'window',
      params: { from: signedTime(validAfter) ?? MAX_TIME_MS, to: signedTime(validBefore) },
    },
    got: { code: 'time', params: { at: Number(seconds) * 1000 } },
  }
}

/** The account that pays the network fee for the payer, according to the transaction itself. */
function otherFeePayer({ payer }: ProofFacts, feePayer: string): string | null {
  return feePayer === payer ? null : feePayer
}

function signerFact(signer: string | null | undefined): CheckFact {
  return signer === null || signer === undefined ? fact('nobody') : addressFact(signer)
}

function amountCheck(asset: Asset, expected: bigint, got: bigint): Check {
  return {
    ...local('amount', expected === got, 'amount_mismatch'),
    expected: amountFact(expected, asset),
    got: amountFact(got, asset),
  }
}

function local(
  name: string,
  ok: boolean,
  reason: KnownReason,
): Pick<Check, 'name' | 'source' | 'state' | 'reason'> {
  return { name, source: 'local', state: ok ? 'ok' : 'bad', ...(!ok && { reason }) }
}

type Compared = readonly [expected: string, got: string, factOf?: (value: string) => CheckFact]

/** Two texts that must be equal: addresses, if `factOf` is omitted. */
function equal(
  name: string,
  [expected, got, factOf = addressFact]: Compared,
  reason: KnownReason,
): Check {
  return { ...local(name, expected === got, reason), expected: factOf(expected), got: factOf(got) }
}
