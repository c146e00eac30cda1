import { NATIVE_ETH, NATIVE_SOL, SOLANA_DEVNET } from '#contract/network.ts'
import type { EventSource, PaymentStatus } from '#contract/payment.ts'
import type { Database } from '#postgres/open.ts'
import type { EventRecord, NewPayment } from '#service/db/payments.ts'
import { event, payment } from '#service/db/schema/payment.ts'
import { EVM_CHAIN_ID } from '../nodes/evm.ts'
import type { SeedOutcome } from './outcome.ts'

type NewEvent = Omit<EventRecord, 'id' | 'kind' | 'draft'>

const VALID_MS = 60_000
const EXPIRY_NOTICED_MS = 75_000

/** After the request, in milliseconds: the wallet was quick, the chain quicker. */
const STEPS = { pending: 14_000, confirmed: 17_000, finalized: 31_000 } as const

/** Writes the history into the service's database, payments and events in the order of their times. */
export async function insertHistory(
  db: Database,
  accountId: string,
  outcomes: readonly SeedOutcome[],
): Promise<void> {
  const rows = outcomes.map((outcome) => toRow(accountId, outcome))
  const events = rows.flatMap((row) => row.events).sort((a, b) => a.at.getTime() - b.at.getTime())
  await db.transaction(async (tx) => {
    await tx.insert(payment).values(rows.map((row) => row.payment))
    await tx.insert(event).values(events)
  })
}

function toRow(
  accountId: string,
  outcome: SeedOutcome,
): { payment: NewPayment; events: NewEvent[] } {
  const { payment: planned, landed } = outcome
  const evm = planned.family === 'evm'
  const asset = evm ? NATIVE_ETH : NATIVE_SOL
  const after = (ms: number) => new Date(planned.createdAt + ms)
  const steps: {
    status: PaymentStatus
    at: Date
    source: EventSource
    blockHeight: number | null
  }[] = [{ status: 'created', at: after(0), source: 'service', blockHeight: null }]
  if (outcome.signature !== null)
    steps.push({ status: 'pending', at: after(STEPS.pending), source: 'client', blockHeight: null })
  if (landed && landed.failure === null) {
    steps.push({
      status: 'confirmed',
      at: after(STEPS.confirmed),
      source: 'watcher',
      blockHeight: landed.blockHeight,
    })
    steps.push({
      status: 'finalized',
      at: after(STEPS.finalized),
      source: 'watcher',
      blockHeight: landed.blockHeight,
    })
  } else if (landed)
    steps.push({
      status: 'failed',
      at: after(STEPS.confirmed),
      source: 'watcher',
      blockHeight: landed.blockHeight,
    })
  else
    steps.push({
      status: outcome.signature === null ? 'expired' : 'failed',
      at: after(EXPIRY_NOTICED_MS),
      source: 'watcher',
      blockHeight: null,
    })
  const last = steps.at(-1)
  if (!last) throw new Error('A payment has at least one event.')

  return {
    payment: {
      id: planned.paymentId,
      accountId,
      mode: 'local',
      status: last.status,
      network: evm ? `eip155:${EVM_CHAIN_ID}` : SOLANA_DEVNET,
      asset: asset.address,
      symbol: asset.symbol,
      decimals: asset.decimals,
      amount: planned.amountAtomic,
      sender: planned.sender[planned.family].address,
      recipient: planned.recipient[planned.family].address,
      resource: planned.resource,
      metadata: planned.metadata ? JSON.stringify(planned.metadata) : null,
      unsignedTransaction: outcome.unsignedTransaction,
      nonce: outcome.nonce,
      builtHeight: outcome.builtHeight,
      lastValidBlockHeight: outcome.lastValidBlockHeight,
      expiresAt: after(VALID_MS),
      signature: outcome.signature,
      blockHeight: landed?.blockHeight ?? null,
      blockHash: landed?.blockHash ?? null,
      fee: landed?.feeAtomic ?? null,
      failure: failureOf(outcome),
      confirmedAt: landed && landed.failure === null ? after(STEPS.confirmed) : null,
      createdAt: after(0),
      updatedAt: last.at,
    },
    events: steps.map((step) => ({ ...step, accountId, paymentId: planned.paymentId })),
  }
}

function failureOf({ landed, signature }: SeedOutcome): string | null {
  if (landed) return landed.failure
  return signature === null
    ? null
    : 'The transaction was broadcast, did not land, and can no longer land: nothing was paid.'
}
