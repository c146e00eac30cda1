import { Keypair, PublicKey } from '@solana/web3.js'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { backUp, putBack } from '#testing/database-copy.ts'
import {
  ETHER_RESOURCE,
  openEtherFixture,
  type EtherFixture,
  type SentEther,
} from '#testing/ether-fixture.ts'
import {
  startEvm,
  startGate,
  startSolana,
  type EvmFixture,
  type SolanaFixture,
} from '#testing/local-chains.ts'
import { eventually, openContext, type OpenedContext } from '#testing/service-context.ts'
import { testSigner } from '#testing/test-signer.ts'
import { untilDecided } from '#testing/until-decided.ts'
import { restoreCommands } from '../admin/database-commands.ts'
import { walletCommands } from '../admin/wallet-commands.ts'
import type { Chain } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { readAttempts } from '../db/attempts.ts'
import { findAffirmation } from '../db/deployment.ts'
import { findWallet, readWalletLedger } from '../db/wallet-ledger.ts'
import { sendPayment } from '../hosted/send.ts'
import { pollOnce } from '../monitor/poll.ts'
import { startWatchers, type Watchers } from '../monitor/start.ts'
import { readPaymentBody } from '../payments/status.ts'
import { receivePayment } from '../settlement/receive.ts'
import { createWallet } from '../wallets/create-wallet.ts'
import { affirmAll } from './affirm.ts'
import { reconcile } from './reconcile.ts'

/** A database that was put back to a backup has forgotten payments and grants: nothing is paid and nothing is granted twice. */

const AMOUNTS = { evm: 10n ** 16n, solana: 10n ** 7n }

const inDatabase = ({ config, db }: Context) => ({ target: config.database, db })

async function run(
  context: Context,
  name: 'restore' | 'wallet resume',
  values: Record<string, string> = {},
) {
  const command = { ...restoreCommands, ...walletCommands }[name]
  const operator = {
    db: context.db,
    signer: () => Promise.resolve(context.signer),
    now: new Date(),
  }
  return command?.run(operator, values)
}

/** Waits for a new block: the newest one is not older than the restore. */
async function untilNewer(chain: Chain, mine?: () => Promise<void>) {
  const now = new Date()
  await eventually(
    async () => {
      await mine?.()
      return chain.clock()
    },
    ({ head }) => head >= now,
  )
}

