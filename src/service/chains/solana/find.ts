import { PublicKey, type ConfirmedSignatureInfo, type Connection } from '@solana/web3.js'
import type { Found, MonitoredTransaction } from '../chain.ts'
import { inParallel } from '../in-parallel.ts'
import type { SolanaEndpoints } from './client.ts'

const PARALLEL_SENDERS = 4
const PAGE = 1_000
/** A sender with more transactions than this since a payment was built is read no further back. */
const MAX_PAGES = 5

/**
 * Payments among their senders' transactions, by memo. Anyone can put an id into a memo and name a sender among the accounts,
 * so that one payment may be found several times: each is only a candidate.
 */
export async function find(
  endpoints: SolanaEndpoints,
  wanted: readonly MonitoredTransaction[],
): Promise<Found[]> {
  const bySender = Map.groupBy(wanted, ({ sender }) => sender)
  const found = await inParallel([...bySender], PARALLEL_SENDERS, async ([sender, payments]) => {
    const since = Math.min(...payments.map(({ builtHeight }) => builtHeight ?? 0))
    const signatures = await endpoints.ask((connection) =>
      signaturesOf(connection, sender, { from: since }),
    )
    return payments.flatMap(({ paymentId }) =>
      signatures
        .filter(({ memo }) => memo?.includes(paymentId))
        .map(({ signature }) => ({ signature, paymentIds: [paymentId] })),
    )
  })
  return found.flat()
}

/** Confirmed transactions that name an account, from a slot on, the newest first; told only by a node that knows the chain up to the slot `knownTo`. */
export async function signaturesOf(
  connection: Connection,
  address: string,
  { from, knownTo }: { from: number; knownTo?: number | undefined },
): Promise<ConfirmedSignatureInfo[]> {
  const account = new PublicKey(address)
  const signatures: ConfirmedSignatureInfo[] = []
  for (let page = 0; page < MAX_PAGES; page++) {
    const before = signatures.at(-1)?.signature
    const batch = await connection.getSignaturesForAddress(
      account,
      {
        limit: PAGE,
        ...(before && { before }),
        ...(knownTo !== undefined && { minContextSlot: knownTo }),
      },
      'confirmed',
    )
    signatures.push(...batch.filter(({ slot }) => slot >= from))
    if (batch.length < PAGE || batch.some(({ slot }) => slot < from)) break
  }
  return signatures
}
