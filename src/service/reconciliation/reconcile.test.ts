import { Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  startEvm,
  startGate,
  startSolana,
  type EvmFixture,
  type SolanaFixture,
} from '#testing/local-chains.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import { testSigner } from '#testing/test-signer.ts'
import { untilDecided } from '#testing/until-decided.ts'
import { eventually, openContext, type OpenedContext } from '#testing/service-context.ts'
import type { Chain } from '../chains/chain.ts'
import { createMetrics } from '../context/metrics.ts'
import { startEpoch } from '../db/deployment.ts'
import {
  readWalletLedger,
  readDue,
  readStopped,
  resumeWallet,
  findWallet,
} from '../db/wallet-ledger.ts'
import { sendPayment } from '../hosted/send.ts'
import { readPaymentBody } from '../payments/status.ts'
import { createWallet } from '../wallets/create-wallet.ts'
import { affirmAll } from './affirm.ts'
import { reconcile, startReconciliation } from './reconcile.ts'
import { startWatchers, type Watchers } from '../monitor/start.ts'

const ETH = 10n ** 18n
const SOL = 1_000_000_000n
const STRANGER = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'

let evm: EvmFixture
let solana: SolanaFixture
let mining: NodeJS.Timeout

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 1 })
  await evm.mine()
  mining = setInterval(() => void evm.mine().catch(() => {}), 200)
  solana = await startSolana({ slotTimeMs: 50 })
})

