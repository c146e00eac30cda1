import { keccak256, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { buildPayment } from '#chains/evm/build.ts'
import { NATIVE_ETH, NATIVE_SOL, SOLANA_DEVNET } from '#contract/network.ts'
import type { EventSource, PaymentStatus } from '#contract/payment.ts'
import type { Database } from '#postgres/open.ts'
import type { EventRecord, NewPayment } from '#service/db/payments.ts'
import { event, payment } from '#service/db/schema/payment.ts'
import { type EvmNode, EVM_CHAIN_ID } from '../nodes/evm.ts'
import type { SolanaNode } from '../nodes/solana/node.ts'
import { devnetWallets, seedPayers } from '../nodes/wallets.ts'
import { type SeedOutcome, planHistory, SEED_DAYS, type PlannedPayment } from './plan.ts'
import { makeSolanaHistory } from './solana.ts'

/** Where a new EVM chain must begin, Unix seconds, for the history to have room. */
export function genesisTime(now: number): number {
  return Math.floor(now / 1000) - (SEED_DAYS + 1) * 86_400
}

/**
 * Sixty days of payments to and from the demo seller. On the EVM chain they are real transactions in blocks of their day; on Solana they
 * are real transactions of today, and only the service's rows bear the day: the local node cannot make blocks of the past.
 * @returns how many
 */
export async function seedHistory(
  chains: { evm: EvmNode; solana: SolanaNode },
  db: Database,
  accountId: string,
): Promise<number> {
  const now = Date.now()
  const planned = planHistory(devnetWallets(), seedPayers(), now)
  const of = (family: 'evm' | 'solana') => planned.filter((payment) => payment.family === family)
  const [evm, solana] = await Promise.all([
    makeEvmHistory(chains.evm, of('evm'), now),
    makeSolanaHistory(chains.solana.connection, of('solana')),
  ])
  await insertHistory(db, accountId, [...evm, ...solana])
  return planned.length
}

const GAS = 21_000n
const MAX_FEE_PER_GAS = 3_000_000_000n
const PRIORITY_FEE_PER_GAS = 100_000_000n

/** Blocks a built transaction is offered for: a minute. */
const OFFERED_BLOCKS = 60

/** Makes the EVM payments of the history: real transactions, each in a block whose time lies in the past. */
async function makeEvmHistory(
  node: EvmNode,
  planned: readonly PlannedPayment[],
  now: number,
): Promise<SeedOutcome[]> {
  const outcomes: SeedOutcome[] = []
  const nonces = new Map<Hex, number>()
  for (const payment of planned) outcomes.push(await make(node, payment, nonces))
  await node.client.setNextBlockTimestamp({ timestamp: BigInt(Math.floor(now / 1000)) })
  await node.client.mine({ blocks: 1 })
  return outcomes
}

async function make(
  { client }: EvmNode,
  payment: PlannedPayment,
  nonces: Map<Hex, number>,
): Promise<SeedOutcome> {
  const account = privateKeyToAccount(payment.sender.evm.privateKey)
  const nonce =
    nonces.get(account.address) ?? (await client.getTransactionCount({ address: account.address }))
  const builtHeight = Number(await client.getBlockNumber())
  const bytes = buildPayment({
    paymentId: payment.paymentId,
    network: `eip155:${EVM_CHAIN_ID}`,
    asset: NATIVE_ETH,
    sender: account.address,
    recipient: payment.recipient.evm.address,
    amountAtomic: payment.amountAtomic,
    nonce,
    gas: GAS,
    maxFeePerGas: MAX_FEE_PER_GAS,
    maxPriorityFeePerGas: PRIORITY_FEE_PER_GAS,
  })
  const built = {
    payment,
    unsignedTransaction: Buffer.from(bytes).toString('base64'),
    nonce,
    builtHeight,
    lastValidBlockHeight: builtHeight + OFFERED_BLOCKS,
  }
  if (payment.outcome === 'expired') return { ...built, signature: null, landed: null }

  const fields = {
    maxFeePerGas: MAX_FEE_PER_GAS,
    maxPriorityFeePerGas: PRIORITY_FEE_PER_GAS,
    gas: GAS,
    value: payment.amountAtomic,
  }
  const signed = await account.signTransaction({
    ...fields,
    type: 'eip1559',
    chainId: EVM_CHAIN_ID,
    nonce,
    to: payment.recipient.evm.address,
  })
  // It was sent and dropped: the payer's next payment takes its nonce.
  if (payment.outcome === 'failed') return { ...built, signature: keccak256(signed), landed: null }

  // Should the node's own clock make a block in between, that one takes this time and the payment's comes a second later.
  await client.setNextBlockTimestamp({
    timestamp: BigInt(Math.floor(payment.createdAt / 1000) + 15),
  })
  const hash = await client.sendRawTransaction({ serializedTransaction: signed })
  await client.mine({ blocks: 1 })
  nonces.set(account.address, nonce + 1)
  const receipt = await client.getTransactionReceipt({ hash })
  if (receipt.status !== 'success')
    throw new Error(`The payment ${payment.paymentId} of the history reverted.`)
  return {
    ...built,
    signature: hash,
    landed: {
      failure: null,
      blockHeight: Number(receipt.blockNumber),
      blockHash: receipt.blockHash,
      feeAtomic: receipt.gasUsed * receipt.effectiveGasPrice,
    },
  }
}

type NewEvent = Omit<EventRecord, 'id' | 'number' | 'kind' | 'draft'>

const VALID_MS = 60_000
const EXPIRY_NOTICED_MS = 75_000

/** After the request, in milliseconds: the wallet was quick, the chain quicker. */
const STEPS = { pending: 14_000, confirmed: 17_000, finalized: 31_000 } as const

/** Writes the history into the service's database, payments and events in the order of their times. */
async function insertHistory(
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
      blockTime: landed ? after(STEPS.confirmed) : null,
      fee: landed?.feeAtomic ?? null,
      failure: failureOf(outcome),
      broadcastAt: outcome.signature === null ? null : after(STEPS.pending),
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
