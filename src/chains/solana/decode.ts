import { bytesToHex } from '@noble/hashes/utils.js'
import bs58 from 'bs58'
import { SOLANA_NATIVE } from '#contract/address.ts'
import { fact } from '#contract/facts.ts'
import type { Asset } from '#contract/network.ts'
import type { DecodeProblem } from '#contract/reasons.ts'
import type { Step, Transfer } from '../match.ts'
import { feeBoundAtomic, LAMPORTS_PER_SIGNATURE } from './fee.ts'
import { describeOperation, readOperation, type Operation } from './operations.ts'
import {
  readTransaction,
  writeMessage,
  WireError,
  writeTransaction,
  type WireMessage,
  type WireTransaction,
} from './wire.ts'

/** An account of a transaction and what the transaction may do with it. */
export type Account = {
  address: string
  signer: boolean
  writable: boolean
  called: boolean
  named: boolean
}

/** What a Solana transaction says. Amounts in lamports, addresses and hashes in base58. */
export type SolanaFacts = {
  form: 'unsigned' | 'partial' | 'signed'
  version: 'legacy' | 0 | 1
  feePayer: string
  /** Everyone who must sign, the fee payer first. */
  signers: string[]
  /** In the order of `signers`; all zeros where a signature is still missing. Not verified here. */
  signatures: Uint8Array[]
  /** The transaction's id: the fee payer's signature; null while it is missing. */
  signature: string | null
  blockhash: string
  accounts: Account[]
  operations: Operation[]
  /** The bytes that signers sign. */
  message: Uint8Array
  feeBoundAtomic: bigint
  /** The payment it makes; null when it makes none, several, or does anything this program does not understand. */
  transfer: Transfer | null
  steps: Step[]
}

export type SolanaDecoded = ({ ok: true } & SolanaFacts) | { ok: false; problem: DecodeProblem }

/**
 * Reads a transaction, legacy or v0, with or without its signatures. Fails closed: a lookup table, an unknown version, a spelling
 * that is not the canonical one, or one byte too many is a problem. Instructions that are not understood become `unknown` operations.
 * @param tokens those the words of the steps call by their name
 */
export function decodeTransaction(bytes: Uint8Array, tokens: readonly Asset[] = []): SolanaDecoded {
  return decode(bytes, { tokens, landed: false })
}

/** As `decodeTransaction`, of what the cluster has executed: that may also be of version 1, which no wallet is given to sign. */
export function decodeExecuted(bytes: Uint8Array): SolanaDecoded {
  return decode(bytes, { tokens: [], landed: true })
}

function decode(
  bytes: Uint8Array,
  { tokens, landed }: { tokens: readonly Asset[]; landed: boolean },
): SolanaDecoded {
  try {
    const wire = readTransaction(bytes, { landed })
    if (bytesToHex(writeTransaction(wire)) !== bytesToHex(bytes))
      return { ok: false, problem: fact('not_canonical') }
    return { ok: true, ...readFacts(wire, tokens) }
  } catch (error) {
    if (error instanceof WireError) return { ok: false, problem: error.problem }
    throw error
  }
}

function readFacts(
  { signatures, message }: WireTransaction,
  tokens: readonly Asset[],
): SolanaFacts {
  const accounts = readAccounts(message)
  const addressAt = (index: number) => accounts[index]?.address ?? ''
  const operations = message.instructions.map(({ program, accounts: indexes, data }) =>
    readOperation({ program: addressAt(program), accounts: indexes.map(addressAt), data }),
  )
  const present = signatures.filter((signature) => signature.some((byte) => byte !== 0))
  const [first = new Uint8Array(64)] = signatures
  return {
    form:
      present.length === 0
        ? 'unsigned'
        : present.length === signatures.length
          ? 'signed'
          : 'partial',
    version: message.version,
    feePayer: addressAt(0),
    signers: accounts.filter(({ signer }) => signer).map(({ address }) => address),
    signatures: [...signatures],
    signature: present.includes(first) ? bs58.encode(first) : null,
    blockhash: bs58.encode(message.blockhash),
    accounts,
    operations,
    message: writeMessage(message),
    feeBoundAtomic: boundOf(message, operations),
    transfer: findTransfer(operations),
    steps: operations.map((operation) => describeOperation(operation, tokens)),
  }
}

/** In version 1 the instructions of the compute budget program set nothing: the message itself names its priority fee. */
function boundOf(
  { version, requiredSignatures: signatures, config }: WireMessage,
  operations: readonly Operation[],
): bigint {
  if (version === 1)
    return BigInt(signatures) * LAMPORTS_PER_SIGNATURE + (config?.priorityFee ?? 0n)
  return feeBoundAtomic({
    signatures,
    instructions: operations.length,
    unitLimit: operations.find((operation) => operation.kind === 'fee_limit')?.units,
    unitPriceMicroLamports: operations.find((operation) => operation.kind === 'fee_price')
      ?.microLamports,
  })
}

function readAccounts({
  requiredSignatures,
  readonlySigned,
  readonlyUnsigned,
  keys,
  instructions,
}: WireMessage): Account[] {
  const called = new Set(instructions.map(({ program }) => program))
  const named = new Set(instructions.flatMap(({ accounts }) => accounts))
  return keys.map((key, index) => {
    const signer = index < requiredSignatures
    return {
      address: bs58.encode(key),
      signer,
      writable: signer
        ? index < requiredSignatures - readonlySigned
        : index < keys.length - readonlyUnsigned,
      called: called.has(index),
      named: named.has(index),
    }
  })
}

function findTransfer(operations: readonly Operation[]): Transfer | null {
  const [transfer, ...more] = operations.filter(
    (operation) => operation.kind === 'transfer' || operation.kind === 'token_transfer',
  )
  const memos = operations.filter((operation) => operation.kind === 'memo')
  const opened = operations.filter((operation) => operation.kind === 'account_opened')
  if (
    !transfer ||
    more.length > 0 ||
    memos.length > 1 ||
    operations.some(({ kind }) => kind === 'unknown')
  )
    return null
  const memo = memos[0]?.text ?? null
  if (transfer.kind === 'token_transfer') {
    const { authority: sender, mint: asset, destination, amountAtomic } = transfer
    return {
      sender,
      recipient: opened.find(({ account }) => account === destination)?.owner ?? null,
      asset,
      amountAtomic,
      memo,
    }
  }
  return {
    sender: transfer.from,
    recipient: transfer.to,
    asset: SOLANA_NATIVE,
    amountAtomic: transfer.lamports,
    memo,
  }
}