afterAll(async () => {
  clearInterval(mining)
  await solana?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

const families = {
  evm: {
    network: () => evm.network.network,
    unit: ETH,
    payee: async () => (await evm.wallet(0n)).address as string,
    set: (address: string, value: bigint) =>
      evm.client.setBalance({ address: address as Hex, value }),
    balance: (address: string) => evm.client.getBalance({ address: address as Hex }),
    /** Somebody with the key pays a hundredth to another address. */
    steal: async (secret: Uint8Array, address: string) => {
      const account = privateKeyToAccount(`0x${Buffer.from(secret).toString('hex')}`)
      const nonce = await evm.client.getTransactionCount({ address: address as Hex })
      const fields = {
        type: 'eip1559',
        chainId: 31_337,
        nonce,
        gas: 21_000n,
        maxFeePerGas: 10n ** 11n,
        to: STRANGER,
        value: ETH / 100n,
      } as const
      await evm.client.sendRawTransaction({
        serializedTransaction: await account.signTransaction(fields),
      })
      await eventually(
        () => evm.client.getTransactionCount({ address: address as Hex }),
        (count) => count > nonce,
      )
    },
  },
  solana: {
    network: () => solana.network.network,
    unit: SOL,
    payee: async () => Keypair.generate().publicKey.toBase58(),
    set: (address: string, lamports: bigint) => solana.setAccount(address, { lamports }),
    balance: async (address: string) =>
      BigInt(await solana.connection.getBalance(new PublicKey(address))),
    steal: async (secret: Uint8Array) => {
      const thief = Keypair.fromSeed(secret)
      const transaction = new Transaction({
        feePayer: thief.publicKey,
        ...(await solana.connection.getLatestBlockhash()),
      })
      transaction.add(
        SystemProgram.transfer({
          fromPubkey: thief.publicKey,
          toPubkey: Keypair.generate().publicKey,
          lamports: SOL / 100n,
        }),
      )
      transaction.sign(thief)
      const signature = await solana.connection.sendRawTransaction(transaction.serialize())
      await eventually(
        () => solana.connection.getSignatureStatus(signature),
        ({ value }) =>
          value?.confirmationStatus === 'confirmed' || value?.confirmationStatus === 'finalized',
      )
    },
  },
} as const

describe('the books of a managed wallet', () => {
  let opened: OpenedContext
  let watchers: Watchers

  beforeAll(async () => {
    opened = await openContext([evm.network, solana.network])
    watchers = startWatchers(opened.context)
  })
  afterAll(async () => {
    await watchers?.stop()
    await opened?.[Symbol.asyncDispose]()
  })

  /** A wallet with an open ledger. */
  async function openTill(family: keyof typeof families) {
    const { context, actor } = opened
    const chain = context.chains.get(families[family].network()) as Chain
    const { address } = await createWallet(
      { ...context, now: new Date() },
      { accountId: actor.accountId, family, name: 'till' },
    )
    const { unit, set, payee } = families[family]
    await set(address, unit)
    const nonceQueue = { network: chain.network.network, sender: address }
    const passed = await chain.head()
    await eventually(
      () => chain.audit(address, null),
      (audit) =>
        audit !== undefined && audit.height > passed.height && audit.balanceAtomic === unit,
    )
    expect(await reconcile(context, chain, address)).toBe('equal')
    const row = await findWallet(context.db, { accountId: actor.accountId, address })
    if (!row) throw new Error('no wallet')
    return {
      context,
      chain,
      address,
      nonceQueue,
      secret: () => testSigner(context).secretOf(row),
      books: () => readWalletLedger(context.db, nonceQueue),
      settled: (verdicts: readonly string[]) =>
        eventually(
          () => reconcile(context, chain, address),
          (verdict) => verdicts.includes(verdict),
        ),
      pay: async () => {
        const body = { walletAddress: address, recipientAddress: await payee(), amount: '0.01' }
        return sendPayment(context, actor, { body, idempotency: undefined, waitMs: 0 })
      },
    }
  }

  describe.each(['evm', 'solana'] as const)('with %s', (family) => {
    const { unit, set, balance, steal } = families[family]

    test('agree with the chain to the base unit over payments and what comes in', async () => {
      const till = await openTill(family)
      const { paymentId } = await untilDecided(till.pay)
      const final = await eventually(
        () => readPaymentBody(till.context, paymentId),
        ({ status }) => status === 'finalized',
      )
      const left = unit - unit / 100n - BigInt(final.fee?.amountAtomic ?? 0)
      expect(await balance(till.address)).toBe(left)
      expect(
        await readDue(till.context.db, {
          network: till.nonceQueue.network,
          family,
          everyMs: 600_000,
        }),
      ).toContain(till.address)
      await eventually(
        () => till.settled(['equal']).then(till.books),
        (books) => books?.balance === left,
      )
      expect(await till.books()).toMatchObject({ balance: left, received: unit, stoppedAt: null })
      // Incoming money needs no signature.
      await set(till.address, left + 12_345n)
      await eventually(
        () => till.settled(['equal']).then(till.books),
        (books) => books?.balance === left + 12_345n,
      )
      expect(await till.books()).toMatchObject({ received: unit + 12_345n, stoppedAt: null })
    })

    test('stop it over a signature that the service did not make, though more came in than went out', async () => {
      const till = await openTill(family)
      await steal(await till.secret(), till.address)
      await set(till.address, 5n * unit)
      await till.settled(['stopped'])
      expect(await till.books()).toMatchObject({
        balance: unit,
        stoppedAt: expect.any(Date),
        stopReason: expect.stringContaining('service did not sign'),
      })
      const refused = {
        code: 'SERVICE_UNAVAILABLE',
        facts: {
          details: {
            walletAddress: till.address,
            operator: expect.stringContaining('wallet resume'),
          },
        },
      }
      await expect(untilDecided(till.pay)).rejects.toMatchObject(refused)
      expect((await readStopped(till.context.db)).map(({ address }) => address)).toContain(
        till.address,
      )

      expect(await resumeWallet(till.context.db, till.address)).toHaveLength(1)
      await till.settled(['equal'])
      await expect(untilDecided(till.pay)).resolves.toMatchObject({ sender: till.address })
    })

    test('stop it over a balance that fell without any signature', async () => {
      const till = await openTill(family)
      await set(till.address, unit - 1n)
      await till.settled(['stopped'])
      expect((await till.books())?.stopReason).toContain('without a signature of the service')
    })
  })
})

describe('a wallet of which the node shows nothing', () => {
  async function openTwo(family: keyof typeof families) {
    await using stack = new AsyncDisposableStack()
    const { network } = family === 'evm' ? evm : solana
    const gate = stack.use(await startGate(network.rpcUrls[0] ?? ''))
    const networks = [{ ...network, rpcUrls: [gate.url] }]
    const { context, actor } = stack.use(await openContext(networks))
    const wallets = await Promise.all(
      [0, 1].map(() =>
        createWallet(
          { ...context, now: new Date() },
          { accountId: actor.accountId, family, name: 'till' },
        ),
      ),
    )
    const [silent = '', other = ''] = wallets.map(({ address }) => address).toSorted()
    const chain = context.chains.get(network.network) as Chain
    const ledgerOf = (sender: string) =>
      readWalletLedger(context.db, { network: network.network, sender })
    const running = stack.move()
    return {
      context,
      actor,
      networks,
      gate,
      chain,
      silent,
      other,
      ledgerOf,
      [Symbol.asyncDispose]: () => running.disposeAsync(),
    }
  }

  test('holds up no comparison of another, and is counted once it was not compared for 30 minutes', async () => {
    await using two = await openTwo('solana')
    const { context, actor, networks, gate, chain, silent, other, ledgerOf } = two
    for (const address of [silent, other]) {
      await families.solana.set(address, SOL)
      await eventually(
        () => chain.audit(address, null),
        (audit) => audit?.balanceAtomic === SOL,
      )
      expect(await reconcile(context, chain, address)).toBe('equal')
    }
    const row = await findWallet(context.db, { accountId: actor.accountId, address: other })
    if (!row) throw new Error('no wallet')
    await families.solana.steal(await testSigner(context).secretOf(row))
    await executeAsOwner(
      { target: context.config.database, db: context.db },
      `update service.wallet_ledger set checked_at = now() - case address when '${silent}' then interval '31 minutes' else interval '29 minutes' end`,
    )
    gate.refuse = silent
    const metrics = createMetrics({ networks, db: context.db })
    const stop = startReconciliation(context, metrics)
    try {
      await eventually(
        () => ledgerOf(other),
        (ledger) => ledger?.stoppedAt instanceof Date,
      )
      await eventually(
        async () => (await metrics.uncheckedWallets.get()).values,
        ([counted]) => counted?.value === 1,
      )
    } finally {
      await stop()
    }
    expect(await ledgerOf(silent)).toMatchObject({ stoppedAt: null })
  })

  test('is not stopped while a node hides the transactions that the rows show, and what it received stays right', async () => {
    await using two = await openTwo('solana')
    const { context, actor, gate, chain, other, ledgerOf } = two
    await families.solana.set(other, SOL)
    await eventually(
      () => chain.audit(other, null),
      (audit) => audit?.balanceAtomic === SOL,
    )
    expect(await reconcile(context, chain, other)).toBe('equal')
    const watchers = startWatchers(context)
    const body = {
      walletAddress: other,
      recipientAddress: await families.solana.payee(),
      amount: '0.01',
    }
    const { paymentId } = await untilDecided(() =>
      sendPayment(context, actor, { body, idempotency: undefined, waitMs: 0 }),
    )
    await eventually(
      () => readPaymentBody(context, paymentId),
      ({ status }) => status === 'finalized',
    )
    await watchers.stop()
    gate.lie = (asked, told) =>
      asked.includes('getSignaturesForAddress')
        ? JSON.stringify({ ...JSON.parse(told), result: [] })
        : told
    expect(await reconcile(context, chain, other)).toBe('later')
    // As much came in as went out: without the signature the books would add up by chance.
    await families.solana.set(other, 2n * SOL)
    expect(await reconcile(context, chain, other)).toBe('later')
    // It ends without the node's history only where an operator says so.
    expect(await resumeWallet(context.db, other, { unchecked: true })).toEqual([])
    gate.lie = undefined
    await eventually(
      () => reconcile(context, chain, other),
      (verdict) => verdict === 'equal',
    )
    const ledger = await ledgerOf(other)
    const { fee } = await readPaymentBody(context, paymentId)
    const out = SOL / 100n + BigInt(fee?.amountAtomic ?? 0)
    expect(ledger).toMatchObject({ balance: 2n * SOL, received: 2n * SOL + out, stoppedAt: null })

    await executeAsOwner(
      { target: context.config.database, db: context.db },
      `update service.wallet_ledger set checked_at = now() - interval '31 minutes' where address = '${other}'`,
    )
    expect(await resumeWallet(context.db, other)).toEqual([])
    expect(await resumeWallet(context.db, other, { unchecked: true })).toHaveLength(1)
    expect(await reconcile(context, chain, other)).toBe('equal')
    expect(await ledgerOf(other)).toMatchObject({ balance: 2n * SOL, received: 2n * SOL })
  })

  test('holds up no other after a restore', async () => {
    await using two = await openTwo('evm')
    const { gate, silent, other, ledgerOf } = two
    await startEpoch(two.context.db)
    await using restarted = await openContext(two.networks, { beside: two.context })
    const { context } = restarted
    const chain = context.chains.get(evm.network.network) as Chain
    const now = new Date()
    await eventually(
      () => chain.clock(),
      ({ head }) => head >= now,
    )
    gate.refuse = silent
    await affirmAll(context, chain)
    expect(await ledgerOf(other)).toMatchObject({ affirmedEpoch: 1 })
    expect(await ledgerOf(silent)).toBeUndefined()
    gate.refuse = undefined
    await affirmAll(context, chain)
    expect(await ledgerOf(silent)).toMatchObject({ affirmedEpoch: 1 })
  })
})
