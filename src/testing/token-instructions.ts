import { PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'

/** The instructions of a token payment as web3.js writes them, from the programs' own documentation: what tests hold ours against. */

export const TOKEN = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
export const TOKEN_2022 = new PublicKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
export const ASSOCIATED = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')

/** By the chain's own library. */
export function accountOf(owner: PublicKey, mint: PublicKey, program = TOKEN): PublicKey {
  return PublicKey.findProgramAddressSync(
    [owner.toBuffer(), program.toBuffer(), mint.toBuffer()],
    ASSOCIATED,
  )[0]
}

export type CheckedTransfer = {
  source: PublicKey
  mint: PublicKey
  destination: PublicKey
  authority: PublicKey
  amount: bigint
  decimals: number
  program?: PublicKey
  /** Accounts after the four. */
  more?: PublicKey[]
}

export function transferChecked({
  source,
  mint,
  destination,
  authority,
  amount,
  decimals,
  program = TOKEN,
  more = [],
}: CheckedTransfer): TransactionInstruction {
  const data = Buffer.alloc(10)
  data.writeUInt8(12, 0)
  data.writeBigUInt64LE(amount, 1)
  data.writeUInt8(decimals, 9)
  return new TransactionInstruction({
    programId: program,
    keys: [
      { pubkey: source, isSigner: false, isWritable: true },
      { pubkey: mint, isSigner: false, isWritable: false },
      { pubkey: destination, isSigner: false, isWritable: true },
      { pubkey: authority, isSigner: true, isWritable: false },
      ...more.map((pubkey) => ({ pubkey, isSigner: false, isWritable: false })),
    ],
    data,
  })
}

export type Opening = {
  payer: PublicKey
  owner: PublicKey
  mint: PublicKey
  program?: PublicKey
  account?: PublicKey
  data?: number[]
}

export function openAccount({
  payer,
  owner,
  mint,
  program = TOKEN,
  account = accountOf(owner, mint, program),
  data = [1],
}: Opening): TransactionInstruction {
  return new TransactionInstruction({
    programId: ASSOCIATED,
    keys: [
      { pubkey: payer, isSigner: true, isWritable: true },
      { pubkey: account, isSigner: false, isWritable: true },
      { pubkey: owner, isSigner: false, isWritable: false },
      { pubkey: mint, isSigner: false, isWritable: false },
      { pubkey: SystemProgram.programId, isSigner: false, isWritable: false },
      { pubkey: program, isSigner: false, isWritable: false },
    ],
    data: Buffer.from(data),
  })
}

/** Any instruction of a token program over one account and its owner, for example `Approve`. */
export function tokenInstruction(
  data: number[],
  accounts: { pubkey: PublicKey; isSigner?: boolean; isWritable?: boolean }[],
  program = TOKEN,
): TransactionInstruction {
  return new TransactionInstruction({
    programId: program,
    keys: accounts.map(({ pubkey, isSigner = false, isWritable = false }) => ({
      pubkey,
      isSigner,
      isWritable,
    })),
    data: Buffer.from(data),
  })
}
