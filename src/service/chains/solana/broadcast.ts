import {
  SendTransactionError,
  SolanaJSONRPCError,
  VersionedTransaction,
  type Connection,
} from '@solana/web3.js'
import type { Network } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import { renderRecipientReason } from '#contract/render-en.ts'
import type { BroadcastResult, ExpectedTransfer, SignedSimulation } from '../chain.ts'
import { printableText } from '../printable-text.ts'
import type { SolanaEndpoints } from './client.ts'
import { run } from './simulate.ts'
import { readTokenSide, refuseByTrial } from './try-token.ts'

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
  const answers = await endpoints.askTwice((connection) =>
    paid
      ? refusalOfToken(connection, network, { transaction, paid })
      : refusal(connection, transaction),
  )
  // A node that is behind refuses what another one takes.
  if (answers.some((answer) => answer === undefined || answer === LANDED)) return { ok: true }
  return { ok: false, reason: printableText(answers[0] ?? '') ?? 'refused' }
}

async function refusal(
  connection: Connection,
  transaction: VersionedTransaction,
): Promise<string | undefined> {
  const outcome = await run(connection, transaction)
  return outcome.ok ? undefined : outcome.reason
}

type Rehearsed = { transaction: VersionedTransaction; paid: ExpectedTransfer }

async function refusalOfToken(
  connection: Connection,
  network: Network,
  { transaction, paid }: Rehearsed,
): Promise<string | undefined> {
  try {
    const side = await readTokenSide(connection, paid)
    if ('ok' in side) return describe(side)
    const outcome = await run(connection, transaction, [side.source, side.destination])
    return outcome.ok ? describe(refuseByTrial(paid, side, outcome.accounts)) : outcome.reason
  } catch (error) {
    if (error instanceof ProblemError && error.code === 'INVALID_PARAMETERS') return error.message
    throw error
  }
}

function describe(refused: ReturnType<typeof refuseByTrial>): string | undefined {
  return refused?.code === 'INVALID_RECIPIENT'
    ? renderRecipientReason(refused.reason)
    : refused && 'The payer holds too little.'
}

/** Without the node's own rehearsal: ours has passed, and a node that is behind must not keep the bytes from the others. */
export function broadcast(endpoints: SolanaEndpoints, bytes: Uint8Array): Promise<BroadcastResult> {
  return endpoints.ask(async (connection): Promise<BroadcastResult> => {
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
