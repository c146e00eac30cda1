import bs58 from 'bs58'
import type { Family } from '#contract/address.ts'
import type { Wallet, Wallets } from '../nodes/wallets.ts'

/** A source of numbers that gives the same ones every time: mulberry32, by Tommy Ettinger (public domain). */
class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** From 0 up to but without 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.between(0, items.length - 1)]
    if (item === undefined) throw new Error('There is nothing to pick from.')
    return item
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.between(0, 255))
  }
}

export const SEED_DAYS = 60

/** A payment of the history before any chain has seen it. */
export type PlannedPayment = {
  paymentId: string
  family: Family
  /** When the payer asked for it, Unix milliseconds; ascending over the plan. */
  createdAt: number
  sender: Wallet
  recipient: Wallet
  amountAtomic: bigint
  resource: string | null
  metadata: Record<string, string> | null
  outcome: 'paid' | 'expired' | 'failed'
}

const DAY_MS = 86_400_000
const SEED = 402

/** Payments by day of the week, Sunday first; the shop's customers read it at work. */
const WEEK = [1, 4, 4, 3, 4, 3, 2] as const

const PRODUCTS = [
  {
    resource: 'https://journal.example/articles/settlement-without-banks',
    product: 'Article',
    ether: [2, 8],
    sol: [20, 60],
  },
  {
    resource: 'https://journal.example/articles/the-price-of-finality',
    product: 'Article',
    ether: [2, 8],
    sol: [20, 60],
  },
  {
    resource: 'https://journal.example/issues/2026-autumn',
    product: 'Quarterly issue',
    ether: [10, 25],
    sol: [100, 250],
  },
  {
    resource: 'https://journal.example/archive/full-text',
    product: 'Archive access',
    ether: [20, 60],
    sol: [300, 900],
  },
  {
    resource: 'https://data.journal.example/v1/fees.csv',
    product: 'Dataset',
    ether: [5, 15],
    sol: [50, 150],
  },
  {
    resource: 'https://data.journal.example/v1/blocks?days=30',
    product: 'Dataset',
    ether: [5, 15],
    sol: [50, 150],
  },
  {
    resource: 'https://journal.example/membership/yearly',
    product: 'Membership',
    ether: [80, 150],
    sol: [1_000, 2_500],
  },
] as const

const EVERY_NTH = { expired: 19, failed: 44, sent: 12, direct: 15 } as const

/** The same sixty days each time, ending `now`: what differs is only where they lie in time. */
export function planHistory(
  wallets: Wallets,
  payers: readonly Wallet[],
  now: number,
): PlannedPayment[] {
  const random = new Random(SEED)
  const times = planTimes(random, now)
  return times.map((createdAt, index) => planPayment(random, { index, createdAt, wallets, payers }))
}

function planTimes(random: Random, now: number): number[] {
  const times: number[] = []
  // The last hours stay empty: everything the history shows is final.
  const end = now - 2 * 3_600_000
  for (let day = SEED_DAYS; day >= 1; day--) {
    const start = Math.floor((now - day * DAY_MS) / DAY_MS) * DAY_MS
    const weekday = new Date(start).getUTCDay()
    const count = Math.max(0, (WEEK[weekday] ?? 0) + random.between(-1, 1))
    for (let index = 0; index < count; index++) {
      const time = start + random.between(7 * 3_600, 21 * 3_600) * 1000 + random.between(0, 999)
      if (time < end && time > now - SEED_DAYS * DAY_MS) times.push(time)
    }
  }
  times.sort((a, b) => a - b)
  // A block holds one payment of the history, and blocks are at least seconds apart.
  for (let index = 1; index < times.length; index++)
    times[index] = Math.max(times[index] ?? 0, (times[index - 1] ?? 0) + 60_000)
  return times
}

type Place = { index: number; createdAt: number; wallets: Wallets; payers: readonly Wallet[] }

function planPayment(random: Random, { index, createdAt, wallets, payers }: Place): PlannedPayment {
  const family = random.next() < 0.5 ? 'evm' : 'solana'
  const customer = random.next() < 0.16 ? wallets.buyer : random.pick(payers)
  const sent = index % EVERY_NTH.sent === 7
  const product = random.pick(PRODUCTS)
  const [low, high] = family === 'evm' ? product.ether : product.sol
  // Thousandths of a coin.
  const thousandths = BigInt(random.between(low, high))
  const paymentId = `pay_${base58Id(random)}`
  const order = { referenceId: `ORD-${1001 + index}`, product: product.product }
  return {
    paymentId,
    family,
    createdAt,
    sender: sent ? wallets.seller : customer,
    recipient: sent ? customer : wallets.seller,
    amountAtomic: thousandths * (family === 'evm' ? 10n ** 15n : 10n ** 6n),
    resource: sent || index % EVERY_NTH.direct === 3 ? null : product.resource,
    metadata: sent
      ? { referenceId: `RET-${1001 + index}`, note: 'Returned to the customer' }
      : index % EVERY_NTH.direct === 3
        ? null
        : order,
    outcome:
      index % EVERY_NTH.failed === 20
        ? 'failed'
        : index % EVERY_NTH.expired === 11
          ? 'expired'
          : 'paid',
  }
}

/** 22 characters, as ids have them: 128 bits are sometimes spelled shorter. */
function base58Id(random: Random): string {
  return bs58.encode(random.bytes(16)).padStart(22, '1').slice(-22)
}

/** What became of a planned payment on its chain. */
export type SeedOutcome = {
  payment: PlannedPayment
  /** Base64. */
  unsignedTransaction: string
  nonce: number | null
  builtHeight: number
  lastValidBlockHeight: number
  /** Null: never signed. */
  signature: string | null
  /** Null: never landed. */
  landed: {
    failure: string | null
    blockHeight: number
    blockHash: string | null
    feeAtomic: bigint
  } | null
}
