import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { and, eq, isNull } from 'drizzle-orm'
import { expect } from 'vitest'
import { createId } from '#contract/id.ts'
import type { Network } from '#contract/network.ts'
import { openDatabase } from '#postgres/open.ts'
import { createChains } from '#service/chains/create.ts'
import type { Actor, Context } from '#service/context.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { walletOwner } from '#service/db/schema/wallet.ts'
import { createAccount } from '#service/keys/create-account.ts'
import { createLog } from '#service/log.ts'
import { createVault } from '#service/wallets/file-vault.ts'
import { createUsageLog } from '#service/usage/usage-log.ts'
import { createTestDatabase, type Engine } from './postgres.ts'

export type OpenedContext = AsyncDisposable & { context: Context; actor: Actor }

/** The parts of a service without its server: a database, the chains, an account that acts. Beside another, they share its database like a second process. */
export async function openContext(networks: readonly Network[], options: { engine?: Engine; now?: () => Date; beside?: Context } = {}): Promise<OpenedContext> {
  const { beside } = options
  await using stack = new AsyncDisposableStack()
  const target = beside ? beside.config.database : stack.use(await createTestDatabase(options.engine ?? 'postgres')).target
  const database = stack.use(await openDatabase(target, SERVICE_SCHEMA))
  const context: Context = {
    config: { host: '127.0.0.1', port: 0, database: target, networks: [...networks], logLevel: 'silent', vaultKey: { file: 'unused' }, crashAt: undefined },
    db: database.db,
    chains: createChains(networks),
    vault: beside?.vault ?? createVault(randomBytes(32)),
    log: createLog('silent'),
    usage: createUsageLog(database.db),
    now: options.now ?? (() => new Date()),
  }
  const actor = await openAccount(context)
  const opened = stack.move()
  return { context, actor, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

export async function openAccount(context: Context): Promise<Actor> {
  const { id } = await createAccount(context.db, { name: 'Test', plan: 'premium' })
  return { accountId: id, keyId: 'key_test', scopes: new Set(), plan: 'premium' }
}

/** Registers a wallet of an account, as the operator would; an account that owned it before has released it. */
export async function ownWallet({ context, actor }: Pick<OpenedContext, 'context' | 'actor'>, address: string): Promise<void> {
  const { accountId } = actor
  const scope = address.startsWith('0x') ? 'evm' : 'solana'
  await context.db
    .update(walletOwner)
    .set({ releasedAt: context.now() })
    .where(and(eq(walletOwner.address, address), isNull(walletOwner.releasedAt)))
  await context.db.insert(walletOwner).values({ id: createId('own'), scope, address, accountId, kind: 'payout', proof: 'operator' })
}

const POLL_MS = 25
const DEADLINE_MS = 30_000

/** Waits until the reading holds; the last one is in the failure. */
export async function eventually<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  const deadline = Date.now() + DEADLINE_MS
  for (;;) {
    const value = await read()
    if (holds(value)) return value
    if (Date.now() > deadline) expect.fail(`still not so after ${DEADLINE_MS} ms: ${inspect(value, { depth: 6 })}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
