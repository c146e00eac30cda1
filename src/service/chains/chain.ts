import bs58 from 'bs58'
import type { PaymentIntent } from '#chains/match.ts'
import type { SimulationReason } from '#contract/facts.ts'
import { type Network, familyOf, type NetworkId } from '#contract/network.ts'
import type { BalanceReason, RecipientReason } from '#contract/reasons.ts'
import type { Contracts } from './contracts.ts'

/**
 * The one port to a chain; `evm/` and `solana/` implement it. Only this folder opens sockets to an
 * RPC. Every call may throw `ProblemError('CHAIN_UNAVAILABLE')`; outcomes a caller can act on are
 * values.
 */
export interface Chain {
  readonly network: Network
  /**
   * Latest and finalized height, at most one block time old. On Solana: slots, and the block height
   * beside them.
   */
  head(): Promise<Head>
  /**
   * The newest head known, without waiting for a chain that is slow or down; undefined before the
   * first answer. Never throws.
   */
  recentHead(): Promise<Head | undefined>
  /** The times of the newest block and of the newest final one, read at most a second ago. */
  clock(): Promise<ChainClock>
  /**
   * Builds the unsigned transaction of an intent and simulates it. `priorityFeeAtomic`: the total
   * the payer wants to give the validator; automatic otherwise. `fingerprint`: EVM, random last
   * digits in the fees, by which the landed transaction is recognised.
   */
  build(
    intent: Omit<PaymentIntent, 'maxFeeAtomic'>,
    options?: BuildOptions,
  ): Promise<BuiltTransaction>
  /**
   * The transaction in which a payee records on the chain that a payer has paid it; `text` names
   * the payment. It moves nothing and is not simulated.
   */
  note(note: Note): Promise<Ready>
  /**
   * What the chain knows of a transaction now. `not_found` says nothing about the future. A final
   * failure is certain: where two RPC endpoints are configured, both show it. `as` reads the
   * observation as a payment of the caller, which may make it a failure.
   */
  observe(signature: string, as?: (seen: Observation) => Observation): Promise<Observation>
  /**
   * The same, where `not_found` decides: two RPC endpoints say so, or the only one twice.
   */
  observeTwice(signature: string): Promise<Observation>
  /**
   * Looks for payments nobody reported, in the blocks after `from` up to `to`. Returns candidates,
   * each to be checked with `observe`; decides nothing. `to` must be a head that was read before
   * the wanted payments: then no payment of those blocks is missing among them. `expired`: where
   * blocks are scanned, also those that expired. `failed`: payments that could not be looked for,
   * where each is looked for separately.
   */
  find(
    monitored: readonly MonitoredTransaction[],
    range: { from: number; to: number },
    expired?: ExpiredTransactions,
  ): Promise<{ found: readonly Found[]; readTo: number; failed?: readonly SearchFailure[] }>
  /**
   * Skips the blocks after `from` up to `to` where it is certain that these wallets have sent no
   * transaction in them, so that `find` has nothing to read there. False where that is not certain, and
   * where blocks are not scanned.
   */
  skip(senders: readonly string[], range: SkippedRange): Promise<boolean>
  /**
   * The transactions to a payee since a height that did not fail and whose memo names payments,
   * the newest first; none where memos name no payments (EVM). One call, or a few where the payee
   * has very many transactions: then not all of them are read.
   */
  findNamed(
    payee: Pick<MonitoredTransaction, 'asset' | 'recipient'>,
    since: number,
  ): Promise<readonly Found[]>
  /**
   * Whether `find` reads each block once: then a payment left out of a call is not found in its
   * blocks later.
   */
  readonly scansBlocks: boolean
  /**
   * True only when the chain itself proves that a transaction built for this payment can no longer
   * land. A proof that takes long is made in the background: false until then (Solana).
   */
  canNeverLand(monitored: MonitoredTransaction): Promise<boolean>
  /**
   * How many blocks after `lastValidBlockHeight` an unseen payment may be called expired without
   * that proof; null where the proof always comes.
   */
  readonly graceBlocks: number | null
  /**
   * The transaction that landed with this very message, under any signature: a signer can sign a
   * message again. Null when none has, and where the transaction's name already identifies its
   * message (EVM); undefined while that is not known.
   */
  findByMessage(query: {
    asset: string
    sender: string
    recipient: string
    builtHeight: number | null
    messageHash: string
  }): Promise<string | null | undefined>
  /**
   * True only when the chain itself shows that the block of a transaction is no longer part of it. `since`, by
   * `performance.now()`: blocks that were read later may show that it is; without it a node is asked.
   */
  isGone(
    landed: { signature: string; height: number; blockHash: string | null },
    since?: number,
  ): Promise<boolean>
  /**
   * Whether the network would accept this signed transaction now. A refusal is certain: where two
   * RPC endpoints are configured, both refused. `paid`: what must arrive of a token, where the
   * chain lets a token keep a part of it (Solana).
   */
  simulateSigned(bytes: Uint8Array, paid?: ExpectedTransfer): Promise<SignedSimulation>
  /**
   * Broadcasts a signed transaction; sending the same bytes again changes nothing. A refusal does
   * not prove that it never lands.
   */
  broadcast(bytes: Uint8Array): Promise<BroadcastResult>
  /**
   * What a managed wallet can spend. Where the chain has no nonces, `openPayments` is called before
   * the balance is read: it returns the payments that are signed and may have landed at `since` or
   * later.
   */
  funds(
    address: string,
    openPayments: (since: number) => Promise<readonly OpenPayment[]>,
  ): Promise<SenderFunds>
  /**
   * What a wallet holds in the finalized chain, and what it has done since a height; for
   * reconciliation. Undefined while that is unknown.
   */
  audit(address: string, since: number | null): Promise<Audit | undefined>
  /**
   * The head as one node tells it, whose newest block is not older than `time`: that block was made
   * after everything that landed before.
   * @throws `CHAIN_UNAVAILABLE` while no endpoint has such a block
   */
  headSince(time: Date): Promise<Head>
  /**
   * What a managed wallet has signed since a height, confirmed or waiting: to compare with the rows
   * after a restore and at each start. Solana: throws where the node does not serve the whole range.
   */
  history(address: string, query: HistoryQuery): Promise<WalletHistory>
  token(address: string): Promise<TokenInfo | undefined>
  /** EVM: contract calls for what payers authorized; null where payers sign whole transactions. */
  readonly contracts: Contracts | null
  /**
   * For /health/ready: resolves when the chain answers and is the one configured (chain id or
   * genesis hash).
   */
  check(): Promise<void>
  close(): Promise<void>
}

