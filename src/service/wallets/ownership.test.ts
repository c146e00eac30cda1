import { ed25519 } from '@noble/curves/ed25519.js'
import { randomBytes } from 'node:crypto'
import bs58 from 'bs58'
import { eq, sql } from 'drizzle-orm'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NATIVE_ETH, SOLANA_DEVNET, type NetworkId } from '#contract/network.ts'
import { createPaymentId } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import { OFFLINE_NETWORKS } from '#testing/fixture.ts'
import { insertTestPayment } from '#testing/service-app.ts'
import {
  eventually,
  openAccount,
  openContext,
  registerPayee,
  type OpenedContext,
} from '#testing/service-context.ts'
import type { Actor, Context } from '../context/context.ts'
import { payment } from '../db/schema/payment.ts'
import { claim } from '../db/schema/proof.ts'
import { walletChallenge, walletOwner } from '../db/schema/wallet.ts'
import { findOwner } from '../db/wallet-owners.ts'
import { sweep } from '../service.ts'
import { createLog } from '../context/log.ts'
import { createWallet, registerConfiguredWallets } from './create-wallet.ts'
import { registerWallet, releaseWallet } from './ownership.ts'
import {
  issueWalletChallenge,
  listPayoutWallets,
  registerPayoutWallet,
  releasePayoutWallet,
} from './payout-wallets.ts'

const CHAIN = 'eip155:31337'
const OTHER_CHAIN = 'eip155:31338'
const MINUTE = 60_000

type TestWallet = { address: string; sign: (message: string) => Promise<string> }

function evmWallet(): TestWallet {
  const account = privateKeyToAccount(generatePrivateKey())
  return { address: account.address, sign: (message) => account.signMessage({ message }) }
}

function solanaWallet(): TestWallet {
  const secret = randomBytes(32)
  return {
    address: bs58.encode(ed25519.getPublicKey(secret)),
    sign: async (message) => bs58.encode(ed25519.sign(Buffer.from(message), secret)),
  }
}

