import bs58 from 'bs58'
import { bytesToHex, hexToBytes, keccak256, serializeTransaction, type Hex } from 'viem'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { matchTransaction as matchEvm } from '#chains/evm/match.ts'
import type { PaymentIntent } from '#chains/match.ts'
import { decodeTransaction as decodeSolana } from '#chains/solana/decode.ts'
import { matchTransaction as matchSolana } from '#chains/solana/match.ts'
import { familyOf } from '#contract/network.ts'
import { renderMatchFact } from '#contract/render-facts.ts'
import {
  PROOF_TIMEOUT_S,
  type SealedWallet,
  type SignerSignature,
  type Signer,
  type SignRequest,
} from '#signer/protocol.ts'
import { encodeHeader } from '#x402/header.ts'
import { EXACT_SCHEME, TXID_METHOD, UPFRONT_FLOW } from '#x402/methods.ts'
import type { Requirements } from '#x402/requirements.ts'

/** `signature` names the transaction on its chain: its hash (EVM) or its first signature (Solana). */
export type Signed = Pick<SignerSignature, 'bytes' | 'signature'>

/** Who signs: the signer, for this wallet. */
export type WalletSigner = { signer: Signer; wallet: SealedWallet }

/**
 * Has an unsigned payment signed, on EVM for the nonce of its nonce queue, and hands it out only when the signed bytes are the intent and nothing else.
 * `resource`: what a native payment is proven for; the proof is the x402 header value by which its payee recognizes it.
 * @throws `SIGNING_REFUSED`, `SERVICE_UNAVAILABLE`: nothing was signed; Error when the bytes are another payment: a defect, and nothing was sent
 */
export async function signPayment(
  { signer, wallet }: WalletSigner,
  intent: PaymentIntent,
  order: { unsigned: Uint8Array; nonce: number | null; resource: string | null },
): Promise<{ signed: Signed; paymentProof: string | null }> {
  const evm = familyOf(intent.network) === 'evm'
  const { bytes, signature, proofSignature } = await sign(signer, {
    wallet,
    transaction: evm ? withNonce(order.unsigned, order.nonce) : order.unsigned,
    ...(intent.asset.native && { proof: { url: order.resource } }),
  })
  const match = evm ? matchEvm(intent, bytes) : matchSolana(intent, bytes)
  if (match.ok)
    return {
      signed: { bytes, signature },
      paymentProof: describeProof(intent, { signature, proofSignature, url: order.resource }),
    }
  const rows = match.rows
    .filter(({ ok }) => !ok)
    .map(
      ({ field, expected, got }) =>
        `${field}: expected ${renderMatchFact(expected)}, got ${renderMatchFact(got)}`,
    )
  throw new Error(
    `The signed transaction is not the payment ${intent.paymentId}. ${rows.join('; ')}`,
  )
}

/**
 * What the signer answers is what it was asked to sign, with a signature, and has the name that its chain will give it: a transaction under another name would
 * be looked for in vain, and paid again.
 * @throws Error when it is not: a defect, and nothing was sent
 */
async function sign(signer: Signer, request: SignRequest): Promise<SignerSignature> {
  const { wallet, transaction } = request
  const signed = await signer.sign(request)
  const { bytes, signature } = signed
  const same =
    wallet.family === 'evm'
      ? startsWith(contentOf(bytes), contentOf(transaction)) && keccak256(bytes) === signature
      : startsWith(messageOf(bytes), messageOf(transaction)) &&
        bs58.encode(bytes.subarray(1, 1 + SIGNATURE_LENGTH)) === signature
  if (same) return signed
  throw new Error(`What ${wallet.address} signed is not the transaction it was asked for.`)
}

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  return Buffer.compare(bytes.subarray(0, start.length), start) === 0
}

/** The fields of an EVM transaction of type 2, in their encoding: those of a signed one begin with those of the unsigned one. */
function contentOf(transaction: Uint8Array): Uint8Array {
  const [, first = 0] = transaction
  return transaction.subarray(2 + Math.max(0, first - LONG_LIST))
}
/** An RLP list that is longer than 55 bytes has the length of its length after this. */
const LONG_LIST = 0xf7

