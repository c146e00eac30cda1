import { VersionedTransaction } from '@solana/web3.js'
import { parseTransaction } from 'viem'
import { describe, expect, test } from 'vitest'
import { buildTransaction } from '../payments/build.ts'
import { chainIdOf } from '#contract/network.ts'
import { findPayment } from '../db/payments.ts'
import { payment } from '../db/schema/payment.ts'
import { createReadiness } from '../health.ts'
import { createChains } from '../service.ts'
import { signBuilt, startEvm, startGate, startSolana } from '#testing/local-chains.ts'
import { openContext } from '#testing/service-context.ts'
import { ENGINES, executeAsOwner } from '#testing/postgres.ts'
import { pollOnce } from './poll.ts'

const SOL = 1_000_000_000n

/** What a service costs its RPC endpoints while nobody pays, and while payments wait to be final. */

/** Blocks seem short, so that nothing that a chain told is used twice by itself. */
async function openIdle(engine: (typeof ENGINES)[number]) {
  await using stack = new AsyncDisposableStack()
  const evm = stack.use(await startEvm({ slotsInEpoch: 2 }))
  await evm.mine()
  const gate = stack.use(await startGate(evm.rpcUrl))
  const opened = stack.use(
    await openContext([{ ...evm.network, blockTimeMs: 1, rpcUrls: [gate.url] }], { engine }),
  )
  const [chain] = opened.context.chains.values()
  if (!chain) throw new Error('no chain')
  const running = stack.move()
  return { ...opened, evm, gate, chain, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

describe.each(ENGINES)('on %s', (engine) => {
  test('a network with nothing to monitor is asked nothing', async () => {
    await using fixture = await openIdle(engine)
    const { context, chain, gate, evm, actor } = fixture
    let idle = true
    for (let round = 0; round < 3; round++)
      ({ idle } = await pollOnce(context, chain, { expiredToo: true, idle }))
    expect({ idle, requests: gate.requests }).toEqual({ idle: true, requests: 0 })

    // A payment ends the rest: its round asks, and the next one too.
    const payer = await evm.wallet(10n ** 18n)
    const payee = await evm.wallet(0n)
    const body = { walletAddress: payer.address, recipientAddress: payee.address, amount: '0.01' }
    await buildTransaction(context, actor, body)
    const before = gate.requests
    ;({ idle } = await pollOnce(context, chain, { expiredToo: false, idle }))
    expect(idle).toBe(false)
    expect(gate.requests).toBeGreaterThan(before)

    await context.db.update(payment).set({ status: 'finalized' })
    ;({ idle } = await pollOnce(context, chain, { expiredToo: false, idle }))
    const after = gate.requests
    await pollOnce(context, chain, { expiredToo: true, idle })
    expect({ idle, requests: gate.requests }).toEqual({ idle: true, requests: after })
  })
})

test('payments that wait to be final cost no call of their own, and the next round sees that their blocks are gone', async () => {
  await using fixture = await openIdle('postgres')
  const { context, chain, gate, evm, actor } = fixture
  const poll = () => pollOnce(context, chain, { expiredToo: false })
  const readStatuses = async () =>
    (await context.db.select({ status: payment.status }).from(payment)).map(({ status }) => status)
  // Below the block to be replaced: the payers' balances must stay.
  const payee = await evm.wallet(0n)
  const payers = await Promise.all(Array.from({ length: 10 }, () => evm.wallet(10n ** 18n)))
  await evm.mine(5)
  for (const [index, payer] of payers.entries()) {
    const body = { walletAddress: payer.address, recipientAddress: payee.address, amount: '0.01' }
    const { transaction } = await buildTransaction(context, actor, body)
    const serializedTransaction = await signBuilt(payer, transaction)
    await evm.client.sendRawTransaction({ serializedTransaction })
    if (index === 4) await evm.mine()
  }
  await evm.mine(2)
  await poll()
  const all = (status: string) => payers.map(() => status)
  expect(await readStatuses()).toEqual(all('confirmed'))

  const asked: string[] = []
  gate.lie = (request, reply) => {
    const { method, params = [] } = JSON.parse(request) as { method: string; params?: unknown[] }
    asked.push([method, ...params.slice(0, 1)].join(' '))
    return reply
  }
  expect(await poll()).toMatchObject({ open: 10, failures: [] })
  expect([...new Set(asked)].toSorted()).toEqual([
    'eth_getBlockByNumber finalized',
    'eth_getBlockByNumber latest',
  ])

  await evm.client.request({ method: 'anvil_reorg' as never, params: [3, []] as never })
  expect((await poll()).failures).toEqual([])
  expect(await readStatuses()).toEqual(all('rolled_back'))
})

test.each([
  ['drafts that nobody signs', 'expired'],
  ['orders that are paid', 'finalized'],
])('%s on Solana cost one search of their payee, and rarely one after that', async (...[, end]) => {
  await using solana = await startSolana({ slotTimeMs: 400 })
  await using gate = await startGate(solana.rpcUrl)
  let now = new Date()
  await using opened = await openContext([{ ...solana.network, rpcUrls: [gate.url] }], {
    now: () => now,
  })
  const { context, actor } = opened
  const [chain] = context.chains.values()
  if (!chain) throw new Error('no chain')
  const searches = { count: 0 }
  gate.lie = (request, reply) => {
    if (request.includes('getSignaturesForAddress')) searches.count++
    return reply
  }
  const payee = await solana.wallet(SOL)
  for (let draft = 0; draft < 10; draft++) {
    const payer = await solana.wallet(SOL)
    await buildTransaction(context, actor, {
      walletAddress: payer.publicKey.toBase58(),
      recipientAddress: payee.publicKey.toBase58(),
      amount: '0.1',
    })
  }
  searches.count = 0
  await pollOnce(context, chain, { expiredToo: false })
  expect(searches.count).toBe(1)

  const endedAt = now
  const at = `'${endedAt.toISOString()}'`
  await executeAsOwner(
    { target: context.config.database, db: context.db },
    `update service.payment set status = '${end}', expires_at = ${at}, updated_at = ${at}`,
  )
  searches.count = 0
  let [idle, expiredAt] = [true, new Date(now.getTime() + 1)]
  gate.requests = 0
  for (let seconds = 30; seconds <= 24 * 3_600; seconds += 30) {
    now = new Date(endedAt.getTime() + seconds * 1_000)
    ;({ idle } = await pollOnce(context, chain, { expiredToo: true, idle, expiredAt }))
    expiredAt = now
  }
  // Each round of two minutes, each five minutes of an hour, each hour of a day: for ten of them.
  expect(searches.count).toBeGreaterThanOrEqual(24 + 10)
  expect(searches.count).toBeLessThanOrEqual(24 + 13 + 5)
  expect(gate.requests).toBeLessThanOrEqual(5 * searches.count)
})

/** A draft on EVM that expired a moment ago, and the clock of the service. */
async function openExpired() {
  await using stack = new AsyncDisposableStack()
  const evm = stack.use(await startEvm({ slotsInEpoch: 8 }))
  await evm.mine()
  const gate = stack.use(await startGate(evm.rpcUrl))
  const clock = { now: new Date() }
  const network = { ...evm.network, blockTimeMs: 1, rpcUrls: [gate.url] }
  const opened = stack.use(await openContext([network], { now: () => clock.now }))
  const { context, actor } = opened
  const build = async () => {
    const [payer, payee] = [await evm.wallet(10n ** 18n), await evm.wallet(0n)]
    const body = { walletAddress: payer.address, recipientAddress: payee.address, amount: '0.01' }
    return { payer, ...(await buildTransaction(context, actor, body)) }
  }
  const { payer, paymentId, transaction } = await build()
  const signed = await signBuilt(payer, transaction)
  const endedAt = clock.now
  const asOwner = (statement: string) =>
    executeAsOwner({ target: context.config.database, db: context.db }, statement)
  await asOwner(
    `update service.payment set status = 'expired', expires_at = '${endedAt.toISOString()}'`,
  )
  let [idle, expiredAt, looks] = [true, new Date(endedAt.getTime() + 1), 0]
  const running = stack.move()
  return {
    evm,
    gate,
    payer,
    signed,
    asOwner,
    looks: () => looks,
    build,
    status: async (id = paymentId) => (await findPayment(context.db, id))?.status,
    /** What a watcher does at this time, with this view of the chain. */
    async pollAt(seconds: number, [chain] = [...context.chains.values()]) {
      if (!chain) throw new Error('no chain')
      clock.now = new Date(endedAt.getTime() + seconds * 1_000)
      const before = gate.requests
      const polled = await pollOnce(context, chain, { expiredToo: true, idle, expiredAt })
      expect(polled.failures).toEqual([])
      ;({ idle } = polled)
      expiredAt = clock.now
      if (gate.requests > before) looks++
    },
    /** Another process, which has not seen what the first one saw. */
    otherChain: () => [...createChains([network]).values()],
    /** Another transaction of the payer, with the nonce of the draft. */
    async signOther() {
      const { nonce, gas, maxFeePerGas, maxPriorityFeePerGas } = parseTransaction(signed)
      const { address } = await evm.wallet(0n)
      return payer.signTransaction({
        type: 'eip1559',
        chainId: chainIdOf(network.network),
        nonce: nonce ?? 0,
        gas,
        maxFeePerGas,
        maxPriorityFeePerGas,
        to: address,
        value: 1n,
      })
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

test('a draft on EVM that nobody signs costs three requests each five minutes, however many blocks come', async () => {
  await using fixture = await openExpired()
  const { evm, gate, pollAt, looks } = fixture
  const passUntil = async (from: number, to: number) => {
    for (let seconds = from; seconds <= to; seconds += 30) {
      await evm.mine(6)
      await pollAt(seconds)
    }
  }
  // The first look finds out how many transactions the payer had sent.
  await passUntil(30, 60)
  gate.requests = 0
  const first = looks()
  await passUntil(90, 2 * 3_600)
  // Each round of two minutes, and 24 times in two hours: one of these may be such a round.
  const most = 2 + 24
  expect(looks() - first).toBeGreaterThanOrEqual(24)
  expect(looks() - first).toBeLessThanOrEqual(most)
  expect(gate.requests).toBeLessThanOrEqual(3 * most)
})

test('a draft on EVM that is paid long after it expired is found, also by a process that did not see it expire', async () => {
  for (const isOther of [false, true]) {
    await using fixture = await openExpired()
    const { evm, pollAt, status, signed, otherChain } = fixture
    for (const seconds of [30, 60, 400]) {
      await evm.mine(2)
      await pollAt(seconds)
    }
    await evm.mine(20)
    await evm.client.sendRawTransaction({ serializedTransaction: signed })
    await evm.mine(20)
    await pollAt(20 * 3_600, isOther ? otherChain() : undefined)
    expect(await status()).toMatch(/^(confirmed|finalized)$/)
  }
})

test('where drafts of more payers have expired than there are blocks, one that is paid is found in the next rounds, without a pause', async () => {
  await using fixture = await openExpired()
  const { evm, pollAt, status, signed, asOwner } = fixture
  await pollAt(30)
  await asOwner(
    `insert into service.payment select planted.* from service.payment own, generate_series(1, 600) n,
      jsonb_populate_record(own, jsonb_build_object('id', 'pay_planted' || n, 'sender', 'stranger ' || n)) planted`,
  )
  await evm.mine(450)
  await evm.client.sendRawTransaction({ serializedTransaction: signed })
  await evm.mine(20)
  for (let round = 0; round < 5; round++) await pollAt(400 + round)
  expect(await status()).toMatch(/^(confirmed|finalized)$/)
})

test('a payment that came into a block by a reorganization which is final at the next look is found', async () => {
  await using fixture = await openExpired()
  const { evm, pollAt, status, signed } = fixture
  await evm.mine(10)
  await pollAt(30)
  // These are skipped.
  await evm.mine(6)
  await pollAt(60)
  await evm.client.request({
    method: 'anvil_reorg' as never,
    params: [2, [[signed, 0]]] as never,
  })
  await evm.mine(60)
  for (const seconds of [400, 800]) await pollAt(seconds)
  expect(await status()).toBe('finalized')
})

test('a new order does not wait for the blocks in which only expired ones are looked for', async () => {
  await using fixture = await openExpired()
  const { evm, gate, pollAt, build } = fixture
  await evm.mine(10)
  for (const seconds of [30, 60]) await pollAt(seconds)
  await evm.mine(100)
  const { paymentId, transaction, payer } = await build()
  const serializedTransaction = await signBuilt(payer, transaction)
  await evm.client.sendRawTransaction({ serializedTransaction })
  await evm.mine(2)
  gate.requests = 0
  await pollAt(70)
  expect(await fixture.status(paymentId)).toMatch(/^(confirmed|finalized)$/)
  expect(gate.requests).toBeLessThan(20)
})

test('a node that shows no counts of transactions has every block read', async () => {
  await using fixture = await openExpired()
  const { evm, gate, pollAt, status, signed } = fixture
  gate.refuse = 'eth_getTransactionCount'
  await evm.mine(10)
  await pollAt(30)
  await evm.client.sendRawTransaction({ serializedTransaction: signed })
  await evm.mine(20)
  await pollAt(60)
  expect(await status()).toBe('finalized')
})

test('a payment that replaces another transaction of its payer in a reorganization is found', async () => {
  await using fixture = await openExpired()
  const { evm, pollAt, status, signed, signOther } = fixture
  await evm.mine(10)
  await pollAt(30)
  await evm.client.sendRawTransaction({ serializedTransaction: await signOther() })
  await evm.mine(6)
  await pollAt(60)
  expect(await status()).toBe('expired')
  // As many transactions of the payer are in the chain as before.
  await evm.client.request({
    method: 'anvil_reorg' as never,
    params: [6, [[signed, 0]]] as never,
  })
  await evm.mine(6)
  await pollAt(400)
  expect(await status()).toMatch(/^(confirmed|finalized)$/)
})

test('all expired drafts on Solana are looked for, some at a time, and no round fails or waits for them', async () => {
  await using solana = await startSolana({ slotTimeMs: 20 })
  await using gate = await startGate(solana.rpcUrl)
  await using opened = await openContext([{ ...solana.network, rpcUrls: [gate.url] }])
  const { context, actor } = opened
  const [chain] = context.chains.values()
  if (!chain) throw new Error('no chain')
  const [payer, payee] = [await solana.wallet(SOL), await solana.wallet(SOL)]
  const { paymentId, transaction } = await buildTransaction(context, actor, {
    walletAddress: payer.publicKey.toBase58(),
    recipientAddress: payee.publicKey.toBase58(),
    amount: '0.1',
    senderVerified: false,
  })
  const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
  signed.sign([payer])
  await solana.connection.sendRawTransaction(signed.serialize())
  const asOwner = (statement: string) =>
    executeAsOwner({ target: context.config.database, db: context.db }, statement)
  await asOwner(
    `update service.payment set status = 'expired', expires_at = now() - interval '20 hours'`,
  )
  await asOwner(
    `insert into service.payment select planted.* from service.payment own, generate_series(1, 4500) n,
      jsonb_populate_record(own, jsonb_build_object('id', 'pay_planted' || n, 'expires_at', now() - interval '3 hours')) planted`,
  )
  let failing = true
  gate.lie = (request, reply) =>
    failing && request.includes('getSignaturesForAddress') ? '{}' : reply
  const looks = new Map<string, (signal: AbortSignal) => Promise<unknown[]>>()
  const poll = () =>
    pollOnce(context, chain, {
      expiredToo: true,
      beside: (group, look) => void looks.set(group, look),
    })
  const { signal } = new AbortController()
  expect((await poll()).failures).toEqual([])
  expect(await looks.get('older')?.(signal)).not.toEqual([])
  failing = false
  await expect
    .poll(async () => {
      await poll()
      expect(await looks.get('older')?.(signal)).toEqual([])
      return (await findPayment(context.db, paymentId))?.status
    })
    .toMatch(/^(confirmed|finalized)$/)
})

test('readiness asks a chain that answered at most once in 30 seconds', async () => {
  await using fixture = await openIdle('pglite')
  const { context, gate, evm } = fixture
  // Blocks of the local chain have the time of its clock.
  await evm.mine()
  let now = 0
  const readiness = createReadiness(context, () => now)
  const ask = async () => {
    const { checks } = await readiness()
    return checks.find(({ name }) => name === evm.network.network)
  }
  expect(await ask()).toEqual({ name: evm.network.network, ok: true })
  const first = gate.requests
  expect(first).toBeLessThanOrEqual(3)
  for (now = 1_500; now < 30_000; now += 1_500) await ask()
  expect(gate.requests).toBe(first)
  now = 30_001
  gate.open = false
  expect(await ask()).toEqual({ name: evm.network.network, ok: false })
  // What is wrong is looked at again with the next probe.
  gate.open = true
  now = 31_502
  expect(await ask()).toEqual({ name: evm.network.network, ok: true })
})
