import {
  SendTransactionError,
  SolanaJSONRPCError,
  VersionedTransaction,
  type Connection,
} from '@solana/web3.js'
import * as v from 'valibot'
import { SimulationReason, toSimulationReason } from '#contract/facts.ts'
import type { Network } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import { broadcastToAll } from '../broadcast.ts'
import type { BroadcastResult, ExpectedTransfer, SignedSimulation } from '../chain.ts'
import { printableText } from '../contracts.ts'
import { type SolanaEndpoints, run } from './client.ts'
import { readTokenSide, refuseBySimulation } from './simulate-token.ts'

/** The cluster's word for a transaction that has landed: no refusal. */
const LANDED = 'AlreadyProcessed'

/**
 * Runs the transaction on the state of this moment, on its own blockhash. The fee payer's signature may still be missing. Of a token's payment the mint must
 * take no part of it, and call nobody.
 */
export async function simulateSigned(
  endpoints: SolanaEndpoints,
  network: Network,
  { bytes, paid }: { bytes: Uint8Array; paid: ExpectedTransfer | undefined },
): Promise<SignedSimulation> {
  const transaction = VersionedTransaction.deserialize(bytes)
  const answers = await endpoints.requestTwo((connection) =>
    paid
      ? refusalOfToken(connection, network, { transaction, paid })
      : refusal(connection, transaction),
  )
  // A node that is behind refuses what another one takes.
  const [reason] = answers
  return reason === undefined || answers.some((answer) => answer === undefined || hasLanded(answer))
    ? { ok: true }
    : { ok: false, reason }
}

function hasLanded({ code, params }: SimulationReason): boolean {
  return code === 'refused_with' && params.answer === LANDED
}

async function refusal(
  connection: Connection,
  transaction: VersionedTransaction,
): Promise<SimulationReason | undefined> {
  const outcome = await run(connection, transaction)
  return outcome.ok ? undefined : refusedWith(outcome.reason)
}

/** `answer`: what the cluster said; a program may have chosen a part of it. */
function refusedWith(answer: string): SimulationReason {
  const printable = printableText(answer)
  return printable === null
    ? { code: 'refused', params: {} }
    : { code: 'refused_with', params: { answer: printable } }
}

type Rehearsed = { transaction: VersionedTransaction; paid: ExpectedTransfer }

async function refusalOfToken(
  connection: Connection,
  network: Network,
  { transaction, paid }: Rehearsed,
): Promise<SimulationReason | undefined> {
  try {
    const side = await readTokenSide(connection, paid)
    if ('ok' in side) return toSimulationReason(side.reason)
    const outcome = await run(connection, transaction, {
      addresses: [side.source, side.destination],
    })
    if (!outcome.ok) return refusedWith(outcome.reason)
    const refused = refuseBySimulation(paid, side, outcome.accounts)
    return refused && toSimulationReason(refused.reason)
  } catch (error) {
    if (!(error instanceof ProblemError && error.code === 'INVALID_PARAMETERS')) throw error
    const read = v.safeParse(SimulationReason, error.facts.details?.['reason'])
    return read.success ? read.output : { code: 'refused', params: {} }
  }
}

/** Without the node's own rehearsal: ours has passed, and a node that is behind must not keep the bytes from the others. */
export function broadcast(endpoints: SolanaEndpoints, bytes: Uint8Array): Promise<BroadcastResult> {
  return broadcastToAll(endpoints, async (connection): Promise<BroadcastResult> => {
    try {
      await connection.sendRawTransaction(bytes, { skipPreflight: true })
      return { accepted: true }
    } catch (error) {
      if (error instanceof SendTransactionError || error instanceof SolanaJSONRPCError)
        return { accepted: false, reason: printableText(error.message) ?? 'refused' }
      throw error
    }
  })
}
