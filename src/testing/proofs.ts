import { secp256k1 } from '@noble/curves/secp256k1.js'
import type { TypedDataDefinition } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { EVM_NATIVE, SOLANA_NATIVE } from '#contract/address.ts'
import { ProblemError } from '#contract/problem.ts'
import { reasonCodeOf } from '#contract/reasons.ts'
import { encodeBase64, encodeHeader } from '#x402/header.ts'
import { NATIVE_TRANSFER_METHOD, TXID_METHOD } from '#x402/methods.ts'
import { offerProofTypedData, proofTypedData } from '#x402/txid.ts'
import { toV1, type Requirements } from '#x402/requirements.ts'

/** Payment proofs as payers make them, for tests. */

export type EvmProof = {
  payer: PrivateKeyAccount
  network: string
  payTo: string
  amount: bigint
  txRef: string
  url?: string
  asset?: string
  version?: 1 | 2
  /** Who signs, when it is not the payer. */
  signer?: PrivateKeyAccount
}

/** The header value of a proof for a transfer the payer has broadcast. */
export async function proveTxid({
  payer,
  network,
  payTo,
  amount,
  txRef,
  url = 'https://shop.example/a',
  asset = EVM_NATIVE,
  version = 2,
  signer = payer,
}: EvmProof): Promise<string> {
  const resource = { url, description: 'An article' }
  const terms = {
    network,
    from: payer.address,
    payTo,
    asset,
    amountAtomic: amount,
    maxTimeoutSeconds: 60,
    resource,
  }
  const accepted: Requirements = {
    scheme: 'exact',
    network,
    amount: amount.toString(),
    asset,
    payTo,
    maxTimeoutSeconds: 60,
    extra: { assetTransferMethod: TXID_METHOD },
  }
  const proof = {
    type: 'payment-proof',
    alg: 'ES256K',
    format: 'eip712',
    txRef,
    from: payer.address,
  }
  if (version === 2) {
    const signature = await sign(signer, proofTypedData(terms, txRef))
    return encodeHeader({ x402Version: 2, resource, accepted, payload: { ...proof, signature } })
  }
  const signature = await sign(
    signer,
    offerProofTypedData({ ...terms, networkName: network }, txRef),
  )
  return encodeHeader({
    x402Version: 1,
    scheme: 'exact',
    network,
    payload: { ...proof, signature, offer: toV1(accepted, resource) },
  })
}

/** Tests also sign what a wallet would refuse, so the message is not held to its types. */
function sign(signer: PrivateKeyAccount, typedData: TypedDataDefinition): Promise<string> {
  return signer.signTypedData(typedData)
}

/** What stands in a header, as far as tests change it. */
type ProofValue = {
  payload: Record<string, unknown>
  accepted: Record<string, unknown>
  resource: Record<string, unknown>
} & Record<string, unknown>

/** The header value with parts of it replaced. */
export function alter(header: string, change: (value: ProofValue) => unknown): string {
  return encodeHeader(change(JSON.parse(Buffer.from(header, 'base64').toString())))
}

const ORDER = secp256k1.Point.Fn.ORDER

/** The header value with the other signature that the same key's signature gives without the key: s high, and the other recovery byte. */
export function withHighS(header: string): string {
  return alter(header, (value) => {
    const signature = String(value.payload.signature)
    const s = (ORDER - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
    return {
      ...value,
      payload: {
        ...value.payload,
        signature: `${signature.slice(0, 66)}${s}${signature.endsWith('1b') ? '1c' : '1b'}`,
      },
    }
  })
}

/** Why a call was refused: its code, and the reason and the check of a refused proof. */
export async function refusal(
  call: Promise<unknown>,
): Promise<{ code: string; reason?: string; check?: unknown }> {
  try {
    await call
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    const reason = reasonCodeOf(error.facts.details)
    return {
      code: error.code,
      ...(reason !== undefined && { reason, check: error.facts.details?.['check'] }),
    }
  }
  throw new Error('The call was not refused.')
}

export function refused(reason: string, check: string) {
  return { code: 'INVALID_PAYMENT_PROOF', reason, check }
}

/** What an account reads whose proof pays a wallet of another account. */
export const REFUSED_PAYEE = { code: 'FORBIDDEN', reason: 'payee_not_owned' }

export type SolanaProof = {
  network: string
  payTo: string
  lamports: bigint
  memo?: string
  url?: string
  version?: 1 | 2
}

/** The header value of a signed transfer of SOL that the service broadcasts. */
export function proveTransfer(terms: SolanaProof, transaction: Uint8Array): string {
  return wrapSolana(terms, {
    method: NATIVE_TRANSFER_METHOD,
    payload: { transaction: encodeBase64(transaction) },
  })
}

/** The header value of a transfer of SOL that has been broadcast. */
export function proveMemo(terms: SolanaProof, txRef: string, from?: string): string {
  return wrapSolana(terms, {
    method: TXID_METHOD,
    payload: {
      type: 'payment-proof',
      alg: 'Ed25519',
      format: 'solana-memo',
      txRef,
      ...(from && { from }),
    },
  })
}

function wrapSolana(
  { network, payTo, lamports, memo, url = 'https://shop.example/a', version = 2 }: SolanaProof,
  { method, payload }: { method: string; payload: object },
): string {
  if (version === 1) return encodeHeader({ x402Version: 1, scheme: 'exact', network, payload })
  const extra = { assetTransferMethod: method, ...(memo && { memo }) }
  const accepted: Requirements = {
    scheme: 'exact',
    network,
    amount: lamports.toString(),
    asset: SOLANA_NATIVE,
    payTo,
    maxTimeoutSeconds: 60,
    extra,
  }
  return encodeHeader({ x402Version: 2, resource: { url }, accepted, payload })
}
