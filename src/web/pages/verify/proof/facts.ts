import * as v from 'valibot'
import { parseAddress } from '#contract/address.ts'
import { fieldProblemOf } from '#contract/explain-issue.ts'
import { fact } from '#contract/facts.ts'
import type { NetworkId } from '#contract/network.ts'
import type { DecodeProblem } from '#contract/reasons.ts'
import { decodeTransaction as decodeEvm, type EvmFacts } from '#chains/evm/decode.ts'
import { decodeTransaction, type SolanaFacts } from '#chains/solana/decode.ts'
import { Eip3009Payload, Permit2Payload } from '#x402/authorization.ts'
import { TOKEN_TRANSFER_METHOD } from '#x402/methods.ts'
import {
  NativeTransferPayload,
  SignedTransactionPayload,
  methodOf,
  networkNameOf,
  schemeOf,
  type PaymentPayload,
} from '#x402/payload.ts'
import { readNetwork } from '#x402/networks.ts'
import { fromV1, type Requirements } from '#x402/requirements.ts'
import { MemoPayload, TxidPayload } from '#x402/txid.ts'

/** What a proof says of itself. Nothing in here was checked. */
export type ProofFacts = {
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
  | { kind: 'permit'; proof: Permit2Payload }
  /** Native currency of EVM, wholly signed, for others to send. */
  | { kind: 'evm'; facts: EvmFacts; bytes: Uint8Array }
  | { kind: 'solana'; facts: SolanaFacts; bytes: Uint8Array }
  /** Its payload cannot be read here; `at` is the field. */
  | { kind: 'unreadable'; at: string; problem: DecodeProblem }

export function factsOf(payment: PaymentPayload): ProofFacts {
  const body = readBody(payment)
  const terms = termsOf(payment, body)
  const own = saidBy(body)
  return {
    version: payment.x402Version,
    scheme: schemeOf(payment),
    networkName: networkNameOf(payment),
    network: readNetwork(networkNameOf(payment), payment.x402Version),
    method: own.method ?? methodOf(payment),
    asset: terms?.requirements.asset ?? own.asset ?? null,
    payTo: normal(terms?.requirements.payTo) ?? own.payTo ?? null,
    amountAtomic: terms ? BigInt(terms.requirements.amount) : (own.amountAtomic ?? null),
    payer: own.payer ?? null,
    resource: terms?.resource ?? null,
    memo:
      own.memo ??
      textOf(terms?.requirements.extra.memo) ??
      textOf(terms?.requirements.extra.paymentId),
    transaction: own.transaction ?? null,
    body,
  }
}

type Said = {
  method?: string
  asset?: string
  payTo?: string
  amountAtomic?: bigint
  payer?: string | null
  memo?: string
  transaction?: string | null
}

/** What the payload tells by itself, beside the terms that a payer says it accepted. */
function saidBy(body: Body): Said {
  switch (body.kind) {
    case 'txid':
      return { payer: normal(body.proof.from), transaction: body.proof.txRef }
    case 'memo':
      return { payer: body.proof.from ?? null, transaction: body.proof.txRef }
    case 'authorization': {
      const { from, to, value } = body.proof.authorization
      return { payer: from, payTo: to, amountAtomic: value }
    }
    case 'permit': {
      const { from, permitted, witness } = body.proof.permit2Authorization
      return {
        payer: from,
        payTo: witness.to,
        amountAtomic: permitted.amount,
        asset: permitted.token,
      }
    }
    case 'evm':
      return {
        payer: body.facts.sender,
        payTo: body.facts.to,
        amountAtomic: body.facts.valueAtomic,
        transaction: body.facts.hash,
      }
    case 'solana':
      return saidBySolana(body.facts)
    case 'unreadable':
      return {}
  }
}

function saidBySolana({ operations, signature }: SolanaFacts): Said {
  const memo = operations.find((operation) => operation.kind === 'memo')?.text
  const common = { transaction: signature, ...(memo !== undefined && { memo }) }
  const token = operations.find((operation) => operation.kind === 'token_transfer')
  // A transfer names token accounts, never whose they are: the payee is what the reader expects.
  if (token)
    return {
      ...common,
      method: TOKEN_TRANSFER_METHOD,
      asset: token.mint,
      amountAtomic: token.amountAtomic,
      payer: token.authority,
    }
  const transfer = operations.find((operation) => operation.kind === 'transfer')
  return transfer
    ? { ...common, payTo: transfer.to, amountAtomic: transfer.lamports, payer: transfer.from }
    : common
}

function termsOf(
  payment: PaymentPayload,
  body: Body,
): { requirements: Requirements; resource: string | null } | undefined {
  if (payment.x402Version === 2)
    return { requirements: payment.accepted, resource: payment.resource?.url ?? null }
  if (body.kind !== 'txid' || !body.proof.offer) return undefined
  const { requirements, resource } = fromV1(body.proof.offer)
  return { requirements, resource: resource.url }
}

function readBody(payment: PaymentPayload): Body {
  const { payload } = payment
  if ('authorization' in payload)
    return read(Eip3009Payload, payload, (proof) => ({ kind: 'authorization', proof }))
  if ('permit2Authorization' in payload)
    return read(Permit2Payload, payload, (proof) => ({ kind: 'permit', proof }))
  if ('signedTransaction' in payload)
    return read(SignedTransactionPayload, payload, ({ signedTransaction }) =>
      readEvm(signedTransaction),
    )
  if (payload.format === 'solana-memo')
    return read(MemoPayload, payload, (proof) => ({ kind: 'memo', proof }))
  if ('txRef' in payload)
    return read(TxidPayload, payload, (proof) => ({
      kind: 'txid',
      proof,
      terms: payment.x402Version === 2 ? payment.accepted : null,
    }))
  if ('transaction' in payload) {
    return read(NativeTransferPayload, payload, ({ transaction }) => {
      const facts = decodeTransaction(transaction)
      return facts.ok
        ? { kind: 'solana', facts, bytes: transaction }
        : { kind: 'unreadable', at: 'payload.transaction', problem: facts.problem }
    })
  }
  return { kind: 'unreadable', at: 'payload', problem: fact('unknown_payload') }
}

function read<S extends v.GenericSchema>(
  schema: S,
  payload: unknown,
  then: (proof: v.InferOutput<S>) => Body,
): Body {
  const result = v.safeParse(schema, payload)
  if (result.success) return then(result.output)
  const [issue] = result.issues
  const path = v.getDotPath(issue)
  return {
    kind: 'unreadable',
    at: path ? `payload.${path}` : 'payload',
    problem: fieldProblemOf(issue),
  }
}

function readEvm(text: string): Body {
  const bytes = Uint8Array.from(text.slice(2).match(/../g) ?? [], (pair) =>
    Number.parseInt(pair, 16),
  )
  const facts = decodeEvm(bytes)
  if (!facts.ok)
    return { kind: 'unreadable', at: 'payload.signedTransaction', problem: facts.problem }
  return facts.sender === null
    ? { kind: 'unreadable', at: 'payload.signedTransaction', problem: fact('unsigned') }
    : { kind: 'evm', facts, bytes }
}

function normal(address: string | undefined): string | null {
  if (address === undefined) return null
  const parsed = parseAddress(address)
  return parsed.ok ? parsed.address : address
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
