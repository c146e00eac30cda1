import {
  ComputeBudgetProgram,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { feeBoundAtomic, priorityFeeOfPrice } from '#chains/solana/fee.ts'
import { MEMO_PROGRAM } from '#chains/solana/programs.ts'
import type { Ready } from '../chain.ts'
import type { SolanaEndpoints } from './client.ts'
import { readUnitPrice, UNIT_LIMIT } from './fees.ts'

/** Builds the transaction in which a payee writes that it was paid: a memo, signed and paid for by the payee. It moves nothing. */
export function buildNote(
  endpoints: SolanaEndpoints,
  {
    payee,
    text,
    priorityFeeAtomic,
  }: { payee: string; text: string; priorityFeeAtomic: bigint | undefined },
): Promise<Ready> {
  return endpoints.ask(async (connection): Promise<Ready> => {
    const payer = new PublicKey(payee)
    const [price, latest] = await Promise.all([
      readUnitPrice(connection, [payee], { priorityFeeAtomic }),
      connection.getLatestBlockhashAndContext('confirmed'),
    ])
    const instructions = [
      ComputeBudgetProgram.setComputeUnitLimit({ units: UNIT_LIMIT }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: price }),
      // Naming the signer has the memo program check its signature.
      new TransactionInstruction({
        programId: new PublicKey(MEMO_PROGRAM),
        keys: [{ pubkey: payer, isSigner: true, isWritable: false }],
        data: Buffer.from(text),
      }),
    ]
    const { blockhash, lastValidBlockHeight } = latest.value
    const message = new TransactionMessage({
      payerKey: payer,
      recentBlockhash: blockhash,
      instructions,
    }).compileToV0Message()
    return {
      ok: true,
      bytes: new VersionedTransaction(message).serialize(),
      encoding: 'solana-wire-v0',
      builtHeight: latest.context.slot,
      lastValidBlockHeight,
      feeAtomic: feeBoundAtomic({
        signatures: 1,
        instructions: instructions.length,
        unitLimit: UNIT_LIMIT,
        unitPriceMicroLamports: price,
      }),
      priorityFeeAtomic: priorityFeeOfPrice(price, BigInt(UNIT_LIMIT)),
      decoded: {
        feePayer: payee,
        blockhash,
        unitLimit: UNIT_LIMIT,
        unitPriceMicroLamports: price.toString(),
        memo: text,
      },
    }
  })
}