describe.each(['evm', 'solana'] as const)('payments from managed wallets on %s', (family) => {
  let evm: EvmFixture
  let solana: SolanaFixture
  let mining: NodeJS.Timeout
  let opened: OpenedContext
  let watchers: Watchers

  const networks = () => [family === 'evm' ? evm.network : solana.network]
  const chainOf = (context: Context) => context.chains.get(networks()[0]?.network ?? '') as Chain
  const held = async (address: string) =>
    family === 'evm'
      ? evm.client.getBalance({ address: address as Hex })
      : BigInt(await solana.connection.getBalance(new PublicKey(address)))

  beforeAll(async () => {
    if (family === 'evm') {
      evm = await startEvm({ slotsInEpoch: 1 })
      await evm.mine()
      mining = setInterval(() => void evm.mine().catch(() => {}), 200)
    } else solana = await startSolana({ slotTimeMs: 50 })
    opened = await openContext(networks())
    watchers = startWatchers(opened.context)
  })
  afterAll(async () => {
    clearInterval(mining)
    await watchers?.stop()
    await opened?.[Symbol.asyncDispose]()
    await solana?.[Symbol.asyncDispose]()
    await evm?.[Symbol.asyncDispose]()
  })

  async function openTill() {
    const { context, actor } = opened
    const { address } = await createWallet(
      { ...context, now: new Date() },
      { accountId: actor.accountId, family, name: 'till' },
    )
    if (family === 'evm')
      await evm.client.setBalance({ address: address as Hex, value: 10n ** 18n })
    else await solana.setAccount(address, { lamports: 10n ** 9n })
    await eventually(
      () => held(address),
      (balance) => balance > 0n,
    )
    await eventually(
      () => reconcile(context, chainOf(context), address),
      (verdict) => verdict === 'equal',
    )
    const payee = family === 'evm' ? (await evm.wallet(0n)).address : newAddress()
    const pay = (key: string, through: Context = context) =>
      sendPayment(through, actor, {
        body: { walletAddress: address, recipientAddress: payee, amount: '0.01' },
        idempotency: { key: `${address} ${key}`, fingerprint: key },
        waitMs: 0,
      })
    const finalized = async (paymentId: string) =>
      eventually(
        () => readPaymentBody(context, paymentId),
        ({ status }) => status === 'finalized',
      )
    return {
      address,
      payee,
      pay,
      finalized,
      paid: async () => (await held(payee)) / AMOUNTS[family],
    }
  }

  test('a key that was paid after the backup pays nothing again, though no operator says that it was restored', async () => {
    const till = await openTill()
    await till.finalized((await untilDecided(() => till.pay('before'))).paymentId)
    await backUp(inDatabase(opened.context))
    await till.finalized((await untilDecided(() => till.pay('after'))).paymentId)
    expect(await till.paid()).toBe(2n)
    await putBack(inDatabase(opened.context))

    await using restarted = await openContext(networks(), { beside: opened.context })
    // What the backup has is answered as before.
    expect(await till.pay('before', restarted.context)).toMatchObject({ status: 'finalized' })
    await expect(till.pay('after', restarted.context)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    })
    expect(await till.paid()).toBe(2n)
  })

  test('after the command nothing is sent until the chain was asked, and a lost payment is an operator’s decision', async () => {
    const [till, other] = [await openTill(), await openTill()]
    await backUp(inDatabase(opened.context))
    await till.finalized((await untilDecided(() => till.pay('lost'))).paymentId)
    await watchers.stop()
    await putBack(inDatabase(opened.context))
    await run(opened.context, 'restore')

    await using restarted = await openContext(networks(), { beside: opened.context })
    const { context } = restarted
    for (const { pay } of [till, other])
      await expect(pay('next', context)).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        facts: { retryAfter: expect.any(Number) },
      })

    const ledgerOf = (sender: string) =>
      readWalletLedger(context.db, { network: chainOf(context).network.network, sender })
    await untilNewer(chainOf(context))
    await eventually(
      async () => {
        await affirmAll(context, chainOf(context))
        return [await ledgerOf(till.address), await ledgerOf(other.address)]
      },
      ([stopped, affirmed]) => stopped?.stoppedAt instanceof Date && affirmed?.affirmedEpoch === 1,
    )
    expect(await untilDecided(() => other.pay('next', context))).toMatchObject({
      sender: other.address,
    })
    await expect(till.pay('next', context)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })

    const { unaccounted } = (await ledgerOf(till.address)) ?? {}
    const listed = JSON.parse(unaccounted ?? '[]') as string[]
    expect(listed).toHaveLength(1)
    const accept = listed.join(',')
    await expect(run(context, 'wallet resume', { wallet: till.address })).rejects.toThrow(
      '--accept',
    )
    await run(context, 'wallet resume', { wallet: till.address, accept })
    expect(await ledgerOf(till.address)).toMatchObject({ accepted: unaccounted, affirmedEpoch: 1 })
    await eventually(
      () => reconcile(context, chainOf(context), till.address),
      (verdict) => verdict === 'equal',
    )
    expect(await till.paid()).toBe(1n)
    expect(await untilDecided(() => till.pay('next', context))).toMatchObject({
      sender: till.address,
    })
  })
})

