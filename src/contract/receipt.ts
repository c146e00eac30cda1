import * as v from 'valibot'
import { atomic } from './fields.ts'
import { ItemPrice } from './payment-link.ts'
import { MOST_PIECES, RateQuote } from './quote.ts'

/**
 * A payment as "payer paid X in transaction Y": what the chain shows, and nothing about a delivery.
 * `signed` holds the landed transaction's own bytes: decoding them shows, without any network, that
 * the payer signed exactly this. That it landed at `height` is a claim until a node confirms it.
 */
export const Receipt = v.object({
  receipt: v.literal('paydesk/2'),
  paymentId: v.string(),
  /** CAIP-2. */
  network: v.string(),
  /** Transaction hash (EVM) or first signature (Solana). */
  transaction: v.string(),
  /** Block; on Solana the slot. */
  height: v.number(),
  blockHash: v.nullable(v.string()),
  status: v.picklist(['confirmed', 'finalized']),
  payer: v.string(),
  recipient: v.string(),
  /** The decimal form of `amountAtomic`. */
  amount: v.string(),
  amountAtomic: atomic,
  asset: v.string(),
  symbol: v.string(),
  decimals: v.number(),
  /** Paid to the chain, in its native currency; null where another payment has the fee of the same transaction. */
  feeAtomic: v.nullable(atomic),
  resource: v.nullable(v.string()),
  description: v.nullable(v.string()),
  reference: v.nullable(v.string()),
  /** Of a link that sells pieces: how many, and the price of one. Neither is signed. */
  quantity: v.optional(
    v.object({
      pieces: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MOST_PIECES)),
      price: ItemPrice,
    }),
  ),
  /** Of a price in fiat: price, rate, source and times. It decides nothing. */
  quote: v.optional(RateQuote),
  /** Unix milliseconds. */
  orderedAt: v.number(),
  /**
   * Base64; null where the node did not return them, or the wallet sent a type this program cannot
   * read.
   */
  signed: v.nullable(
    v.object({ encoding: v.picklist(['evm-rlp-signed', 'solana-wire-v0']), bytes: v.string() }),
  ),
})
export type Receipt = v.InferOutput<typeof Receipt>
