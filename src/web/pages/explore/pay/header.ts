import { bytesToHex } from 'viem'
import { decodeAuthorization } from '#chains/evm/token-authorization.ts'
import { decodePermit } from '#chains/evm/token-permit.ts'
import { parseJson } from '#contract/json.ts'
import type { ClientPayment as Terms } from '#x402/client/order.ts'
import { encodeBase64, encodeHeader } from '#x402/header.ts'
import { fromV1, toV1, RequirementsV1 } from '#x402/requirements.ts'
import { offerProofTypedData, proofTypedData } from '#x402/txid.ts'
import * as v from 'valibot'
import { isPaid, mayHaveLeft, type PaymentState } from '../../../payment-flow/machine.ts'
import type { TypedData } from '../../../wallet/state/wallet-adapter.ts'
import type { PaymentHeader } from '../request/send-request.ts'
import type { Purchase } from './purchase.ts'

/** The header that pays a purchase, from what the machine has signed or sent. Each payment has one, and it never changes. */

/** `waits`: the payment is not that far; `sign`: the payer has to put their name to the transfer that landed. */
export type NextHeader =
  | { kind: 'waits' }
  | { kind: 'ready'; header: PaymentHeader }
  | { kind: 'sign'; data: TypedData }

export function nextHeader(purchase: Purchase, terms: Terms, state: PaymentState): NextHeader {
  switch (purchase.way) {
    case 'signed_transfer':
    case 'sponsored': {
      const bytes = mayHaveLeft(state) ? state.sent.bytes : null
      return bytes ? ready(purchase, { transaction: encodeBase64(bytes) }) : { kind: 'waits' }
    }
    case 'authorization': {
      const bytes = mayHaveLeft(state) ? state.sent.bytes : null
      return bytes && mayHaveLeft(state)
        ? ready(purchase, authorizationOf(state.built.bytes, bytes))
        : { kind: 'waits' }
    }
    case 'permit': {
      const bytes = mayHaveLeft(state) ? state.sent.bytes : null
      return bytes && mayHaveLeft(state)
        ? ready(purchase, permitOf(state.built.bytes, bytes))
        : { kind: 'waits' }
    }
    case 'transaction': {
      if (!isPaid(state) || !('landed' in state) || !state.landed) return { kind: 'waits' }
      return ready(purchase, {
        type: 'payment-proof',
        alg: 'Ed25519',
        format: 'solana-memo',
        txRef: state.landed.signature,
        from: state.order.sender,
      })
    }
    case 'transaction_then_proof':
      return isPaid(state) && 'landed' in state && state.landed
        ? {
            kind: 'sign',
            data: proofData(purchase, terms, { state, txRef: state.landed.signature }),
          }
        : { kind: 'waits' }
  }
}

/** What the payer signs over a transfer that landed: which resource it pays for, and by which terms. */
function proofData(
  purchase: Purchase,
  terms: Terms,
  { state, txRef }: { state: PaymentState; txRef: string },
): TypedData {
  const { network, networkName, asset, payTo, amountAtomic, maxTimeoutSeconds, resource } = terms
  const proof = {
    network,
    from: state.order.sender,
    payTo,
    asset,
    amountAtomic,
    maxTimeoutSeconds,
    resource,
  }
  return purchase.version === 2
    ? proofTypedData(proof, txRef.toLowerCase())
    : offerProofTypedData({ ...proof, networkName }, txRef.toLowerCase())
}

/** The header of a landed transfer, with the payer's signature over it. */
export function headerOfProof(
  purchase: Purchase,
  state: PaymentState,
  signature: string,
): PaymentHeader {
  if (!('landed' in state) || !state.landed) throw new TypeError('There is no transfer to prove.')
  const proof = {
    type: 'payment-proof',
    alg: 'ES256K',
    format: 'eip712',
    txRef: state.landed.signature.toLowerCase(),
    from: state.order.sender,
    signature,
  }
  // Version 1 echoes no terms beside the payload, so the offer goes within.
  return wrap(
    purchase,
    purchase.version === 2 ? proof : { ...proof, offer: signedTermsOf(purchase) },
  )
}

/** The entry of version 1, spelled as it is signed. */
function signedTermsOf(purchase: Purchase): unknown {
  const { requirements, resource } = fromV1(v.parse(RequirementsV1, parseJson(purchase.entry)))
  return { ...toV1(requirements, resource), network: requirements.network }
}

function authorizationOf(built: Uint8Array, signature: Uint8Array): Record<string, unknown> {
  const decoded = decodeAuthorization(built)
  if (!decoded.ok) throw new TypeError(decoded.problem.code)
  const { from, to, value, validAfter, validBefore, nonce } = decoded.authorization.message
  const authorization = {
    from,
    to,
    value: value.toString(),
    validAfter: validAfter.toString(),
    validBefore: validBefore.toString(),
    nonce,
  }
  return { signature: bytesToHex(signature), authorization }
}

function permitOf(built: Uint8Array, signature: Uint8Array): Record<string, unknown> {
  const decoded = decodePermit(built)
  if (!decoded.ok) throw new TypeError(decoded.problem.code)
  const { from, token, amount, spender, nonce, validAfter, deadline, to } = decoded.permit
  const permit2Authorization = {
    from,
    permitted: { token, amount: amount.toString() },
    spender,
    nonce: nonce.toString(),
    deadline: deadline.toString(),
    witness: { to, validAfter: validAfter.toString() },
  }
  return { signature: bytesToHex(signature), permit2Authorization }
}

function ready(purchase: Purchase, payload: Record<string, unknown>): NextHeader {
  return { kind: 'ready', header: wrap(purchase, payload) }
}

function wrap(
  { version, entry, resource }: Purchase,
  payload: Record<string, unknown>,
): PaymentHeader {
  const accepted = parseJson(entry)
  if (version === 2)
    return {
      name: 'PAYMENT-SIGNATURE',
      value: encodeHeader({ x402Version: 2, resource, accepted, payload }),
    }
  const { network } = v.parse(v.object({ network: v.string() }), accepted)
  return {
    name: 'X-PAYMENT',
    value: encodeHeader({ x402Version: 1, scheme: 'exact', network, payload }),
  }
}