describe('a payment that was under way at the backup', () => {
  let evm: EvmFixture
  let opened: OpenedContext
  let later = 0
  const now = () => new Date(Date.now() + later)

  beforeEach(async () => {
    evm = await startEvm({ slotsInEpoch: 1 })
    await evm.mine(3)
    opened = await openContext([evm.network], { now })
  })
  afterEach(async () => {
    await opened?.[Symbol.asyncDispose]()
    await evm?.[Symbol.asyncDispose]()
  })

  const chainOf = (context: Context) => context.chains.get(evm.network.network) as Chain

  async function follow(context: Context) {
    const chain = chainOf(context)
    const tip = Number(await evm.client.getBlockNumber())
    await eventually(
      () => chain.head(),
      ({ height }) => height >= tip,
    )
    expect((await pollOnce(context, chain, { expiredToo: true })).failures).toEqual([])
  }

  /** Its wallet, whose ledger is open; the first transaction waits, since it offers too little. */
  async function sendAndBackUp() {
    const { context, actor } = opened
    const { id, address } = await createWallet(
      { ...context, now: new Date() },
      { accountId: actor.accountId, family: 'evm', name: 'till' },
    )
    await evm.client.setBalance({ address: address as Hex, value: 10n ** 18n })
    await evm.mine(3)
    const chain = context.chains.get(evm.network.network) as Chain
    expect(await reconcile(context, chain, address)).toBe('equal')
    const payee = (await evm.wallet(0n)).address
    const { paymentId, signature } = await sendPayment(context, actor, {
      body: { walletAddress: address, recipientAddress: payee, amount: '0.01' },
      idempotency: undefined,
      waitMs: 0,
    })
    await evm.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 20n * 10n ** 9n })
    await evm.mine()
    await follow(context)
    await backUp(inDatabase(context))
    return { id, address, payee, paymentId, first: signature as Hex }
  }

  async function restore() {
    await putBack(inDatabase(opened.context))
    await run(opened.context, 'restore')
    await using made = new AsyncDisposableStack()
    const restarted = made.use(await openContext([evm.network], { beside: opened.context, now }))
    await untilNewer(chainOf(restarted.context), evm.mine)
    made.move()
    return restarted
  }

  const offersOf = async ({ db }: Context, paymentId: string) =>
    (await readAttempts(db, paymentId)).map(({ nonce }) => nonce)

  test.each([
    ['just now', 3],
    ['longer ago than payments are signed again', 600_000 / 400 + 10],
  ])(
    'and landed by a higher offer that the backup does not have, %s, is neither signed again nor called failed',
    async (_, blocks) => {
      const { payee, paymentId } = await sendAndBackUp()
      later += 31_000
      await follow(opened.context)
      const [raised] = await readAttempts(opened.context.db, paymentId)
      expect(raised?.number).toBe(2)
      await evm.mine(blocks)
      expect(await evm.client.getBalance({ address: payee })).toBe(10n ** 16n)

      await using restarted = await restore()
      const { context } = restarted
      await affirmAll(context, context.chains.get(evm.network.network) as Chain)
      for (let round = 0; round < 8; round++) await follow(context)
      expect(await readPaymentBody(context, paymentId)).toMatchObject({
        status: 'finalized',
        signature: raised?.signature,
      })
      expect(await offersOf(context, paymentId)).toEqual([0])
      await evm.mine(3)
      expect(await evm.client.getBalance({ address: payee })).toBe(10n ** 16n)
    },
  )

  test.each([
    ['signed again', 3, [1, 0], 'pending'],
    ['called failed', 600_000 / 400 + 10, [0], 'failed'],
  ])(
    'and can never land is %s only once its wallet was compared with the chain',
    async (_, blocks, offers, status) => {
      const { id, address, first, paymentId } = await sendAndBackUp()
      const { context: before, actor } = opened
      const row = await findWallet(before.db, { accountId: actor.accountId, address })
      if (row?.id !== id) throw new Error('no wallet')
      const secret = await testSigner(before).secretOf(row)
      const account = privateKeyToAccount(`0x${Buffer.from(secret).toString('hex')}`)
      await evm.client.dropTransaction({ hash: first })
      const own = {
        type: 'eip1559',
        chainId: 31_337,
        nonce: 0,
        gas: 21_000n,
        maxFeePerGas: 10n ** 11n,
        to: address as Hex,
        value: 1n,
      } as const
      await evm.client.sendRawTransaction({
        serializedTransaction: await account.signTransaction(own),
      })
      await evm.mine(blocks)

      await using restarted = await restore()
      const { context } = restarted
      await follow(context)
      expect(await readPaymentBody(context, paymentId)).toMatchObject({ status: 'pending' })
      expect(await offersOf(context, paymentId)).toEqual([0])
      await affirmAll(context, context.chains.get(evm.network.network) as Chain)
      await follow(context)
      expect(await offersOf(context, paymentId)).toEqual(offers)
      expect(await readPaymentBody(context, paymentId)).toMatchObject({ status })
    },
  )

  test('and took the nonce of one that was lost is not signed again while others are lost: its wallet is stopped', async () => {
    const { context: before, actor } = opened
    const { address } = await createWallet(
      { ...before, now: new Date() },
      { accountId: actor.accountId, family: 'evm', name: 'till' },
    )
    await evm.client.setBalance({ address: address as Hex, value: 10n ** 18n })
    await evm.mine(3)
    expect(await reconcile(before, chainOf(before), address)).toBe('equal')
    await backUp(inDatabase(before))
    const payees = [(await evm.wallet(0n)).address, (await evm.wallet(0n)).address] as const
    const pay = (context: Context, recipientAddress: string) =>
      sendPayment(context, actor, {
        body: { walletAddress: address, recipientAddress, amount: '0.01' },
        idempotency: undefined,
        waitMs: 0,
      })
    const lost = []
    for (const payee of payees) {
      const { paymentId } = await pay(before, payee)
      lost.push(...(await readAttempts(before.db, paymentId)))
    }
    // The pool of this node does not have them, and others have.
    for (const { signature } of lost) await evm.client.dropTransaction({ hash: signature as Hex })

    await using restarted = await restore()
    const { context } = restarted
    await affirmAll(context, chainOf(context))
    const { paymentId, signature } = await pay(context, payees[1])
    expect(await offersOf(context, paymentId)).toEqual([0])
    await evm.client.dropTransaction({ hash: signature as Hex })
    for (const { signedTransaction } of lost)
      await evm.client.sendRawTransaction({
        serializedTransaction: `0x${Buffer.from(signedTransaction, 'base64').toString('hex')}`,
      })
    await evm.mine(5)
    for (let round = 0; round < 3; round++) await follow(context)
    expect(await offersOf(context, paymentId)).toEqual([0])
    expect(await readPaymentBody(context, paymentId)).toMatchObject({ status: 'pending' })
    expect(
      await readWalletLedger(context.db, { network: evm.network.network, sender: address }),
    ).toMatchObject({ stoppedAt: expect.any(Date) })
    await evm.mine(5)
    expect(await evm.client.getBalance({ address: payees[1] })).toBe(10n ** 16n)
  })
})