export type Head = {
  height: number
  finalizedHeight: number
  /**
   * Solana: block height, which `lastValidBlockHeight` is compared with; on EVM equal to `height`.
   */
  blockHeight: number
  finalizedBlockHeight: number
}

/**
 * A stuck node still answers, and what it shows is over by now.
 * @throws Error for a node whose newest block is older than `time`: the next one is asked
 */
export function requireSince(head: Date, time: Date): void {
  if (head < time)
    throw new Error(
      `The newest block of the node is of ${head.toISOString()}. Expected one of ${time.toISOString()} or later.`,
    )
}

/** Block times, as the blocks themselves say. */
export type ChainClock = { head: Date; finalized: Date }

export type BuildOptions = { priorityFeeAtomic?: bigint | undefined; fingerprint?: boolean }

export type BuiltTransaction =
  | {
      ok: true
      bytes: Uint8Array
      encoding: 'solana-wire-v0' | 'evm-rlp-unsigned'
      nonce?: number
      builtHeight: number
      lastValidBlockHeight: number
      /**
       * The most the payment can cost on top of the amount, native atomic units; includes
       * `priorityFeeAtomic` and `rentAtomic`.
       */
      feeAtomic: bigint
      priorityFeeAtomic: bigint
      /** Solana: the cost of opening the recipient's token account; it stays in that account. */
      rentAtomic?: bigint
      /** EVM: the fingerprint in the fees, where they have one. */
      fingerprint?: string | null
      decoded: Record<string, unknown>
    }
  | { ok: false; code: 'INSUFFICIENT_BALANCE'; reason: BalanceReason }
  | { ok: false; code: 'INVALID_RECIPIENT'; reason: RecipientReason }

export type Ready = Extract<BuiltTransaction, { ok: true }>

