import { PublicKey, type Connection } from '@solana/web3.js'
import { decodeTransaction } from '#chains/solana/decode.ts'
import type { WalletPaymentIntent, Sent } from '../../payment-intent/intent.ts'

/** The most a node returns at once. */
const PAGE = 1_000
const MAX_PAGES = 5
/** Clocks differ, and a block's time is an estimate. */
const EARLIER_S = 600

/** Transactions already compared with these bytes that did not match: none is fetched twice. */
const others = new WeakMap<Uint8Array, Set<string>>()

/**
 * The on-chain signature of a transaction that another account completes and sends; undefined while
 * it is not on the chain. It is identified by its message, which is what the payer signed, among
 * the transactions of the account it debits.
 * @throws when the node does not show everything needed: absence is reported only after a complete
 * search
 */
export async function findByMessage(
  connection: Connection,
  { order, sent }: { order: WalletPaymentIntent; sent: Sent },
): Promise<string | undefined> {
  // Bytes are dropped only once it is final; its own signature is known by then.
  if (!sent.bytes) return undefined
  const decoded = decodeTransaction(sent.bytes)
  if (!decoded.ok) throw new Error(decoded.problem)
  const looked = others.get(sent.bytes) ?? new Set<string>()
  others.set(sent.bytes, looked)
  const transfer = decoded.operations.find((operation) => operation.kind === 'token_transfer')
  const account = new PublicKey(transfer?.source ?? order.sender)
  const earliest = Math.floor(order.createdAt / 1000) - EARLIER_S
  let before: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const found = await connection.getSignaturesForAddress(
      account,
      { limit: PAGE, ...(before && { before }) },
      'confirmed',
    )
    const recent = found.filter(
      ({ blockTime }) => blockTime === null || blockTime === undefined || blockTime >= earliest,
    )
    for (const { signature } of recent) {
      if (looked.has(signature)) continue
      if (await hasMessage(connection, signature, decoded.message)) return signature
      looked.add(signature)
    }
    if (found.length < PAGE || recent.length < found.length) return undefined
    before = found.at(-1)?.signature
  }
  throw new Error('The account has more transactions than were looked through.')
}

async function hasMessage(
  connection: Connection,
  signature: string,
  message: Uint8Array,
): Promise<boolean> {
  const transaction = await connection.getTransaction(signature, {
    commitment: 'confirmed',
    maxSupportedTransactionVersion: 0,
  })
  if (!transaction) throw new Error('The node names a transaction that it does not show.')
  const found = transaction.transaction.message.serialize()
  return found.length === message.length && found.every((byte, index) => byte === message[index])
}