describe('an RPC endpoint that is stuck since before the restore', () => {
  let evm: EvmFixture
  let gate: Awaited<ReturnType<typeof startGate>>
  let opened: OpenedContext

  beforeEach(async () => {
    evm = await startEvm({ slotsInEpoch: 1 })
    await evm.mine(3)
    gate = await startGate(evm.rpcUrl)
  })
  afterEach(async () => {
    await opened?.[Symbol.asyncDispose]()
    await gate?.[Symbol.asyncDispose]()
    await evm?.[Symbol.asyncDispose]()
  })

  const chainOf = (context: Context) => context.chains.get(evm.network.network) as Chain

  /** Waits for a new block: the newest one is not older than now. */
  async function untilNow() {
    const now = Date.now()
    await eventually(
      async () => {
        await evm.mine()
        return evm.client.getBlock()
      },
      ({ timestamp }) => Number(timestamp) * 1000 >= now,
    )
  }

  /** Two payments of a new wallet that the backup does not have, and a restore; the gate shows the chain of before. */
  async function loseTwo(networks: Parameters<typeof openContext>[0]) {
    opened = await openContext(networks)
    const { context, actor } = opened
    const { address } = await createWallet(
      { ...context, now: new Date() },
      { accountId: actor.accountId, family: 'evm', name: 'till' },
    )
    await evm.client.setBalance({ address: address as Hex, value: 10n ** 18n })
    await evm.mine(3)
    await eventually(
      () => reconcile(context, chainOf(context), address),
      (verdict) => verdict === 'equal',
    )
    await backUp(inDatabase(context))
    const told = await rememberTip(address as Hex)
    const pay = (through: Context) =>
      untilDecided(async () =>
        sendPayment(through, actor, {
          body: {
            walletAddress: address,
            recipientAddress: (await evm.wallet(0n)).address,
            amount: '0.01',
          },
          idempotency: undefined,
          waitMs: 0,
        }),
      )
    await pay(context)
    await pay(context)
    await evm.mine(3)
    await untilNow()
    await putBack(inDatabase(context))
    await run(context, 'restore')
    gate.lie = told
    const restarted = await openContext(networks, { beside: context })
    const found = async () => ({
      ledger: await readWalletLedger(context.db, {
        network: evm.network.network,
        sender: address,
      }),
      network: await findAffirmation(context.db, evm.network.network),
    })
    return { restarted, address, found, pay }
  }

  /** What the node says now of its newest blocks and of a wallet: a stuck node always says it. */
  async function rememberTip(address: Hex) {
    const ask = async (method: string, params: readonly unknown[]) => {
      const answer = await fetch(evm.rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      return ((await answer.json()) as { result: unknown }).result
    }
    const known = {
      eth_blockNumber: await ask('eth_blockNumber', []),
      eth_getTransactionCount: await ask('eth_getTransactionCount', [address, 'latest']),
      latest: await ask('eth_getBlockByNumber', ['latest', false]),
      finalized: await ask('eth_getBlockByNumber', ['finalized', false]),
    }
    return (asked: string, answer: string) => {
      const { id, method, params } = JSON.parse(asked) as {
        id: number
        method: string
        params: string[]
      }
      const name = method === 'eth_getBlockByNumber' ? params[0] : method
      return name !== undefined && Object.hasOwn(known, name)
        ? JSON.stringify({ jsonrpc: '2.0', id, result: known[name as keyof typeof known] })
        : answer
    }
  }

  test('affirms neither its network nor a wallet', async () => {
    const { restarted, address, found, pay } = await loseTwo([
      { ...evm.network, rpcUrls: [gate.url] },
    ])
    await using _ = restarted
    const { context } = restarted
    await expect(affirmAll(context, chainOf(context))).rejects.toMatchObject({
      code: 'CHAIN_UNAVAILABLE',
    })
    expect(await found()).toMatchObject({ ledger: { affirmedEpoch: 0 }, network: undefined })
    await expect(pay(context)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    // It knows the chain again, but tells nothing of the wallet until it is stuck again.
    const stuck = gate.lie
    Object.assign(gate, { lie: undefined, refuse: address })
    await untilNow()
    await affirmAll(context, chainOf(context))
    expect(await found()).toMatchObject({ network: { affirmedHeight: expect.any(Number) } })
    Object.assign(gate, { lie: stuck, refuse: undefined })
    await affirmAll(context, chainOf(context))
    expect(await found()).toMatchObject({ ledger: { affirmedEpoch: 0, stoppedAt: null } })
    gate.lie = undefined
    await affirmAll(context, chainOf(context))
    expect(await found()).toMatchObject({ ledger: { unaccounted: '["0","1"]' } })
  })

  test('is passed over for one that knows the chain', async () => {
    const rpcUrls = [gate.url, evm.rpcUrl]
    const { restarted, found } = await loseTwo([{ ...evm.network, rpcUrls }])
    await using _ = restarted
    const { context } = restarted
    await evm.mine(2)
    const tip = Number(await evm.client.getBlockNumber())
    await untilNow()
    await affirmAll(context, chainOf(context))
    const { ledger, network } = await found()
    expect(ledger).toMatchObject({ unaccounted: '["0","1"]' })
    expect(network?.affirmedHeight).toBeGreaterThanOrEqual(tip)
  })
})

test('on Solana an endpoint that is stuck since before the restore begins no affirmation, and tells of no wallet', async () => {
  await using solana = await startSolana({ slotTimeMs: 50 })
  await using gate = await startGate(solana.network.rpcUrls[0] ?? '')
  await using opened = await openContext([{ ...solana.network, rpcUrls: [gate.url] }])
  const { context } = opened
  const chain = context.chains.get(solana.network.network) as Chain
  let clock: string | undefined
  // What it told first of the clock of the cluster it tells from then on.
  gate.lie = (asked, answer) => {
    if (!asked.includes('"getAccountInfo"')) return answer
    clock ??= answer
    return clock.replace(/"id":\s*[^,}]+/, /"id":\s*[^,}]+/.exec(asked)?.[0] ?? '')
  }
  const { head } = await chain.clock()
  await eventually(
    () => Promise.resolve(Date.now()),
    (now) => now > head.getTime() + 1_000,
  )
  await run(context, 'restore')
  await using restarted = await openContext([{ ...solana.network, rpcUrls: [gate.url] }], {
    beside: context,
  })
  const again = restarted.context.chains.get(solana.network.network) as Chain
  const begun = () => findAffirmation(restarted.context.db, solana.network.network)
  await expect(affirmAll(restarted.context, again)).rejects.toMatchObject({
    code: 'CHAIN_UNAVAILABLE',
  })
  expect(await begun()).toBeUndefined()
  gate.lie = undefined
  await untilNewer(again)
  await affirmAll(restarted.context, again)
  expect(await begun()).toMatchObject({ epoch: 1, affirmedHeight: null })
  const { height } = await again.head()
  const history = (knownTo: number) =>
    again.history(newAddress(), { since: null, knownTo, isKnown: async () => new Set() })
  expect(await history(height)).toMatchObject({ unknown: [] })
  await expect(history(height + 10_000)).rejects.toMatchObject({ code: 'CHAIN_UNAVAILABLE' })
})

