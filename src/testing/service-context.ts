import { inspect } from 'node:util'
import { expect } from 'vitest'
import { SOLANA_DEVNET, type Network } from '#contract/network.ts'
import { openDatabase, type DatabaseTarget } from '#postgres/open.ts'
import { createChains } from '#service/service.ts'
import type { Actor, Context } from '#service/context/context.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { numberEvents, takeNumbering } from '#service/db/record-event.ts'
import { findOwner } from '#service/db/wallet-owners.ts'
import { createAccount } from '#service/keys/accounts.ts'
import { findKey } from '#service/keys/authenticate.ts'
import { KnownCallers } from '#service/keys/known-callers.ts'
import { leaseTokens, Limits } from '#service/limits/limits.ts'
import { createLog } from '#service/context/log.ts'
import { registerWallet, releaseWallet } from '#service/wallets/ownership.ts'
import { createRequestLog } from '#service/context/request-log.ts'
import { createUsageLog } from '#service/context/usage-log.ts'
import { createTestDatabase, type Engine } from './postgres.ts'
import { openTestSigner, type TestSigner } from './test-signer.ts'

export type OpenedContext = AsyncDisposable & { context: Context; actor: Actor }

type Options = {
  engine?: Engine
  now?: () => Date
  beside?: Context
  /** A database that is there already. */
  target?: DatabaseTarget
  /** Of a database that is there already: what sealed its wallets. */
  signer?: TestSigner
}

/** The parts of a service without its server: a database, the chains, an account that acts. Beside another, they share its database like a second process. */
export async function openContext(
  networks: readonly Network[],
  options: Options = {},
): Promise<OpenedContext> {
  const { beside } = options
  await using stack = new AsyncDisposableStack()
  const target =
    beside?.config.database ??
    options.target ??
    stack.use(await createTestDatabase(options.engine ?? 'postgres', 'service')).target
  const database = stack.use(await openDatabase(target, SERVICE_SCHEMA))
  const limits = new Limits({ lease: (requests) => leaseTokens(database.db, requests) })
  stack.defer(() => limits.close())
  const context: Context = {
    config: {
      host: '127.0.0.1',
      port: 0,
      trustedProxyHops: 0,
      database: target,
      networks: [...networks],
      logLevel: 'silent',
      signer: { socket: 'unused' },
    },
    db: database.db,
    chains: createChains(networks),
    signer: beside?.signer ?? options.signer ?? stack.use(openTestSigner()),
    log: createLog('silent'),
    usage: createUsageLog(database.db),
    requests: createRequestLog(database.db),
    limits,
    callers: new KnownCallers({ read: (hash, now) => findKey(database.db, hash, now) }),
    now: options.now ?? (() => new Date()),
  }
  const actor = await openAccount(context)
  const opened = stack.move()
  return { context, actor, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

/** Numbers the events that are committed, where no process of a service does. */
export async function numberRecorded({ db }: Pick<Context, 'db'>): Promise<void> {
  const holder = 'the test'
  await takeNumbering(db, holder)
  while ((await numberEvents(db, holder))?.more);
}

export async function openAccount(context: Context): Promise<Actor> {
  const { id } = await createAccount(context.db, { name: 'Test', plan: 'premium' })
  return { accountId: id, keyId: 'key_test', scopes: new Set(), plan: 'premium' }
}

/** Makes the account the owner of a wallet, as the operator's command does. */
export async function registerPayee(
  { db, now }: Pick<Context, 'db' | 'now'>,
  accountId: string,
  address: string,
): Promise<void> {
  await registerWallet({ db, now: now() }, { accountId, address, network: null, proof: 'operator' })
}

/** Ends it, as the owner does. */
export async function releasePayee(
  { db, now }: Pick<Context, 'db' | 'now'>,
  accountId: string,
  address: string,
): Promise<void> {
  await releaseWallet({ db, now: now() }, address, { accountId })
}

/** Registers a wallet of an account; the account that owned it before has released it. */
export async function ownWallet(
  { context, actor }: Pick<OpenedContext, 'context' | 'actor'>,
  address: string,
): Promise<void> {
  const owner = await findOwner(
    context.db,
    address.startsWith('0x') ? 'eip155:31337' : SOLANA_DEVNET,
    address,
  )
  if (owner === actor.accountId) return
  if (owner !== undefined) await releasePayee(context, owner, address)
  await registerPayee(context, actor.accountId, address)
}

/** Between two readings: a tenth of what the wait has taken so far, within these limits. A reading costs more than what it waits for. */
const PAUSE_MS = { least: 25, most: 250 }
const DEADLINE_MS = 90_000

/** Waits until the reading holds; the last one is in the failure. */
export async function eventually<T>(
  read: () => Promise<T>,
  holds: (value: T) => boolean,
): Promise<T> {
  const begun = performance.now()
  for (;;) {
    const value = await read()
    if (holds(value)) return value
    const waited = performance.now() - begun
    if (waited > DEADLINE_MS)
      expect.fail(`still not so after ${DEADLINE_MS} ms: ${inspect(value, { depth: 6 })}`)
    const pause = Math.min(Math.max(waited / 10, PAUSE_MS.least), PAUSE_MS.most)
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}
