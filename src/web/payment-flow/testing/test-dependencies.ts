import type { Match } from '#chains/match.ts'
import { familyOf, NATIVE_ETH, NATIVE_SOL } from '#contract/network.ts'
import type {
  CheckedTransaction,
  WalletPaymentIntent,
  Reading,
  Sent,
  Simulation,
} from '../../payment-intent/intent.ts'
import type {
  Clock,
  PaymentChain,
  PaymentService,
  PaymentWallet,
  TransactionReader,
  WalletResponse,
} from '../../payment-intent/ports.ts'

/**
 * The environment of a payment under test: a chain, a wallet, the service and time, all controlled
 * by the test.
 */

type Family = 'evm' | 'solana'
type Plan = { paymentId: string; lastValidBlockHeight: number; nonce: number }
type Transaction = Plan & { signature: string; landedAt: number | null }

const BLOCK_MS = 400
const FINAL_AFTER = 8
const LIFETIME = 150

export class TestDependencies {
  readonly family: Family
  now = 1_800_000_000_000
  height = 1_000
  nonce = 7
  rpcUp = true
  /** The RPC accepts the bytes and then breaks the connection. */
  rpcLies = false
  /** No node holds what the wallet sends, until it is in a block. */
  forgets = false
  simulation: Simulation = { state: 'passed', changes: [] }
  matches = true
  walletSigner: string | null
  signedDiffers = false
  /** What the payer's own limits say. */
  breach: string | undefined
  keepsNonce = true
  /** The nonce that a wallet chooses which does not keep the one it is asked with. */
  chosenNonce: number | undefined
  readonly transactions = new Map<string, Transaction>()
  readonly keys: string[] = []
  readonly reports: string[] = []
  readonly released: string[] = []
  readonly broadcasts: string[] = []
  walletRequests = 0
  /** Every order returns this payment. */
  refundOf: string | undefined
  /** Every order is paid by code. */
  byCode = false
  /** Open wallet requests; the promise may be gone with its tab. */
  readonly requests: { plan: Plan; keeps: boolean; answer: (answer: WalletResponse) => void }[] = []
  readonly #sleepers = new Set<{ until: number; resume: () => void }>()

  constructor(family: Family) {
    this.family = family
    this.walletSigner = `${family}-buyer`
  }

  order(id = 'order-1'): WalletPaymentIntent {
    return {
      id,
      createdAt: this.now,
      network: this.family === 'evm' ? 'eip155:31337' : 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
      asset: this.family === 'evm' ? NATIVE_ETH : NATIVE_SOL,
      sender: `${this.family}-buyer`,
      recipient: 'seller',
      amountAtomic: 5n,
      walletName: 'Test Wallet',
      ...(this.byCode && { byCode: true as const }),
      ...(this.refundOf !== undefined && { refundOf: this.refundOf }),
    }
  }

  get finalizedHeight(): number {
    return this.height - FINAL_AFTER
  }

  get landed(): Transaction[] {
    return [...this.transactions.values()].filter(
      (transaction) => transaction.landedAt !== null && transaction.paymentId.startsWith('pay'),
    )
  }