export type Note = {
  payee: string
  payer: string
  text: string
  priorityFeeAtomic: bigint | undefined
}

/** How many blocks back a reorganization of an EVM network is followed. */
export const MAX_REORG = 64

/** A payment the watcher looks for. */
export type MonitoredTransaction = {
  paymentId: string
  asset: string
  sender: string
  recipient: string
  amountAtomic: bigint
  nonce: number | null
  builtHeight: number | null
  lastValidBlockHeight: number | null
  createdAt: Date
  /** What a client says it broadcast; only a hint. */
  reported: string | null
  /** Still awaited; an open payment takes precedence over an expired one. */
  open: boolean
  /** Where only known transactions can pay it: their names. On EVM only their own nonce can. */
  signed?: readonly string[]
  /** Transactions that look like its payment, and are final as another one of the same account. */
  taken?: readonly string[]
  /**
   * EVM: a restored database may lack a transaction that the service signed for it. Any use of its
   * nonce with the same recipient, asset and amount may then be that one.
   */
  mayLackSigned?: boolean
}

/** `finalizedHeight`: of the head that the range was chosen by. */
export type SkippedRange = { from: number; to: number; finalizedHeight: number }

/** Payments that expired and may still land. There may be very many: they are read by what the blocks hold. */
export type ExpiredTransactions = {
  /** The height at which the first of them was built. */
  builtHeight: number
  /** Those with the terms of these transfers. */
  equalTo(transfers: readonly ObservedTransfer[]): Promise<readonly MonitoredTransaction[]>
}

/** A payment and everything that was signed for it. */
export type OpenPayment = { id: string; signatures: readonly string[] }

/** The state of a wallet. */
export type SenderFunds = {
  /**
   * The balance includes what was known to have landed before this height when the reading began.
   */
  height: number
  balanceAtomic: bigint
  /**
   * EVM: the next nonce; the balance includes every transaction with a smaller one, and no other.
   */
  nonce: number | null
  /** Solana: the open payments that the balance certainly includes, and the others. */
  landed: ReadonlySet<string>
  unproven: ReadonlySet<string>
  /** What must stay in the wallet, unless it is emptied. */
  minimumAtomic: bigint
}

export type HistoryQuery = {
  /** Null: since the first block. */
  since: number | null
  /** Only a node that knows the chain up to this height (Solana: slot) may tell; null for any. */
  knownTo: number | null
  /** Which of these transactions (Solana: signatures) the rows have. */
  isKnown: (signatures: readonly string[]) => Promise<ReadonlySet<string>>
}

export type WalletHistory = {
  /** EVM: how many transactions the wallet has sent, those that wait for a block included. */
  nonce: number | null
  /** EVM: the hash of the block at `since`. */
  blockHash: string | null
  /** Solana: what the wallet signed since then and no row has. */
  unknown: readonly string[]
}

/** The state of a wallet in the finalized chain. */
export type Audit = {
  height: number
  /** EVM: the hash of the block at the height. */
  blockHash: string | null
  /**
   * False where the node shows the current balance instead of the finalized one: then it proves
   * nothing while payments are under way.
   */
  exact: boolean
  balanceAtomic: bigint
  /** EVM: how many transactions the wallet has sent. */
  nonce: number | null
  /**
   * Solana: the transactions the wallet has signed since then, and what each took from its balance.
   */
  signed: readonly { signature: string; outflowAtomic: bigint }[]
}

/**
 * A transaction, and the payments it may belong to: by its memo (Solana), or by what it moves and
 * in which block (EVM).
 */
export type Found = {
  signature: string
  paymentIds: readonly string[]
  landed?: { transfer: ObservedTransfer } & TransferBlock
}

/** Why these payments could not be looked for. */
export type SearchFailure = { paymentIds: readonly string[]; error: Error }

/** The block that a transfer landed in. */
export type TransferBlock = { height: number; blockTime: Date | null }

