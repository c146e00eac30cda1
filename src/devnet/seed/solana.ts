import { ed25519 } from '@noble/curves/ed25519.js'
import { VersionedTransaction, type Connection } from '@solana/web3.js'
import bs58 from 'bs58'
import { buildPayment } from '#chains/solana/build.ts'
import { NATIVE_SOL, SOLANA_DEVNET } from '#contract/network.ts'
import type { SeedOutcome, PlannedPayment } from './plan.ts'

const UNIT_LIMIT = 20_000
const UNIT_PRICE_MICRO_LAMPORTS = 50_000n

const LAND_WITHIN_MS = 60_000
const SEND_AGAIN_AFTER_MS = 2_000
const POLL_MS = 50
const STATUS_BATCH = 256

/** Too few for the memo: the transaction lands and fails. */
const SHORT_UNIT_LIMIT = 500

/** Makes the Solana payments of the history: real transactions, landing now. A node of this chain cannot make blocks of the past. */
export async function makeSolanaHistory(
  connection: Connection,
  planned: readonly PlannedPayment[],
): Promise<SeedOutcome[]> {
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash('confirmed')
  const builtHeight = await connection.getSlot('confirmed')
  const built = planned.map((payment) => build(payment, blockhash))
  const signed = built.filter(({ payment }) => payment.outcome !== 'expired')
  await land(connection, signed)
  return Promise.all(
    built.map(async ({ payment, unsigned, signature }): Promise<SeedOutcome> => {
      const facts = {
        payment,
        unsignedTransaction: Buffer.from(unsigned).toString('base64'),
        nonce: null,
        builtHeight,
        lastValidBlockHeight,
      }
      if (payment.outcome === 'expired') return { ...facts, signature: null, landed: null }
      const transaction = await connection.getTransaction(signature, {
        commitment: 'confirmed',
        maxSupportedTransactionVersion: 0,
      })
      if (!transaction?.meta)
        throw new Error(
          `The payment ${payment.paymentId} of the history landed and cannot be found.`,
        )
      const { err, fee } = transaction.meta
      if ((err === null) !== (payment.outcome === 'paid'))
        throw new Error(
          `The payment ${payment.paymentId} of the history ended otherwise than planned.`,
        )
      return {
        ...facts,
        signature,
        landed: {
          failure: err && `The transaction landed and failed: ${JSON.stringify(err)}`,
          blockHeight: transaction.slot,
          blockHash: null,
          feeAtomic: BigInt(fee),
        },
      }
    }),
  )
}

type Built = { payment: PlannedPayment; unsigned: Uint8Array; bytes: Uint8Array; signature: string }

function build(payment: PlannedPayment, blockhash: string): Built {
  const { sender, recipient, outcome } = payment
  const unsigned = buildPayment({
    paymentId: payment.paymentId,
    network: SOLANA_DEVNET,
    asset: NATIVE_SOL,
    sender: sender.solana.address,
    recipient: recipient.solana.address,
    amountAtomic: payment.amountAtomic,
    blockhash,
    unitLimit: outcome === 'failed' ? SHORT_UNIT_LIMIT : UNIT_LIMIT,
    unitPriceMicroLamports: UNIT_PRICE_MICRO_LAMPORTS,
  })
  const transaction = VersionedTransaction.deserialize(unsigned)
  const signature = ed25519.sign(
    transaction.message.serialize(),
    bs58.decode(sender.solana.secretKey).subarray(0, 32),
  )
  transaction.signatures = [signature]
  return { payment, unsigned, bytes: transaction.serialize(), signature: bs58.encode(signature) }
}

/** A busy node may refuse some of so many at once; the same bytes again are the same payment. */
async function land(connection: Connection, signed: readonly Built[]): Promise<void> {
  const deadline = Date.now() + LAND_WITHIN_MS
  let open = signed
  let sentAt = 0
  while (open.length > 0) {
    if (Date.now() > deadline)
      throw new Error(
        `${open.length} payments of the history did not land within ${LAND_WITHIN_MS / 1000} s.`,
      )
    if (Date.now() - sentAt > SEND_AGAIN_AFTER_MS) {
      await Promise.allSettled(
        open.map(({ bytes }) => connection.sendRawTransaction(bytes, { skipPreflight: true })),
      )
      sentAt = Date.now()
    }
    const { value } = await connection.getSignatureStatuses(
      open.slice(0, STATUS_BATCH).map(({ signature }) => signature),
    )
    open = open.filter((_, index) => !value[index])
    if (open.length > 0) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