describe('ownership of wallets', () => {
  let opened: OpenedContext
  let context: Context
  let clock = Date.parse('2026-11-21T10:00:00Z')
  beforeAll(async () => {
    opened = await openContext(
      [
        ...OFFLINE_NETWORKS,
        ...OFFLINE_NETWORKS.slice(0, 1).map((network) => ({ ...network, network: OTHER_CHAIN })),
      ],
      {
        now: () => new Date(clock),
      },
    )
    context = opened.context
  })
  afterAll(() => opened?.[Symbol.asyncDispose]())

  const challenge = (actor: Actor, wallet: TestWallet, network?: string) =>
    issueWalletChallenge(context, actor, { walletAddress: wallet.address, network })
  async function prove(actor: Actor, wallet: TestWallet): Promise<void> {
    const { challengeId, message } = await challenge(actor, wallet)
    await registerPayoutWallet(context, actor, {
      challengeId,
      signature: await wallet.sign(message),
    })
  }
  const ownerOf = (wallet: { address: string }, network: NetworkId = CHAIN) =>
    findOwner(context.db, network, wallet.address)
  /** As a contract's signature that its chain has accepted. */
  const proveContract = (actor: Actor, address: string, network: NetworkId) =>
    registerWallet(
      { db: context.db, now: context.now() },
      {
        accountId: actor.accountId,
        address,
        network,
        proof: 'signature',
        networks: context.config.networks.map(({ network: id }) => id),
      },
    )
  const accounts = async () => [await openAccount(context), await openAccount(context)] as const
  const manage = (actor: Actor, secret?: Uint8Array) =>
    createWallet(
      { db: context.db, signer: context.signer, now: context.now() },
      { accountId: actor.accountId, family: 'evm', name: 'till', secret },
    )

  describe('by signature', () => {
    test.each([
      ['evm', evmWallet],
      ['solana', solanaWallet],
    ] as const)(
      'a wallet on %s that signs the text of its account belongs to it',
      async (family, create) => {
        const actor = await openAccount(context)
        const wallet = create()
        const { challengeId, message, expiresAt } = await challenge(actor, wallet)
        expect(expiresAt - clock).toBe(5 * MINUTE)
        expect(message).toContain(
          `wants you to sign in with your ${family === 'evm' ? 'Ethereum' : 'Solana'} account:\n${wallet.address}\n`,
        )
        expect(message).toContain(`of the Paydesk account ${actor.accountId}.`)
        expect(message).toMatch(/\nNonce: [0-9a-f]{32}\n/)
        const registered = await registerPayoutWallet(context, actor, {
          challengeId,
          signature: await wallet.sign(message),
        })
        const expected = {
          walletAddress: wallet.address,
          family,
          network: null,
          kind: 'payout',
          proof: 'signature',
          createdAt: clock,
        }
        expect(registered).toEqual({ success: true, wallet: expected })
        expect(await listPayoutWallets(context, actor)).toEqual({
          success: true,
          wallets: [expected],
        })
        const network = family === 'evm' ? OTHER_CHAIN : SOLANA_DEVNET
        expect(await ownerOf(wallet, network)).toBe(actor.accountId)
        const rows = await context.db
          .select()
          .from(walletOwner)
          .where(eq(walletOwner.address, wallet.address))
        expect(rows).toMatchObject([{ message, signature: expect.any(String) }])
      },
    )

    test('a signature of another key, or over another text, registers nothing and uses the challenge up', async () => {
      const actor = await openAccount(context)
      const [wallet, other] = [evmWallet(), evmWallet()]
      for (const sign of [
        (text: string) => other.sign(text),
        (text: string) => wallet.sign(`${text} `),
        async () => '0x12',
        async () => 'é'.repeat(40),
      ]) {
        const { challengeId, message } = await challenge(actor, wallet)
        const signature = await sign(message)
        await expect(
          registerPayoutWallet(context, actor, { challengeId, signature }),
        ).rejects.toMatchObject(invalid('signature'))
        const right = await wallet.sign(message)
        await expect(
          registerPayoutWallet(context, actor, { challengeId, signature: right }),
        ).rejects.toMatchObject(invalid('challengeId'))
      }
      expect(await ownerOf(wallet)).toBeUndefined()
    })

    test('a challenge is used once, also by requests at the same time', async () => {
      const actor = await openAccount(context)
      const wallet = evmWallet()
      const { challengeId, message } = await challenge(actor, wallet)
      const signature = await wallet.sign(message)
      const answers = await Promise.allSettled(
        Array.from({ length: 6 }, () =>
          registerPayoutWallet(context, actor, { challengeId, signature }),
        ),
      )
      expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      await releasePayoutWallet(context, actor, wallet.address)
      await expect(
        registerPayoutWallet(context, actor, { challengeId, signature }),
      ).rejects.toMatchObject(invalid('challengeId'))
      expect(await ownerOf(wallet)).toBeUndefined()
    })

    test('a challenge expires after five minutes', async () => {
      const actor = await openAccount(context)
      const wallet = evmWallet()
      const { challengeId, message } = await challenge(actor, wallet)
      const signature = await wallet.sign(message)
      clock += 5 * MINUTE
      await expect(
        registerPayoutWallet(context, actor, { challengeId, signature }),
      ).rejects.toMatchObject(invalid('challengeId'))
    })

    test('the challenge of another account is not found, and stays valid for its account', async () => {
      const [owner, thief] = await accounts()
      const wallet = evmWallet()
      const { challengeId, message } = await challenge(owner, wallet)
      const signature = await wallet.sign(message)
      await expect(
        registerPayoutWallet(context, thief, { challengeId, signature }),
      ).rejects.toMatchObject(invalid('challengeId'))
      await registerPayoutWallet(context, owner, { challengeId, signature })
      expect(await ownerOf(wallet)).toBe(owner.accountId)
    })

    test('a network of another family, or one that is not configured, is refused by its field', async () => {
      const actor = await openAccount(context)
      for (const network of [SOLANA_DEVNET, 'eip155:1', 'base'])
        await expect(challenge(actor, evmWallet(), network)).rejects.toMatchObject(
          invalid('network'),
        )
    })
  })

  describe('between accounts', () => {
    test('the signature of a second account moves nothing, until the owner releases the wallet', async () => {
      const [first, second] = await accounts()
      const wallet = evmWallet()
      await prove(first, wallet)
      await expect(prove(second, wallet)).rejects.toMatchObject(
        owned(
          /another account, which proved it .* must release it first, with DELETE \/wallets\/payout\//,
        ),
      )
      expect(await ownerOf(wallet)).toBe(first.accountId)
      await releasePayoutWallet(context, first, wallet.address)
      expect(await ownerOf(wallet)).toBeUndefined()
      await prove(second, wallet)
      expect(await ownerOf(wallet)).toBe(second.accountId)
    })

    test('of two accounts whose signatures come at the same time, one owns the wallet', async () => {
      for (let round = 0; round < 5; round++) {
        const actors = await accounts()
        const wallet = evmWallet()
        const answers = await Promise.allSettled(actors.map((actor) => prove(actor, wallet)))
        const winners = actors.filter((_, index) => answers[index]?.status === 'fulfilled')
        expect(winners).toHaveLength(1)
        expect(answers.find(({ status }) => status === 'rejected')).toMatchObject({
          reason: owned(),
        })
        expect(await ownerOf(wallet)).toBe(winners[0]?.accountId)
      }
    })

    test('of a family-wide and a per-chain registration of two accounts at the same time, one holds', async () => {
      for (let round = 0; round < 5; round++) {
        const [first, second] = await accounts()
        const wallet = evmWallet()
        const answers = await Promise.allSettled([
          prove(first, wallet),
          proveContract(second, wallet.address, CHAIN),
        ])
        expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
        const rows = await context.db
          .select()
          .from(walletOwner)
          .where(eq(walletOwner.address, wallet.address))
        expect(rows).toHaveLength(1)
      }
    })

    test('a family-wide owner keeps other accounts from each chain, and an owner on one chain keeps them from the family', async () => {
      const [first, second] = await accounts()
      const [key, contract] = [evmWallet(), evmWallet()]
      await prove(first, key)
      await expect(proveContract(second, key.address, CHAIN)).rejects.toMatchObject(owned())
      await proveContract(first, contract.address, CHAIN)
      await expect(prove(second, contract)).rejects.toMatchObject(
        owned(/ on eip155:31337, which proved it/),
      )
      await expect(
        registerPayee(context, second.accountId, contract.address),
      ).rejects.toMatchObject(owned())
      // Another chain has its own contract at that address.
      await proveContract(second, contract.address, OTHER_CHAIN)
      expect([await ownerOf(contract, CHAIN), await ownerOf(contract, OTHER_CHAIN)]).toEqual([
        first.accountId,
        second.accountId,
      ])
    })

    test("a signature outranks the operator's registration of another account, which is released in the same commit", async () => {
      const [first, second] = await accounts()
      const wallet = evmWallet()
      await registerPayee(context, first.accountId, wallet.address)
      expect(await ownerOf(wallet)).toBe(first.accountId)
      await prove(second, wallet)
      expect(await ownerOf(wallet)).toBe(second.accountId)
      expect((await listPayoutWallets(context, first)).wallets).toEqual([])
      const rows = await context.db
        .select()
        .from(walletOwner)
        .where(eq(walletOwner.address, wallet.address))
        .orderBy(walletOwner.proof)
      expect(rows).toMatchObject([
        { proof: 'operator', accountId: first.accountId, releasedAt: new Date(clock) },
        { proof: 'signature', accountId: second.accountId, releasedAt: null },
      ])
    })

    test("a contract that signed on one chain leaves the operator's registration on the others", async () => {
      const [first, second] = await accounts()
      const { address } = evmWallet()
      await registerPayee(context, first.accountId, address)
      await proveContract(second, address, CHAIN)
      expect([await ownerOf({ address }, CHAIN), await ownerOf({ address }, OTHER_CHAIN)]).toEqual([
        second.accountId,
        first.accountId,
      ])
    })

    test('the operator overrides neither a signature, nor a managed wallet, nor another registration', async () => {
      const [first, second] = await accounts()
      const [signed, registered] = [evmWallet(), evmWallet()]
      await prove(first, signed)
      await registerPayee(context, first.accountId, registered.address)
      const managed = await manage(first)
      const register = (address: string) => registerPayee(context, second.accountId, address)
      await expect(register(signed.address)).rejects.toMatchObject(
        owned(
          /The operator does not override a signature\. Release it with a key of the account acc_/,
        ),
      )
      await expect(register(managed.address)).rejects.toMatchObject(
        owned(/the service holds its key\. A managed wallet keeps its account\.$/),
      )
      await expect(register(registered.address)).rejects.toMatchObject(
        owned(/Release it first: npm run admin -- wallet release --wallet 0x/),
      )
      for (const { address } of [signed, managed, registered])
        expect(await ownerOf({ address })).toBe(first.accountId)
    })

    test('an account that does not exist is told so', async () => {
      await expect(registerPayee(context, 'acc_none', evmWallet().address)).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: 'There is no account acc_none.',
      })
    })
  })

  describe('of one account', () => {
    test('a stronger proof takes the place of a weaker one, and a weaker one changes nothing', async () => {
      const actor = await openAccount(context)
      const wallet = evmWallet()
      const proofs = async () =>
        (await listPayoutWallets(context, actor)).wallets.map(({ proof }) => proof)
      await registerPayee(context, actor.accountId, wallet.address)
      await registerPayee(context, actor.accountId, wallet.address)
      expect(await proofs()).toEqual(['operator'])
      await prove(actor, wallet)
      await prove(actor, wallet)
      await registerPayee(context, actor.accountId, wallet.address)
      expect(await proofs()).toEqual(['signature'])
    })

    test('a managed wallet belongs to its account from the commit that makes it, and cannot be released', async () => {
      const actor = await openAccount(context)
      const { address } = await manage(actor)
      expect((await listPayoutWallets(context, actor)).wallets).toMatchObject([
        { walletAddress: address, kind: 'managed', proof: 'managed', network: null },
      ])
      await expect(releasePayoutWallet(context, actor, address)).rejects.toMatchObject({
        code: 'FORBIDDEN',
        facts: { details: { reason: { code: 'wallet_managed', params: {} } } },
      })
      await expect(
        releaseWallet({ db: context.db, now: context.now() }, address, 'operator'),
      ).rejects.toMatchObject({ code: 'FORBIDDEN' })
      expect(await ownerOf({ address })).toBe(actor.accountId)
    })

    test('a key that another account has proven is not taken under management, and leaves no wallet', async () => {
      const [first, second] = await accounts()
      const secret = generatePrivateKey()
      const account = privateKeyToAccount(secret)
      await prove(first, {
        address: account.address,
        sign: (message) => account.signMessage({ message }),
      })
      const take = (actor: Actor) => manage(actor, Buffer.from(secret.slice(2), 'hex'))
      await expect(take(second)).rejects.toMatchObject(owned())
      await take(first)
      expect((await listPayoutWallets(context, first)).wallets).toMatchObject([
        { proof: 'managed' },
      ])
    })

    test('only the owner releases a wallet; the operator, only what the operator registered', async () => {
      const [first, second] = await accounts()
      const [signed, registered] = [evmWallet(), evmWallet()]
      await prove(first, signed)
      await registerPayee(context, first.accountId, registered.address)
      await expect(releasePayoutWallet(context, second, signed.address)).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
      const release = ({ address }: TestWallet) =>
        releaseWallet({ db: context.db, now: context.now() }, address, 'operator')
      await expect(release(signed)).rejects.toMatchObject(owned())
      expect(await release(registered)).toMatchObject([
        { accountId: first.accountId, proof: 'operator' },
      ])
      await expect(release(registered)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      expect([await ownerOf(signed), await ownerOf(registered)]).toEqual([
        first.accountId,
        undefined,
      ])
    })
  })

  describe('directions of past payments', () => {
    const STRANGER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

    async function pay(
      actor: Actor,
      row: {
        sender?: string
        recipient?: string
        network?: string
        draft?: boolean
        status?: 'confirmed'
      },
    ): Promise<string> {
      const id = createPaymentId()
      const parties = {
        sender: STRANGER,
        recipient: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
        network: CHAIN,
        asset: NATIVE_ETH.address,
      }
      await insertTestPayment(context.db, { id, accountId: actor.accountId, ...parties, ...row })
      return id
    }
    const directionOf = async (id: string) =>
      (await context.db.select().from(payment).where(eq(payment.id, id)))[0]?.direction

    test('follow a registration, on the chains that it is for, for its account alone', async () => {
      const [actor, other] = await accounts()
      const [till, savings] = [evmWallet(), evmWallet()]
      const ids = [
        await pay(actor, { recipient: till.address }),
        await pay(actor, { sender: till.address }),
        await pay(actor, { sender: till.address, recipient: savings.address }),
        await pay(actor, { recipient: savings.address, network: OTHER_CHAIN }),
        await pay(other, { recipient: till.address }),
        await pay(actor, { recipient: till.address, draft: true }),
      ]
      const directions = () => Promise.all(ids.map(directionOf))
      expect(await directions()).toEqual(ids.map(() => 'external'))
      await prove(actor, till)
      expect(await directions()).toEqual([
        'received',
        'sent',
        'sent',
        'external',
        'external',
        'received',
      ])
      await proveContract(actor, savings.address, CHAIN)
      expect(await directions()).toEqual([
        'received',
        'sent',
        'internal',
        'external',
        'external',
        'received',
      ])
      await registerPayee(context, actor.accountId, savings.address)
      expect(await directions()).toEqual([
        'received',
        'sent',
        'internal',
        'received',
        'external',
        'received',
      ])
    })

    test('stay as they were when a wallet is released, also when another wallet of theirs is registered later', async () => {
      const actor = await openAccount(context)
      const [till, savings] = [evmWallet(), evmWallet()]
      await prove(actor, till)
      const [received, sent] = [
        await pay(actor, { recipient: till.address }),
        await pay(actor, { sender: till.address, recipient: savings.address }),
      ]
      await releasePayoutWallet(context, actor, till.address)
      expect([await directionOf(received), await directionOf(sent)]).toEqual(['received', 'sent'])
      expect(await directionOf(await pay(actor, { recipient: till.address }))).toBe('external')
      await prove(actor, savings)
      expect([await directionOf(received), await directionOf(sent)]).toEqual([
        'received',
        'internal',
      ])
    })

    test('a payment that is recorded while its wallet is registered has the direction of the owner', async () => {
      const actor = await openAccount(context)
      const wallet = evmWallet()
      const [, ...ids] = await Promise.all([
        prove(actor, wallet),
        ...Array.from({ length: 10 }, () => pay(actor, { recipient: wallet.address })),
      ])
      expect(await Promise.all(ids.map(directionOf))).toEqual(ids.map(() => 'received'))
    })

    test('what an account consumed before it registered the payee binds everybody from then on', async () => {
      const [actor, other] = await accounts()
      const wallet = evmWallet()
      const id = await pay(actor, { recipient: wallet.address, status: 'confirmed' })
      const used = {
        network: CHAIN,
        key: `txid:${id}`,
        fingerprint: '',
        attempt: 'a',
        leaseUntil: new Date(),
        consumedAt: new Date(),
        checks: '[]',
      }
      const elsewhere = await pay(other, { recipient: wallet.address })
      await context.db.insert(claim).values([
        {
          ...used,
          scope: actor.accountId,
          accountId: actor.accountId,
          exclusive: false,
          paymentId: id,
        },
        {
          ...used,
          scope: other.accountId,
          accountId: other.accountId,
          exclusive: false,
          paymentId: elsewhere,
        },
      ])
      await prove(actor, wallet)
      const rows = await context.db.select().from(claim).where(eq(claim.key, used.key))
      expect(new Map(rows.map(({ scope, exclusive }) => [scope, exclusive]))).toEqual(
        new Map([
          [actor.accountId, true],
          [other.accountId, false],
        ]),
      )
    })
  })

  describe('by configuration', () => {
    test('registers at the start, again without effect, and goes on after a conflict', async () => {
      const [first, second] = await accounts()
      const [taken, free] = [evmWallet(), solanaWallet()]
      await prove(first, taken)
      const lines: string[] = []
      const log = createLog('info', { write: (line) => void lines.push(line) })
      const payoutWallets = [
        { accountId: second.accountId, address: taken.address },
        { accountId: 'acc_none', address: free.address },
        { accountId: second.accountId, address: free.address },
      ]
      const start = () =>
        registerConfiguredWallets({ ...context, log, config: { ...context.config, payoutWallets } })
      await start()
      expect([await ownerOf(taken), await ownerOf(free, SOLANA_DEVNET)]).toEqual([
        first.accountId,
        second.accountId,
      ])
      expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
        {
          msg: 'PAYOUT_WALLETS: this wallet is not registered',
          reason: expect.stringContaining('The operator does not override a signature.'),
        },
        {
          msg: 'PAYOUT_WALLETS: this wallet is not registered',
          reason: 'There is no account acc_none.',
          accountId: 'acc_none',
        },
        { msg: 'payout wallet registered', accountId: second.accountId, wallet: free.address },
      ])
      await start()
      expect(lines).toHaveLength(5)
      expect((await listPayoutWallets(context, second)).wallets).toHaveLength(1)
    })
  })

  test('housekeeping removes challenges that expired', async () => {
    const actor = await openAccount(context)
    const { challengeId } = await challenge(actor, evmWallet())
    const known = () => context.db.$count(walletChallenge, eq(walletChallenge.id, challengeId))
    await sweep(context)
    expect(await known()).toBe(1)
    clock += 5 * MINUTE
    await sweep(context)
    expect(await known()).toBe(0)
  })
})