describe('payments to a seller', () => {
  let fixture: EtherFixture

  beforeAll(async () => {
    fixture = await openEtherFixture()
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  test('a proof that was granted after the backup is never granted again, and later ones are granted', async () => {
    const { context, actor, evm } = fixture
    const earlier = await fixture.send()
    const earlierProof = await fixture.prove(earlier)
    await fixture.receive(earlier, earlierProof)
    await backUp(inDatabase(context))
    const sent = await fixture.send()
    const proof = await fixture.prove(sent)
    expect(await fixture.receive(sent, proof)).toMatchObject({ alreadyProcessed: false })
    await putBack(inDatabase(context))
    await run(context, 'restore')

    await using restarted = await openContext([evm.network], { beside: context })
    const receive = (to: SentEther, paymentProof: string) =>
      receivePayment(restarted.context, actor, {
        walletAddress: to.payTo,
        paymentProof,
        expectedAmount: '0.01',
        resource: ETHER_RESOURCE,
        timeout: 5,
      })
    await expect(receive(sent, proof)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    const chain = restarted.context.chains.get(evm.network.network) as Chain
    await untilNewer(chain, evm.mine)
    await affirmAll(restarted.context, chain)
    for (const attempt of [1, 2])
      await expect(receive(sent, proof), `attempt ${attempt}`).rejects.toMatchObject({
        code: 'PAYMENT_VERIFICATION_FAILED',
        message: expect.stringContaining('restored from a backup'),
      })
    // The backup has this grant.
    expect(await receive(earlier, earlierProof)).toMatchObject({ alreadyProcessed: true })
    const next = await fixture.send()
    expect(await receive(next, await fixture.prove(next))).toMatchObject({
      verified: true,
      alreadyProcessed: false,
    })
  })
})

function newAddress(): string {
  return Keypair.generate().publicKey.toBase58()
}