/** What is signed of a Solana transaction; the number of its signatures is one byte. */
function messageOf(transaction: Uint8Array): Uint8Array {
  const [signatures = 0] = transaction
  return transaction.subarray(1 + SIGNATURE_LENGTH * signatures)
}
const SIGNATURE_LENGTH = 64

function withNonce(unsigned: Uint8Array, nonce: number | null): Uint8Array {
  const decoded = decodeTransaction(unsigned)
  if (!decoded.ok) throw new Error(decoded.problem.code)
  const { chainId, gas, maxFeePerGas, maxPriorityFeePerGas, to, valueAtomic, data } = decoded
  const fields = { chainId, gas, maxFeePerGas, maxPriorityFeePerGas, to: to as Hex, data }
  return hexToBytes(
    serializeTransaction({
      ...fields,
      value: valueAtomic,
      nonce: nonce ?? decoded.nonce,
      type: 'eip1559',
    }),
  )
}

type Proof = { signature: string; proofSignature: string | null; url: string | null }

/**
 * The transaction's name and, on EVM, the payer's signature over it, the resource and the terms; on Solana its memo, the id of the payment, binds it. Null
 * for tokens: those are proven by what their payer signs for others to execute, and this payment is made.
 */
function describeProof(
  intent: PaymentIntent,
  { signature: txRef, proofSignature, url }: Proof,
): string | null {
  const { paymentId, network, asset, sender: from, recipient: payTo, amountAtomic } = intent
  if (!asset.native) return null
  const resource = url === null ? {} : { url }
  const evm = familyOf(network) === 'evm'
  const accepted: Requirements = {
    scheme: EXACT_SCHEME,
    network,
    amount: amountAtomic.toString(),
    asset: asset.address,
    payTo,
    maxTimeoutSeconds: PROOF_TIMEOUT_S,
    extra: {
      assetTransferMethod: TXID_METHOD,
      paymentFlow: UPFRONT_FLOW,
      ...(!evm && { memo: paymentId }),
    },
  }
  const payload = evm
    ? {
        type: 'payment-proof',
        alg: 'ES256K',
        format: 'eip712',
        txRef,
        from,
        signature: proofSignature,
      }
    : { type: 'payment-proof', alg: 'Ed25519', format: 'solana-memo', txRef, from }
  return encodeHeader({ x402Version: 2, ...(url !== null && { resource }), accepted, payload })
}

export type SignableCall = {
  chainId: number
  nonce: number
  gas: bigint
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
  to: Hex
  data: Hex
}

/**
 * Has a contract's call signed that moves no money of the wallet.
 * @throws as `signPayment`; Error when what was signed is not the call: a defect, and nothing was sent
 */
export async function signCall(
  { signer, wallet }: WalletSigner,
  call: SignableCall,
): Promise<Signed> {
  const unsigned = serializeTransaction({ ...call, value: 0n, type: 'eip1559' })
  const { bytes, signature } = await sign(signer, { wallet, transaction: hexToBytes(unsigned) })
  const facts = decodeTransaction(bytes)
  const same =
    facts.ok &&
    facts.sender === wallet.address &&
    facts.chainId === call.chainId &&
    facts.nonce === call.nonce &&
    facts.valueAtomic === 0n &&
    facts.to.toLowerCase() === call.to.toLowerCase() &&
    facts.data === call.data.toLowerCase()
  if (!same)
    throw new Error(
      `The transaction that ${wallet.address} signed is not the call it was asked for.`,
    )
  return { bytes, signature }
}

/**
 * Has the signature of a fee payer added to a transaction that others have signed.
 * @throws as `signPayment`; Error when what was signed is another message: a defect, and nothing was sent
 */
export async function coSign(
  { signer, wallet }: WalletSigner,
  transaction: Uint8Array,
): Promise<Signed> {
  const { bytes, signature } = await sign(signer, { wallet, transaction })
  const [requested, facts] = [decodeSolana(transaction), decodeSolana(bytes)]
  const same =
    requested.ok &&
    facts.ok &&
    facts.form === 'signed' &&
    bytesToHex(requested.message) === bytesToHex(facts.message)
  if (!same)
    throw new Error(`The transaction is not complete with the signature of ${wallet.address}.`)
  return { bytes, signature }
}
