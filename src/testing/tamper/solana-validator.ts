import {
  ComputeBudgetInstruction,
  ComputeBudgetProgram,
  SystemInstruction,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
  type TransactionInstruction,
} from '@solana/web3.js'
import { compareSigned } from '#chains/solana/compare.ts'
import { matchTransaction } from '#chains/solana/match.ts'
import type { PaymentIntent } from '#chains/match.ts'
import { ASSOCIATED, TOKEN, TOKEN_2022 } from '../token-instructions.ts'
import { isSignedBy, LIGHTHOUSE, MEMO, MEMO_V1, PAYER } from './solana-draft.ts'
import type { Attack } from './tamper.ts'

export function accepts({ intent, reviewed, bytes, door }: Attack): boolean {
  return door === 'review'
    ? matchTransaction(intent, bytes).ok
    : compareSigned(intent, reviewed, bytes).ok
}

/**
 * The verdict of web3.js, and of a reading of its instructions that is none of ours.
 * @param pays whether what moves is the intent's payment and nothing else
 */
export async function isSamePayment(
  { intent, reviewed, bytes, door }: Attack,
  pays: (intent: PaymentIntent, read: TransactionReading) => boolean,
): Promise<boolean> {
  const got = VersionedTransaction.deserialize(bytes)
  if (!Buffer.from(got.serialize()).equals(bytes) || got.message.addressTableLookups.length > 0)
    return false
  const { staticAccountKeys, header } = got.message
  if (header.numRequiredSignatures !== 1 || staticAccountKeys[0]?.toBase58() !== intent.sender)
    return false
  const { instructions, recentBlockhash } = TransactionMessage.decompile(got.message)
  const read = readInstructions(instructions)
  const bound = 5000n + (read.price * read.limit + 999_999n) / 1_000_000n
  if (
    !pays(intent, read) ||
    read.memos.join() !== intent.paymentId ||
    read.others > 0 ||
    bound > intent.maxFeeAtomic
  )
    return false
  const [signature = new Uint8Array()] = got.signatures
  const unsigned = signature.every((byte) => byte === 0)
  if (!unsigned && !isSignedBy(PAYER.publicKey, got.message.serialize(), signature)) return false
  if (door === 'review') return read.guards === 0
  const shown = VersionedTransaction.deserialize(reviewed)
  const before = readInstructions(TransactionMessage.decompile(shown.message).instructions)
  return (
    !unsigned &&
    read.guards <= 3 &&
    recentBlockhash === shown.message.recentBlockhash &&
    read.limit <= before.limit &&
    read.price <= before.price
  )
}

/** What the instructions do, each in one line: transfers of SOL, transfers of tokens, accounts opened. */
export type TransactionReading = {
  sol: string[]
  tokens: string[]
  opened: string[]
  memos: string[]
  limit: bigint
  price: bigint
  guards: number
  others: number
}

const MOVERS = [SystemProgram.programId, TOKEN, TOKEN_2022, ASSOCIATED]

function readInstructions(instructions: readonly TransactionInstruction[]): TransactionReading {
  const read: TransactionReading = {
    sol: [],
    tokens: [],
    opened: [],
    memos: [],
    limit: 0n,
    price: 0n,
    guards: 0,
    others: 0,
  }
  for (const instruction of instructions) {
    const { programId, data, keys } = instruction
    if (
      programId.equals(SystemProgram.programId) &&
      SystemInstruction.decodeInstructionType(instruction) === 'Transfer'
    ) {
      const { fromPubkey, toPubkey, lamports } = SystemInstruction.decodeTransfer(instruction)
      read.sol.push(`${fromPubkey.toBase58()} ${toPubkey.toBase58()} ${lamports}`)
    } else if (
      (programId.equals(TOKEN) || programId.equals(TOKEN_2022)) &&
      data[0] === 12 &&
      data.length === 10 &&
      keys.length === 4
    ) {
      read.tokens.push(
        [programId, ...keys.map(({ pubkey }) => pubkey)].map((each) => each.toBase58()).join(' ') +
          ` ${data.readBigUInt64LE(1)} ${data[9]}`,
      )
    } else if (
      programId.equals(ASSOCIATED) &&
      data.length === 1 &&
      data[0] === 1 &&
      keys.length === 6
    ) {
      read.opened.push(keys.map(({ pubkey }) => pubkey.toBase58()).join(' '))
    } else if (programId.equals(MEMO) || programId.equals(MEMO_V1))
      read.memos.push(data.toString('utf8'))
    else if (
      programId.equals(LIGHTHOUSE) &&
      (data[0] ?? 0) > 1 &&
      !keys.some(({ pubkey }) => MOVERS.some((mover) => mover.equals(pubkey)))
    )
      read.guards++
    else if (!programId.equals(ComputeBudgetProgram.programId)) read.others++
    else if (ComputeBudgetInstruction.decodeInstructionType(instruction) === 'SetComputeUnitLimit')
      read.limit += BigInt(ComputeBudgetInstruction.decodeSetComputeUnitLimit(instruction).units)
    else
      read.price += BigInt(
        ComputeBudgetInstruction.decodeSetComputeUnitPrice(instruction).microLamports,
      )
  }
  return read
}
