import { PublicKey, type Connection } from '@solana/web3.js'
import type { SenderFunds, OpenPayment } from '../chain.ts'
import type { SolanaEndpoints } from './client.ts'
import { readStatuses } from './observe.ts'

/**
 * What a wallet holds, and which of its open payments that balance certainly includes: those
 * confirmed before the balance was requested, in a slot before the balance's own. Neither condition
 * is enough alone: one endpoint may have several nodes at different heights, and a node may label a
 * balance with a slot that it reached after reading the balance. Payments that are not certain
 * count as still to be paid.
 */
export function readFunds(
  endpoints: SolanaEndpoints,
  wallet: string,
  openPayments: (since: number) => Promise<readonly OpenPayment[]>,
): Promise<SenderFunds> {
  return endpoints.ask(async (connection): Promise<SenderFunds> => {
    const since = await connection.getSlot('confirmed')
    const open = await openPayments(since)
    const slots = await readSlots(
      connection,
      open.flatMap(({ signatures }) => signatures),
    )
    // A node that is behind refuses to answer.
    const [{ context, value }, rent] = await Promise.all([
      connection.getBalanceAndContext(new PublicKey(wallet), {
        commitment: 'confirmed',
        minContextSlot: since,
      }),
      connection.getMinimumBalanceForRentExemption(0),
    ])
    const isIn = ({ signatures }: OpenPayment) =>
      signatures.some((signature) => (slots.get(signature) ?? Infinity) < context.slot)
    const [landed, unproven] = [open.filter(isIn), open.filter((payment) => !isIn(payment))]
    return {
      height: since,
      balanceAtomic: BigInt(value),
      nonce: null,
      landed: new Set(landed.map(({ id }) => id)),
      unproven: new Set(unproven.map(({ id }) => id)),
      minimumAtomic: BigInt(rent),
    }
  })
}

/** The slots of the confirmed ones. */
async function readSlots(
  connection: Connection,
  signatures: readonly string[],
): Promise<Map<string, number>> {
  const { statuses } = await readStatuses(connection, signatures)
  return new Map(
    signatures.flatMap((signature, index): [string, number][] => {
      const status = statuses[index]
      return status && status.confirmationStatus !== 'processed' ? [[signature, status.slot]] : []
    }),
  )
}