  /** Advances the chain by some blocks, and the clock with it. */
  pass(blocks: number): void {
    this.height += blocks
    this.now += blocks * BLOCK_MS
    for (const sleeper of this.#sleepers) if (sleeper.until <= this.now) sleeper.resume()
  }

  /** Puts pending transactions that are still valid into a block. */
  land(): void {
    for (const transaction of this.transactions.values()) {
      if (transaction.landedAt !== null) continue
      const may =
        this.family === 'solana'
          ? this.height <= transaction.lastValidBlockHeight
          : transaction.nonce === this.nonce
      if (!may) continue
      transaction.landedAt = this.height
      if (this.family === 'evm') this.nonce++
    }
  }

  /** A reorg: drops the newest block that is not final. */
  reorganize(): void {
    for (const transaction of this.transactions.values()) {
      if (transaction.landedAt === null || transaction.landedAt <= this.finalizedHeight) continue
      if (this.family === 'evm') {
        if (transaction.nonce !== this.nonce - 1) continue
        this.nonce--
      }
      transaction.landedAt = null
    }
  }

  /** The account's owner sends something else from the same account. */
  spendNonce(): void {
    if (this.family === 'solana') return
    const signature = `other-${this.nonce}`
    this.transactions.set(signature, {
      paymentId: 'other',
      lastValidBlockHeight: 0,
      nonce: this.nonce,
      signature,
      landedAt: this.height,
    })
    this.nonce++
  }

  /** The person approves the oldest open wallet request, regardless of which tab made it. */
  approve(): void {
    const request = this.requests.shift()
    if (!request) return
    const { plan, keeps, answer } = request
    if (this.family === 'solana') return answer({ kind: 'signed', bytes: encode(plan) })
    const signature = `0x${plan.paymentId}`
    const nonce = keeps ? plan.nonce : (this.chosenNonce ?? plan.nonce)
    if (nonce >= this.nonce)
      this.transactions.set(signature, { ...plan, nonce, signature, landedAt: null })
    answer({ kind: 'sent', signature })
  }

  reject(): void {
    this.requests.shift()?.answer({
      kind: 'refused',
      userError: { code: 'REJECTED', title: 'You cancelled.', body: 'Nothing was sent.' },
    })
  }

  /**
   * The wallet never settles the promise; its window stays open. Not one that chooses nonces: its
   * payer is told to reject the request, which nothing here can do for them.
   */
  lose(): void {
    const [request] = this.requests
    if (request?.keeps || this.chosenNonce === undefined) request?.answer({ kind: 'lost' })
  }

  /** A wallet that knows of another transaction of the account, which waits where no node shows it. */
  chooseNonce(): void {
    if (this.family === 'solana' || this.requests.length > 0) return
    this.keepsNonce = false
    this.chosenNonce = this.nonce + 1
  }

  readonly clock: Clock = {
    now: () => this.now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const sleeper = {
          until: this.now + ms,
          resume: () => {
            this.#sleepers.delete(sleeper)
            resolve()
          },
        }
        this.#sleepers.add(sleeper)
        signal.addEventListener('abort', sleeper.resume)
      }),
  }

  readonly service: PaymentService = {
    release: async (_order, paymentId) => void this.released.push(paymentId),
    build: async (_order, key) => {
      this.keys.push(key)
      const plan = {
        paymentId: `pay-${key}`,
        lastValidBlockHeight: this.height + LIFETIME,
        nonce: this.nonce,
      }
      return {
        paymentId: plan.paymentId,
        bytes: encode(plan),
        lastValidBlockHeight: plan.lastValidBlockHeight,
        expiresAt: this.now + 60_000,
      }
    },
    report: async (_paymentId, signature) => {
      this.reports.push(signature)
    },
    explain: () => ({ code: 'TEST', title: 'The service failed.', body: '' }),
  }

  readonly wallet: PaymentWallet = {
    signer: async () => this.walletSigner,
    keepsNonce: async () => this.keepsNonce,
    pay: (_order, built) => {
      this.walletRequests++
      return new Promise((answer) =>
        this.requests.push({ plan: decode(built.bytes), keeps: this.keepsNonce, answer }),
      )
    },
  }

  readonly reader: TransactionReader = {
    match: (order): Match => ({
      ok: this.matches,
      rows: [],
      digest: `${order.sender}>${order.recipient}:${order.amountAtomic}`,
    }),
    describe: () => [],
    nonce: (_order, bytes) => (this.family === 'evm' ? decode(bytes).nonce : null),
    compareSigned: (_order, _built, signed) =>
      this.signedDiffers
        ? { ok: false, difference: 'the amount is another.' }
        : { ok: true, signature: `sig-${decode(signed).paymentId}` },
  }

  readonly chain: PaymentChain = {
    blockTimeMs: () => BLOCK_MS,
    head: async () => {
      this.#connect()
      return { height: this.height, finalizedHeight: this.finalizedHeight }
    },
    feeCap: async () => 1_000n,
    knows: async () => true,
    simulate: async () => this.simulation,
    broadcast: async (_order, bytes) => {
      this.#connect()
      const plan = decode(bytes)
      const signature = `sig-${plan.paymentId}`
      this.broadcasts.push(signature)
      if (!this.transactions.has(signature))
        this.transactions.set(signature, { ...plan, signature, landedAt: null })
      if (this.rpcLies) throw new Error('connection reset')
    },
    read: async (order, built, sent) => this.#read(order, built, sent),
  }

  #connect(): void {
    if (!this.rpcUp) throw new Error('connection refused')
  }

  #read(order: WalletPaymentIntent, built: CheckedTransaction, sent: Sent): Reading {
    const at = this.now
    if (!this.rpcUp) return { kind: 'unavailable', at }
    const plan = decode(built.bytes)
    const mine = [...this.transactions.values()].find(
      (one) =>
        one.paymentId === plan.paymentId &&
        (sent.signature === null || one.signature === sent.signature),
    )
    if (mine?.landedAt !== undefined && mine.landedAt !== null)
      return this.#landed(mine, mine.landedAt)
    if (familyOf(order.network) === 'solana')
      return { kind: 'absent', at, finalizedHeight: this.finalizedHeight }
    const isPending = mine !== undefined && mine.nonce >= this.nonce && !this.forgets
    if (isPending && sent.signature !== null)
      return { kind: 'pending', at, signature: mine.signature, nonce: mine.nonce }
    const nonce = sent.nonce ?? built.nonce
    const taken = [...this.transactions.values()].find(
      (one) => one.nonce === nonce && one.landedAt !== null,
    )
    if (taken)
      return {
        kind: 'superseded',
        at,
        by: taken.signature,
        finalized: (taken.landedAt ?? Infinity) <= this.finalizedHeight,
        ...(sent.signature !== null && sent.nonce === undefined && { guessed: true }),
      }
    return isPending
      ? { kind: 'pending', at, signature: mine.signature, nonce: mine.nonce }
      : { kind: 'absent', at, finalizedHeight: this.finalizedHeight }
  }

  #landed({ signature }: Transaction, height: number): Reading {
    const depth = this.height - height
    const landed = {
      signature,
      height,
      blockHash: `block-${height}`,
      confirmations: depth + 1,
      requiredConfirmations: 2,
      feeAtomic: 1n,
    }
    const commitment =
      height <= this.finalizedHeight ? 'finalized' : depth >= 1 ? 'confirmed' : 'processed'
    return { kind: 'landed', at: this.now, landed, outcome: 'paid', failure: null, commitment }
  }
}

function encode(plan: Plan): Uint8Array {
  return new TextEncoder().encode(
    JSON.stringify([plan.paymentId, plan.lastValidBlockHeight, plan.nonce]),
  )
}

function decode(bytes: Uint8Array): Plan {
  const [paymentId, lastValidBlockHeight, nonce] = JSON.parse(new TextDecoder().decode(bytes)) as [
    string,
    number,
    number,
  ]
  return { paymentId, lastValidBlockHeight, nonce }
}
