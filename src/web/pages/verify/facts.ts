import * as v from 'valibot'
import { parseAddress } from '#contract/address.ts'
import type { NetworkId } from '#contract/network.ts'
import { decodeTransaction, type SolanaFacts } from '#chains/solana/decode.ts'
import { Eip3009Payload } from '#x402/authorization.ts'
import { NativeTransferPayload } from '#x402/native-transfer.ts'
import { readNetwork } from '#x402/networks.ts'
import { methodOf, networkNameOf, schemeOf, type PaymentPayload } from '#x402/payload.ts'
import { fromV1, type Requirements } from '#x402/requirements.ts'
import { MemoPayload, TxidPayload } from '#x402/txid.ts'

/** What a proof says of itself. Nothing in here was checked. */
export type Facts = {
  version: 1 | 2
  scheme: string
  networkName: string
  network: NetworkId | undefined
  method: string | undefined
  asset: string | null
  payTo: string | null
  amountAtomic: bigint | null
  payer: string | null
  resource: string | null
  memo: string | null
  /** Transaction hash or signature, where it names one. */
  transaction: string | null
  body: Body
}

export type Body =
  | { kind: 'txid'; proof: TxidPayload; terms: Requirements | null }
  | { kind: 'memo'; proof: MemoPayload }
  | { kind: 'authorization'; proof: Eip3009Payload }
  | { kind: 'solana'; facts: SolanaFacts; bytes: Uint8Array }
  /** Its payload cannot be read here; `at` is the field. */
  | { kind: 'unreadable'; at: string; problem: string }

export function factsOf(payment: PaymentPayload): Facts {
  const body = readBody(payment)
  const terms = termsOf(payment, body)
  const transfer = body.kind === 'solana' ? body.facts.operations.find((operation) => operation.kind === 'transfer') : undefined
  const memo = body.kind === 'solana' ? body.facts.operations.find((operation) => operation.kind === 'memo')?.text : undefined
  const authorization = body.kind === 'authorization' ? body.proof.authorization : undefined
  return {
    version: payment.x402Version,
    scheme: schemeOf(payment),
    networkName: networkNameOf(payment),
    network: readNetwork(networkNameOf(payment), payment.x402Version),
    method: methodOf(payment),
    asset: terms?.requirements.asset ?? null,
    payTo: normal(terms?.requirements.payTo) ?? authorization?.to ?? transfer?.to ?? null,
    amountAtomic: terms ? BigInt(terms.requirements.amount) : (authorization?.value ?? transfer?.lamports ?? null),
    payer: authorization?.from ?? transfer?.from ?? (body.kind === 'txid' ? normal(body.proof.from) : body.kind === 'memo' ? (body.proof.from ?? null) : null),
    resource: terms?.resource ?? null,
    memo: memo ?? textOf(terms?.requirements.extra.memo) ?? textOf(terms?.requirements.extra.paymentId),
    transaction: body.kind === 'txid' || body.kind === 'memo' ? body.proof.txRef : body.kind === 'solana' ? body.facts.signature : null,
    body,
  }
}

function termsOf(payment: PaymentPayload, body: Body): { requirements: Requirements; resource: string | null } | undefined {
  if (payment.x402Version === 2) return { requirements: payment.accepted, resource: payment.resource?.url ?? null }
  if (body.kind !== 'txid' || !body.proof.offer) return undefined
  const { requirements, resource } = fromV1(body.proof.offer)
  return { requirements, resource: resource.url }
}

function readBody(payment: PaymentPayload): Body {
  const { payload } = payment
  if ('authorization' in payload) return read(Eip3009Payload, payload, (proof) => ({ kind: 'authorization', proof }))
  if (payload.format === 'solana-memo') return read(MemoPayload, payload, (proof) => ({ kind: 'memo', proof }))
  if ('txRef' in payload) return read(TxidPayload, payload, (proof) => ({ kind: 'txid', proof, terms: payment.x402Version === 2 ? payment.accepted : null }))
  if ('transaction' in payload) {
    return read(NativeTransferPayload, payload, ({ transaction }) => {
      const facts = decodeTransaction(transaction)
      return facts.ok ? { kind: 'solana', facts, bytes: transaction } : { kind: 'unreadable', at: 'payload.transaction', problem: facts.problem }
    })
  }
  return { kind: 'unreadable', at: 'payload', problem: 'Its kind is not one that this page reads.' }
}

function read<S extends v.GenericSchema>(schema: S, payload: unknown, then: (proof: v.InferOutput<S>) => Body): Body {
  const result = v.safeParse(schema, payload)
  if (result.success) return then(result.output)
  const [issue] = result.issues
  const path = v.getDotPath(issue)
  return { kind: 'unreadable', at: path ? `payload.${path}` : 'payload', problem: issue.message }
}

function normal(address: string | undefined): string | null {
  if (address === undefined) return null
  const parsed = parseAddress(address)
  return parsed.ok ? parsed.address : address
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
