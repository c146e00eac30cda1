import { randomBytes } from 'node:crypto'
import bs58 from 'bs58'
import { sql } from 'drizzle-orm'
import { checksumAddress } from '#contract/address.ts'
import { NATIVE_ETH, NATIVE_SOL, SOLANA_DEVNET } from '#contract/network.ts'
import { createPaymentId } from '#contract/payment.ts'
import { openDatabase, type Database, type DatabaseTarget } from '#postgres/open.ts'
import type { ObservedTransfer } from '#service/chains/chain.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { insertPayment, type NewPayment, type PaymentRecord } from '#service/db/payments.ts'
import { createAccount } from '#service/keys/accounts.ts'
import { registerWallet } from '#service/wallets/ownership.ts'
import { createTestDatabase, type Engine } from './postgres.ts'

/** Two accounts on a new database, without a program and without a chain: for tests of what is done to rows. */
export type LedgerFixture = AsyncDisposable & {
  target: DatabaseTarget
  db: Database
  accountId: string
  otherId: string
  /** A payment of the first account in ether, created, between two new wallets, unless the row says otherwise. */
  add: (row?: Partial<NewPayment>) => Promise<PaymentRecord>
  /** Makes an account the owner of a wallet on all chains of its family. */
  own: (address: string, accountId?: string) => Promise<void>
}

export async function openLedger(engine: Engine = 'postgres'): Promise<LedgerFixture> {
  await using stack = new AsyncDisposableStack()
  const { target } = stack.use(await createTestDatabase(engine, 'service'))
  const { db } = stack.use(await openDatabase(target, SERVICE_SCHEMA))
  const { id: accountId } = await createAccount(db, { name: 'Test', plan: 'premium' })
  const { id: otherId } = await createAccount(db, { name: 'Other', plan: 'premium' })
  const opened = stack.move()
  return {
    target,
    db,
    accountId,
    otherId,
    add: (row = {}) =>
      insertPayment(db, {
        id: createPaymentId(),
        accountId,
        mode: 'local',
        status: 'created',
        ...ETHER,
        sender: evmAddress(),
        recipient: evmAddress(),
        builtHeight: 100,
        ...row,
      }),
    own: async (address, owner = accountId) => {
      const registration = { accountId: owner, address, network: null, proof: 'operator' } as const
      await registerWallet({ db, now: new Date() }, registration)
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** Ether on the EVM network of the tests. */
export const ETHER = {
  network: 'eip155:31337',
  asset: NATIVE_ETH.address,
  symbol: NATIVE_ETH.symbol,
  decimals: NATIVE_ETH.decimals,
  amount: 10n ** 16n,
} as const

/** Columns of a payment in SOL between two new wallets. */
export function inSol() {
  const { address: asset, symbol, decimals } = NATIVE_SOL
  const parties = { sender: solanaAddress(), recipient: solanaAddress() }
  return { network: SOLANA_DEVNET, asset, symbol, decimals, amount: 10n ** 9n, ...parties }
}

export function evmAddress(): string {
  return checksumAddress(`0x${randomBytes(20).toString('hex')}`)
}

export function solanaAddress(): string {
  return bs58.encode(randomBytes(32))
}

/** The name of a transaction that nobody has made before. */
export function transactionName(): string {
  return `0x${randomBytes(32).toString('hex')}`
}

/** The transfer that a payment asks for, as a chain shows it. */
export function transferOf(
  { sender, recipient, asset, amount }: PaymentRecord,
  facts: Partial<ObservedTransfer> = {},
): ObservedTransfer {
  return { sender, recipient, asset, amountAtomic: amount, memo: null, nonce: 7, ...facts }
}

/**
 * Begins `second` while a transaction that has done `first` is open, and commits that once `second` waits for it, or is over.
 * @returns what `second` came to
 */
export async function commitBefore<T>(
  db: Database,
  first: (tx: Database) => Promise<unknown>,
  second: () => Promise<T>,
): Promise<T> {
  const began = await db.transaction(async (tx) => {
    await first(tx)
    const running = { over: false }
    const work = second()
    work.then(
      () => (running.over = true),
      () => (running.over = true),
    )
    while (!running.over && !(await isAwaited(tx)))
      await new Promise((resolve) => setImmediate(resolve))
    return { work }
  })
  return began.work
}

/** Whether another transaction waits for a lock of this one. */
async function isAwaited(tx: Database): Promise<boolean> {
  const { rows } = await tx.execute<{ waiting: number }>(
    sql`select count(*)::int as waiting from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`,
  )
  return (rows[0]?.waiting ?? 0) > 0
}
