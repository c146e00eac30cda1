import type { Connection } from '@solana/web3.js'
import type { MonitoredTransaction } from '../chain.ts'
import type { SolanaEndpoints } from './client.ts'
import { signaturesOf } from './find.ts'
import { isPaidBy, isRefused, readStatuses } from './observe.ts'

/**
 * True when the finalized chain is past the last block of a payment's blockhash, and a history that reaches from the payment's first slot to that block holds
 * neither what was signed for it, nor what was reported, nor a transaction of the sender that names it. Asked twice, and only nodes that show how far they
 * know the chain count: one that is behind, or has forgotten, answers the same as one that knows.
 */
export async function canNeverLand(
  endpoints: SolanaEndpoints,
  wanted: MonitoredTransaction,
): Promise<boolean> {
  return endpoints.prove((connection) => provesAbsence(connection, wanted))
}

async function provesAbsence(
  connection: Connection,
  wanted: MonitoredTransaction,
): Promise<boolean> {
  const { lastValidBlockHeight, reported, paymentId, sender, builtHeight, signed = [] } = wanted
  if (lastValidBlockHeight === null) return false
  if ((await connection.getBlockHeight('finalized')) <= lastValidBlockHeight) return false
  // Height and slot of one block.
  const { absoluteSlot, blockHeight } = await connection.getEpochInfo('finalized')
  // A node without finalized states tells its newest slot here, and understands by "known to" something else: there it is asked without.
  const knownTo = absoluteSlot <= (await connection.getSlot('finalized')) ? absoluteSlot : undefined
  if ((blockHeight ?? 0) <= lastValidBlockHeight) return false
  if (builtHeight !== null && (await connection.getFirstAvailableBlock()) > builtHeight)
    return false

  const known = [...new Set(reported === null ? signed : [...signed, reported])]
  const { slot, statuses } = await readStatuses(connection, known)
  if (slot < absoluteSlot) return false
  for (const [index, signature] of known.entries())
    if (statuses[index] !== null && !(await isRefused(connection, signature))) return false
  const named = (
    await signaturesOf(connection, sender, { from: builtHeight ?? 0, knownTo })
  ).filter(({ memo }) => memo?.includes(paymentId))
  // Anyone can write an id into a memo and name the sender beside it.
  for (const { signature } of named) if (await isPaidBy(connection, signature, wanted)) return false
  return true
}
