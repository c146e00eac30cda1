import {
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionInstruction,
  type Keypair,
} from '@solana/web3.js'
import type { SolanaFixture } from './local-chains.ts'

const MEMO_PROGRAM = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')

/** `units`: the transaction may use no more, so that with too few it lands and fails. */
export type MemoTransfer = { lamports: bigint; memo: string; units?: number }

/** A transfer of SOL as another program would make it: with a memo of its choice, on a fresh blockhash. */
export async function sendWithMemo(
  { connection }: SolanaFixture,
  { payer, payee }: { payer: Keypair; payee: Keypair },
  { lamports, memo, units }: MemoTransfer,
): Promise<string> {
  const transaction = new Transaction({
    feePayer: payer.publicKey,
    ...(await connection.getLatestBlockhash()),
  })
  transaction.add(
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payee.publicKey, lamports }),
    new TransactionInstruction({ programId: MEMO_PROGRAM, keys: [], data: Buffer.from(memo) }),
  )
  if (units !== undefined) transaction.add(ComputeBudgetProgram.setComputeUnitLimit({ units }))
  transaction.sign(payer)
  return connection.sendRawTransaction(transaction.serialize(), {
    skipPreflight: units !== undefined,
  })
}