export type Observation =
  | { state: 'not_found' }
  /**
   * In the pool, or in a block that does not count yet; `transfer` where the chain already shows
   * what it would do. `failedBlockhash`: as below, where not every endpoint shows the failure.
   */
  | { state: 'pending'; transfer?: ObservedTransfer | null; failedBlockhash?: string }
  | {
      state: 'landed'
      succeeded: boolean
      /** Block height (EVM) or slot (Solana). */
      height: number
      blockHash: string | null
      /** By the network's confirmation policy; finality by the chain's own rules. */
      confirmed: boolean
      finalized: boolean
      feeAtomic: bigint
      /** The wallet that paid it; null where the node does not show the transaction. */
      feePayer: string | null
      blockTime: Date | null
      /** SHA-256 of the signed message, hex, where a transaction may be signed twice (Solana). */
      messageHash?: string
      /** The payment this transaction makes, read from the chain; null when it is anything else. */
      transfer: ObservedTransfer | null
      /**
       * EVM: everything that token events report as moved in it, to compare with what was asked
       * for.
       */
      moved?: readonly ObservedTransfer[]
      /**
       * Where it ran, and another amount of the token arrived than was sent: what the recipient has of
       * it. It has not succeeded then.
       */
      arrivedAtomic?: bigint
      failure: string | null
      /** Solana, where it failed and moved nothing: its blockhash. The same wallet can pay by another one. */
      failedBlockhash?: string
    }

/** A payment without its id. */
export type ExpectedTransfer = Pick<
  PaymentIntent,
  'asset' | 'sender' | 'recipient' | 'amountAtomic'
>

export type SignedSimulation = { ok: true } | { ok: false; reason: SimulationReason }

export type BroadcastResult = { accepted: true } | { accepted: false; reason: string }

/**
 * `fingerprint`: EVM, the fees per gas as `spellFingerprint` writes them, where the chain shows the
 * whole transaction.
 */
export type ObservedTransfer = {
  sender: string
  recipient: string
  asset: string
  amountAtomic: bigint
  memo: string | null
  nonce: number | null
  fingerprint?: string
  /** EVM: the nonce of the EIP-3009 authorization that the token says it moved this by. */
  authorization?: string
}

export type TokenInfo = {
  address: string
  standard: 'spl-token' | 'token-2022' | 'erc20' | 'native'
  name: string | null
  symbol: string | null
  decimals: number
  totalSupplyAtomic: bigint | null
  mintAuthority: string | null
  freezeAuthority: string | null
  eip3009: boolean
}

const EVM_HASH = /^0x[0-9a-fA-F]{64}$/
const SIGNATURE_BYTES = 64

/** The normal form of what names a transaction on a network: its hash (EVM) or its first signature (Solana). Undefined for any other text. */
export function readTransactionName(network: NetworkId, text: string): string | undefined {
  if (familyOf(network) === 'evm') return EVM_HASH.test(text) ? text.toLowerCase() : undefined
  return bs58.decodeUnsafe(text)?.length === SIGNATURE_BYTES ? text : undefined
}

/** Watchers of this process, by the chain they follow. A process that does not follow a chain has none to wake: the one that does looks soon anyway. */
const sleepers = new WeakMap<Chain, Set<() => void>>()

/** Makes the watcher of a chain look now: there is a payment to find, or a report to check. */
export function notifyMonitor(chain: Chain): void {
  for (const listener of sleepers.get(chain) ?? []) listener()
}

/** The last look of the watcher of this process that has ended, by the chain. */
const looks = new WeakMap<Chain, Look>()

/** `startedAt`: by `performance.now()`. `unseen`: the payments that could not be looked at. */
type Look = { startedAt: number; unseen: ReadonlySet<string> }

export function noteLook(chain: Chain, look: Look): void {
  looks.set(chain, look)
}

/** A look may take so long, beside the time of two blocks, before waiters of this process look themselves. */
const LOOK_MS = 1_000

/** Whether the watcher of this process looks at a payment block by block. */
export function isMonitoredHere(chain: Chain, paymentId: string): boolean {
  const look = looks.get(chain)
  return (
    look !== undefined &&
    !look.unseen.has(paymentId) &&
    performance.now() - look.startedAt < 2 * chain.network.blockTimeMs + LOOK_MS
  )
}

/** @returns a function that ends the subscription */
export function onNotify(chain: Chain, listener: () => void): () => void {
  const wakes = sleepers.get(chain) ?? new Set()
  sleepers.set(chain, wakes.add(listener))
  return () => wakes.delete(listener)
}