// On Postgres alone: the embedded database has one connection, where transactions follow each other.
test('a registration waits for a payment that is being recorded, and decides its direction', async () => {
  await using opened = await openContext(OFFLINE_NETWORKS)
  const { context, actor } = opened
  const { address } = evmWallet()
  const id = createPaymentId()
  const waiting = async () => {
    const { rows } = await context.db.execute<{ count: number }>(sql`
      select count(*)::int as count from pg_locks
      where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`)
    return (rows[0]?.count ?? 0) > 0
  }
  let ended = false
  let registering: Promise<void> | undefined
  await context.db.transaction(async (tx) => {
    await insertTestPayment(tx, {
      id,
      accountId: actor.accountId,
      network: CHAIN,
      recipient: address,
    })
    registering = registerPayee(context, actor.accountId, address).finally(() => {
      ended = true
    })
    await eventually(waiting, (waits) => waits || ended)
  })
  await registering
  const [row] = await context.db.select().from(payment).where(eq(payment.id, id))
  expect(row?.direction).toBe('received')
})

const invalid = (field: string) => ({
  code: 'INVALID_PARAMETERS',
  facts: { details: { [field]: expect.any(String) } },
})

function owned(message = /./) {
  return expect.objectContaining({
    constructor: ProblemError,
    code: 'FORBIDDEN',
    message: expect.stringMatching(message),
    facts: expect.objectContaining({
      details: expect.objectContaining({ reason: { code: 'wallet_owned', params: {} } }),
    }),
  })
}
