import { and, eq } from 'drizzle-orm'
import { concat, encodeFunctionData, erc20Abi, parseAbi, size, toHex, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callOf, type VerifiedAuthorization } from '#chains/evm/authorization.ts'
import { AUTHORIZATION_TYPES, PERMIT2, PERMIT_TYPES } from '#chains/evm/signed-types.ts'
import { formatAmount } from '#contract/amount.ts'
import { parseJson } from '#contract/json.ts'
import { multicall3 } from '#devnet/tokens/evm.ts'
import { readAttempts } from '#service/db/attempts.ts'
import { findPayment } from '#service/db/payments.ts'
import { insertUnmatched } from '#service/db/unmatched.ts'
import { pollOnce } from '#service/monitor/poll.ts'
import { payment } from '#service/db/schema/payment.ts'
import { claim } from '#service/db/schema/proof.ts'
import { buildTransaction } from '#service/payments/build.ts'
import { assignUnmatched, unassignUnmatched } from '#service/payments/unmatched-assign.ts'
import { readPaymentBody } from '#service/payments/status.ts'
import { readUnmatched } from '#service/payments/unmatched.ts'
import { settlePayment } from '#service/settlement/facilitator.ts'
import { monitorSettlement } from '#service/settlement/monitor-settlement.ts'
import { buildSettlement } from '#service/settlement/self/build.ts'
import { eventually } from '#testing/service-context.ts'
import {
  openMinedTokenFixture,
  type MinedTokenFixture,
  type Parties,
} from '#testing/token-fixture.ts'
import { approvePermit2, payInvoice, queueFrom, sendFrom } from '#testing/token-payers.ts'
import { EXACT_PERMIT2_PROXY } from '#x402/authorization.ts'

/** What a payer of tokens signed, executed by a third party: before it is presented, or together with something else. */

let fixture: MinedTokenFixture

beforeAll(async () => {
  fixture = await openMinedTokenFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

const multicallAbi = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'function aggregate3(Call[] calls)',
])

/** The same nonce once more, for another payee, and of another amount where one is named. */
async function redirected(
  { payer, asset }: Parties,
  authorization: VerifiedAuthorization,
  { to, value = authorization.amountAtomic }: { to: Hex; value?: bigint },
): Promise<VerifiedAuthorization> {
  const { from, validAfter, validBefore, nonce } = authorization
  const signature = await payer.signTypedData({
    domain: {
      name: 'USD Coin',
      version: '2',
      chainId: 31_337,
      verifyingContract: asset.address as Hex,
    },
    types: AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: { from, to, value, validAfter, validBefore, nonce },
  })
  return { ...authorization, to, amountAtomic: value, signature }
}

type Part = VerifiedAuthorization & { target?: Hex; allowFailure?: boolean }

/**
 * Executes them in one transaction, before what waits in the pool. `target`: the address called with
 * it, where it is not its own.
 */
async function executeTogether(parts: readonly Part[], appended: Hex = '0x'): Promise<Hex> {
  const calls = parts.map((each) => {
    const { to, data: callData } = callOf(each)
    return { target: each.target ?? to, allowFailure: each.allowFailure ?? false, callData }
  })
  const data = encodeFunctionData({ abi: multicallAbi, functionName: 'aggregate3', args: [calls] })
  return queueFirst({ to: multicall3.address, data: concat([data, appended]) })
}

/** A transaction of a stranger that stands before what waits in the pool. */
async function queueFirst(call: { to: Hex; data: Hex; tip?: bigint }): Promise<Hex> {
  const stranger = await fixture.evm.wallet(10n ** 18n)
  return queueFrom(fixture.evm, stranger, { tip: 9n * 10n ** 9n, gas: 1_000_000n, ...call })
}

/** Executes one, as anybody may who sees it, and waits for its block. */
async function execute(authorization: VerifiedAuthorization): Promise<Hex> {
  const hash = await sendFrom(
    fixture.evm,
    await fixture.evm.wallet(10n ** 18n),
    callOf(authorization),
  )
  await fixture.evm.client.waitForTransactionReceipt({ hash })
  return hash
}

/** What the ledger lists as unmatched of a payer. */
async function listed({ payer }: Parties) {
  const { transfers } = await readUnmatched(fixture.context, fixture.actor, {
    limit: 100,
    offset: 0,
  })
  return transfers.filter(({ sender }) => sender === payer.address)
}

/** Waits until the service has broadcast this many transactions that wait for a block. */
async function untilPooled(count: number): Promise<void> {
  await eventually(
    async () => {
      const { pending } = await fixture.evm.client.getTxpoolContent()
      const own = Object.entries(pending).find(
        ([sender]) => sender.toLowerCase() === fixture.facilitator.address.toLowerCase(),
      )
      return Object.keys(own?.[1] ?? {}).length
    },
    (found) => found >= count,
  )
}

test('one transfer pays for one of two authorizations whose nonces were used in one transaction', async () => {
  using _ = fixture.withoutMining()
  const all = await fixture.parties()
  const headers = [
    await payInvoice(all.client, all.requirements),
    await payInvoice(all.client, all.requirements),
  ]
  const [first, second] = await Promise.all(
    headers.map((header) => fixture.authorizationOf(all, header)),
  )
  if (!first || !second) throw new Error('no authorization')
  const elsewhere = await fixture.evm.wallet(0n)
  const waiting = headers.map((header) => fixture.receive(all, header, { timeout: 20 }))
  const told = Promise.allSettled(waiting)
  await untilPooled(2)
  await executeTogether([await redirected(all, first, { to: elsewhere.address }), second])
  await fixture.evm.mine(12)
  const answers = await told
  expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
  expect(answers.map((answer) => answer.status === 'fulfilled' && answer.value.verified)).toEqual([
    false,
    true,
  ])
})

test('two authorizations that a third party executes in one transaction both pay', async () => {
  using _ = fixture.withoutMining()
  const all = await fixture.parties()
  const headers = [
    await payInvoice(all.client, all.requirements),
    await payInvoice(all.client, all.requirements),
  ]
  const told = Promise.all(headers.map((header) => fixture.receive(all, header, { timeout: 20 })))
  await untilPooled(2)
  await executeTogether(
    await Promise.all(headers.map((header) => fixture.authorizationOf(all, header))),
  )
  await fixture.evm.mine(12)
  expect((await told).map(({ verified }) => verified)).toEqual([true, true])
  expect(await fixture.balance(all.asset, all.payee.address)).toBe(2n * all.amount)
})

test.each(['eip3009', 'permit2'] as const)(
  '%s: what a third party executes before it is presented is refused, and listed once as unmatched for the payee',
  async (method) => {
    const all = await fixture.parties({ method })
    const header = await payInvoice(all.client, all.requirements)
    const authorization = await fixture.authorizationOf(all, header)
    const hash = await execute(authorization)
    for (let times = 0; times < 2; times++)
      await expect(fixture.receive(all, header)).rejects.toMatchObject({ reason: 'already_used' })
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
    expect(await listed(all)).toMatchObject([
      { signature: hash, recipient: all.payee.address, amountAtomic: all.amount.toString() },
    ])
  },
)

describe.each(['eip3009', 'permit2'] as const)(
  '%s: of two that a third party executes in one transaction before they are presented',
  (method) => {
    /** Executed together for equal amounts, then presented twice each. `before`: what happens before they are executed. */
    async function executed<T>(before: (all: Parties) => Promise<T>) {
      const all = await fixture.parties({ method })
      await fixture.evm.client.setBalance({ address: all.payee.address, value: 10n ** 18n })
      const made = await before(all)
      await fixture.evm.mine()
      const headers = [
        await payInvoice(all.client, all.requirements),
        await payInvoice(all.client, all.requirements),
      ]
      const hash = await executeTogether(
        await Promise.all(headers.map((header) => fixture.authorizationOf(all, header))),
      )
      await fixture.evm.mine()
      for (const header of [...headers, ...headers])
        await expect(fixture.receive(all, header)).rejects.toMatchObject({ reason: 'already_used' })
      return { all, hash, made }
    }

    const build = (
      { asset, amount }: Parties,
      { from, to, reference }: { from: string; to: string; reference?: Hex },
    ) =>
      buildTransaction(fixture.context, fixture.actor, {
        walletAddress: from,
        recipientAddress: to,
        amount: formatAmount(amount, asset.decimals),
        asset: asset.symbol,
        ...(reference && { metadata: { referenceId: reference }, senderVerified: true }),
      })

    test('each is listed once, and refunded once', async () => {
      using _ = fixture.withoutMining()
      const { all, hash } = await executed(async () => {})
      const amountAtomic = all.amount.toString()
      const one = { signature: hash, recipient: all.payee.address, amountAtomic, refundedBy: null }
      expect(await listed(all)).toMatchObject([one, one])
      expect(await fixture.balance(all.asset, all.payee.address)).toBe(2n * all.amount)

      const refund = () =>
        build(all, { from: all.payee.address, to: all.payer.address, reference: hash })
      const ids: string[] = []
      for (let times = 1; times <= 2; times++) {
        ids.push((await refund()).paymentId)
        const refunded = (await listed(all)).flatMap(({ refundedBy }) => refundedBy ?? [])
        expect(refunded.map(({ paymentId }) => paymentId).toSorted()).toEqual(ids.toSorted())
      }
      await expect(refund()).rejects.toMatchObject({
        code: 'INVALID_PARAMETERS',
        facts: { details: { reason: { code: 'transfer_refunded' } } },
      })
    })

    test('each is assigned to its own order', async () => {
      using _ = fixture.withoutMining()
      const { all, made } = await executed(async (parties) => {
        const between = { from: parties.payer.address, to: parties.payee.address }
        return [await build(parties, between), await build(parties, between)]
      })
      const { context, actor } = fixture
      const money = await listed(all)
      for (const [index, { transferId }] of money.entries())
        await assignUnmatched(
          context,
          { actor, transferId },
          { paymentId: made[index]?.paymentId ?? '' },
        )
      const assigned = (await listed(all)).map((row) => row.assigned?.paymentId ?? '')
      expect(assigned.toSorted()).toEqual(made.map(({ paymentId }) => paymentId).toSorted())
      for (const { transferId } of money)
        await unassignUnmatched(context, { actor, transferId }, {})
      expect(await listed(all)).toMatchObject([{ assigned: null }, { assigned: null }])
    })
  },
)

test('an authorization that was presented is paid by the transaction that executes it beside one that was not, and the other one is listed', async () => {
  using _ = fixture.withoutMining()
  const all = await fixture.parties({ validSeconds: 600 })
  const first = await present(all)
  const header = await payInvoice(all.client, all.requirements)
  const hash = await executeTogether([first.signed, await fixture.authorizationOf(all, header)])
  await fixture.evm.mine()
  await expect(fixture.receive(all, header)).rejects.toMatchObject({ reason: 'already_used' })
  expect(await final(first.id)).toEqual(['finalized'])
  expect(await listed(all)).toMatchObject([{ signature: hash }])
  expect(await fixture.balance(all.asset, all.payee.address)).toBe(2n * all.amount)
})

/** Replaces the last blocks with empty ones. */
async function reorganize(depth: number): Promise<void> {
  const body = { jsonrpc: '2.0', id: 1, method: 'anvil_reorg', params: [depth, []] }
  const headers = { 'content-type': 'application/json' }
  await fetch(fixture.evm.rpcUrl, { method: 'POST', headers, body: JSON.stringify(body) })
}

async function follow(): Promise<void> {
  const tip = Number(await fixture.evm.client.getBlockNumber())
  await eventually(
    () => fixture.chain.head(),
    ({ height }) => height >= tip,
  )
  const { failures } = await pollOnce(fixture.context, fixture.chain, { expiredToo: false })
  expect(failures).toEqual([])
}

describe('what a third party executed, and a reorganization dropped', () => {
  /** Executed in the newest block and listed; then that block is replaced. */
  async function dropped() {
    const all = await fixture.parties()
    const stranger = await fixture.evm.wallet(10n ** 18n)
    // Below the blocks to be replaced: the balances must stay.
    await fixture.evm.mine(5)
    const header = await payInvoice(all.client, all.requirements)
    const hash = await queueFrom(
      fixture.evm,
      stranger,
      callOf(await fixture.authorizationOf(all, header)),
    )
    const raw = await fixture.evm.client.request({
      method: 'eth_getRawTransactionByHash' as never,
      params: [hash] as never,
    })
    await fixture.evm.mine()
    await expect(fixture.receive(all, header)).rejects.toMatchObject({ reason: 'already_used' })
    expect(await listed(all)).toMatchObject([{ signature: hash }])
    await reorganize(1)
    const seen = () => fixture.chain.observe(hash).then(({ state }) => state)
    // The newest block that the service knows may be some hundred milliseconds old.
    await eventually(seen, (state) => state !== 'landed')
    return { all, hash, raw: raw as Hex, seen }
  }

  test('stays listed while it may land again, and after it has', async () => {
    using _ = fixture.withoutMining()
    const { all, hash, raw, seen } = await dropped()
    if ((await seen()) !== 'pending')
      await fixture.evm.client.sendRawTransaction({ serializedTransaction: raw })
    expect(await seen()).toBe('pending')
    await follow()
    expect(await listed(all)).toMatchObject([{ signature: hash }])
    await fixture.evm.client.increaseTime({ seconds: 5 })
    await fixture.evm.mine()
    await follow()
    const { blockNumber } = await fixture.evm.client.getTransactionReceipt({ hash })
    const { timestamp } = await fixture.evm.client.getBlock({ blockNumber })
    const landed = { blockHeight: Number(blockNumber), timestamp: Number(timestamp) * 1000 }
    expect(await listed(all)).toMatchObject([{ signature: hash, ...landed }])
    await fixture.evm.mine(10)
    await follow()
    expect(await listed(all)).toMatchObject([{ signature: hash, ...landed }])
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
  })

  test('is no longer listed once no node knows it and its height is final', async () => {
    using _ = fixture.withoutMining()
    const { all, hash, seen } = await dropped()
    if ((await seen()) === 'pending') await fixture.evm.client.dropTransaction({ hash })
    expect(await seen()).toBe('not_found')
    await follow()
    expect(await listed(all)).toMatchObject([{ signature: hash }])
    await fixture.evm.mine(10)
    await follow()
    expect(await listed(all)).toEqual([])
  })
})

test('an authorization whose nonce was used for another payee is refused, and no money is listed', async () => {
  const all = await fixture.parties()
  const header = await payInvoice(all.client, all.requirements)
  const elsewhere = await fixture.evm.wallet(0n)
  const authorization = await fixture.authorizationOf(all, header)
  await execute(await redirected(all, authorization, { to: elsewhere.address }))
  await expect(fixture.receive(all, header)).rejects.toMatchObject({ reason: 'already_used' })
  expect(await listed(all)).toEqual([])
})

test('a caller without a key who settles what an account presented takes neither its payment nor its unmatched money', async () => {
  using _ = fixture.withoutMining()
  const all = await fixture.parties({ validSeconds: 600 })
  const header = await payInvoice(all.client, all.requirements)
  // The node that simulates for the thief does not have the account's transaction yet.
  const unsent = fixture.withChain({ broadcast: async () => ({ accepted: true }) })
  const rowOf = async (scope: string) => {
    const [row] = await fixture.context.db
      .select({ payment })
      .from(payment)
      .innerJoin(claim, eq(claim.paymentId, payment.id))
      .where(and(eq(payment.sender, all.payer.address), eq(claim.scope, scope)))
    return row?.payment
  }
  // A second may be over before anything is recorded.
  const ours = await eventually(
    async () => {
      await fixture.receive(all, header, { timeout: 1 }, unsent).catch(() => undefined)
      return rowOf(fixture.actor.accountId)
    },
    (row) => row !== undefined,
  )
  if (!ours) throw new Error('nothing is recorded')
  const stolen = settlePayment(
    fixture.context,
    { ...fixture.actor, keyless: true, address: '192.0.2.7' },
    {
      x402Version: 2,
      paymentPayload: parseJson(Buffer.from(header, 'base64').toString()) as Record<
        string,
        unknown
      >,
      paymentRequirements: all.requirements,
    },
  )
  const theirs = await eventually(
    () => rowOf('keyless'),
    (row) => row !== undefined,
  )
  if (!theirs) throw new Error('nothing was stolen')
  const [attempt] = await readAttempts(fixture.context.db, ours.id)
  const settled = await fixture.evm.client.sendRawTransaction({
    serializedTransaction: `0x${Buffer.from(attempt?.signedTransaction ?? '', 'base64').toString('hex')}`,
  })
  await untilPooled(2)
  // As if a person were to decide about it.
  await insertUnmatched(fixture.context.db, {
    accountId: ours.accountId,
    network: ours.network,
    signature: settled,
    sender: ours.sender,
    recipient: ours.recipient,
    asset: ours.asset,
    symbol: ours.symbol,
    decimals: ours.decimals,
    amount: ours.amount,
    blockHeight: 1,
    createdAt: fixture.context.now(),
  })
  await fixture.evm.mine(3)
  const statusOf = async (id: string) => (await readPaymentBody(fixture.context, id)).status
  await eventually(
    async () => {
      await monitorSettlement(fixture.context, { payment: theirs, chain: fixture.chain })
      return statusOf(theirs.id)
    },
    (status) => status === 'confirmed' || status === 'finalized',
  )
  expect([await statusOf(ours.id), (await listed(all)).length]).toEqual(['pending', 1])
  await fixture.evm.mine(12)
  await follow()
  await follow()
  await stolen
  expect(await Promise.all([ours, theirs].map(({ id }) => statusOf(id)))).toEqual([
    'finalized',
    'finalized',
  ])
  expect(await listed(all)).toEqual([])
  expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
})

/** Presented, and ours waits in the pool. */
async function present(all: Parties, extra = all.requirements.extra) {
  const header = await payInvoice(all.client, { ...all.requirements, extra })
  const id = await eventually(
    () =>
      fixture.receive(all, header, { timeout: 1 }).then(
        ({ paymentId }) => paymentId ?? '',
        () => '',
      ),
    (found) => found !== '',
  )
  return { id, signed: await fixture.authorizationOf(all, header) }
}
async function final(...ids: string[]): Promise<string[]> {
  await fixture.evm.mine(12)
  await follow()
  await follow()
  return (await Promise.all(ids.map((id) => readPaymentBody(fixture.context, id)))).map(
    ({ status }) => status,
  )
}

/** Makes this call, whatever it is asked: `CODECOPY`, `CALL`. */
function calling({ to, data }: { to: Hex; data: Hex }): Hex {
  const length = toHex(size(data), { size: 2 })
  const head = (offset: number): Hex =>
    concat([
      '0x61',
      length,
      '0x61',
      toHex(offset, { size: 2 }),
      '0x60003960006000',
      '0x61',
      length,
      '0x6000600073',
      to,
      '0x5af100',
    ])
  return concat([head(size(head(0))), data])
}

describe('a permit that a third party executes', () => {
  /** Presented, of one payer and for the same amount to one payee. */
  async function presented<Count extends number>(count: Count) {
    const all = await fixture.parties({ method: 'permit2', validSeconds: 600 })
    const permits = []
    while (permits.length < count) permits.push(await present(all))
    const [first, last] = [permits[0], permits.at(-1)]
    if (!first || !last) throw new Error('nothing was presented')
    return { all, first, last }
  }

  /** Executed by a contract that is not given the permit. */
  async function hide({ signed }: { signed: VerifiedAuthorization }): Promise<Hex> {
    const to = privateKeyToAddress(generatePrivateKey())
    await fixture.evm.setCode(to, calling(callOf(signed)))
    return queueFirst({ to, data: '0x' })
  }

  test.each([
    ['in an earlier block', () => fixture.evm.mine()],
    ['earlier in the block', async () => {}],
  ])(
    'after another one of its payer that was executed %s, whose call is repeated, pays',
    async (...[, pass]) => {
      using _ = fixture.withoutMining()
      const { all, first } = await presented(1)
      const before = await queueFirst({ ...callOf(first.signed), tip: 95n * 10n ** 8n })
      await pass()
      const last = await present(all)
      const hash = await executeTogether([{ ...first.signed, allowFailure: true }, last.signed])
      expect(await final(first.id, last.id)).toEqual(['finalized', 'finalized'])
      const bodies = [first, last].map(({ id }) => readPaymentBody(fixture.context, id))
      expect((await Promise.all(bodies)).map(({ signature }) => signature)).toEqual([before, hash])
      expect(await fixture.balance(all.asset, all.payee.address)).toBe(2n * all.amount)
    },
  )

  test.each<[string, (permit: { signed: VerifiedAuthorization }) => Promise<Hex>]>([
    ['that is not given its data', hide],
    [
      'whose data names more permits than are read',
      ({ signed }) =>
        executeTogether([signed], `0x${callOf(signed).data.slice(2, 10).repeat(300)}`),
    ],
  ])('by a contract %s pays', async (...[, executeBy]) => {
    using _ = fixture.withoutMining()
    const { all, first } = await presented(1)
    const hash = await executeBy(first)
    expect(await final(first.id)).toEqual(['finalized'])
    expect(await readPaymentBody(fixture.context, first.id)).toMatchObject({ signature: hash })
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
    expect(await listed(all)).toEqual([])
  })

  /** Two equal ones that contracts execute in one transaction that names neither: which is which, the chain does not show. */
  async function hiddenTogether() {
    const { all, first, last } = await presented(2)
    const calls = [first, last].map(({ signed }) => {
      const to = privateKeyToAddress(generatePrivateKey())
      return { to, code: calling(callOf(signed)) }
    })
    for (const { to, code } of calls) await fixture.evm.setCode(to, code)
    const callData = '0x' as const
    const args = [
      calls.map(({ to: target }) => ({ target, allowFailure: false, callData })),
    ] as const
    const data = encodeFunctionData({ abi: multicallAbi, functionName: 'aggregate3', args })
    const hash = await queueFirst({ to: multicall3.address, data })
    expect(await final(first.id, last.id)).toEqual(['pending', 'pending'])
    expect(await listed(all)).toMatchObject([{ signature: hash }, { signature: hash }])
    return { all, ids: [first.id, last.id] as const, hash }
  }

  test('with an equal one in one transaction, neither shown by any data, stays open, and both are listed as unmatched', async () => {
    using _ = fixture.withoutMining()
    const { all } = await hiddenTogether()
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(2n * all.amount)
  })

  test.each([
    ['nothing', ['finalized', 'finalized']],
    ['one of them', ['failed', 'finalized']],
  ])(
    'in one transaction with an equal one is paid once a node shows that, where the payee has returned %s meanwhile',
    async (returned, statuses) => {
      using _ = fixture.withoutMining()
      const { all, ids, hash } = await hiddenTogether()
      const { chain, context, actor } = fixture
      if (returned !== 'nothing') {
        await fixture.evm.client.setBalance({ address: all.payee.address, value: 10n ** 18n })
        await fixture.evm.mine()
        await buildTransaction(context, actor, {
          walletAddress: all.payee.address,
          recipientAddress: all.payer.address,
          amount: formatAmount(all.amount, all.asset.decimals),
          asset: all.asset.symbol,
          metadata: { referenceId: hash },
          senderVerified: true,
        })
        // As if it were sent: the transfer is refunded from then on.
        await context.db
          .update(payment)
          .set({ status: 'pending' })
          .where(and(eq(payment.recipient, all.payer.address), eq(payment.mode, 'local')))
      }
      const { contracts } = chain
      if (!contracts) throw new Error('no contracts')
      const showing = {
        ...chain,
        contracts: {
          ...contracts,
          findUse: async () => ({ used: true, signature: hash }) as const,
        },
      }
      for (const id of ids) {
        const row = await findPayment(context.db, id)
        if (row) await monitorSettlement(context, { payment: row, chain: showing })
      }
      const paid = await Promise.all(ids.map((id) => readPaymentBody(context, id)))
      expect(paid.map(({ status }) => status).toSorted()).toEqual(statuses)
      const left = await listed(all)
      expect(left).toHaveLength(returned === 'nothing' ? 0 : 1)
      expect(left.every(({ refundedBy }) => refundedBy !== null)).toBe(true)
    },
  )

  test('in a block with an equal one, neither shown by any data, stays open, and both are listed as unmatched', async () => {
    using _ = fixture.withoutMining()
    const { all, first, last } = await presented(2)
    const hashes = [await hide(first), await hide(last)]
    expect(await final(first.id, last.id)).toEqual(['pending', 'pending'])
    const money = await listed(all)
    expect(money.map(({ signature }) => signature).toSorted()).toEqual(hashes.toSorted())
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(2n * all.amount)
  })
})

describe('one transfer that an authorization and a permit of one payer both claim', () => {
  async function parties(): Promise<Parties> {
    const all = await fixture.parties({ validSeconds: 600 })
    await approvePermit2(fixture.evm, all.payer, all.asset)
    return all
  }

  const PERMIT = { assetTransferMethod: 'permit2' }

  /** Both presented, for the same amount of one token to one payee; neither is executed yet. */
  async function both() {
    const all = await parties()
    return { all, authorized: await present(all), permitted: await present(all, PERMIT) }
  }

  /** The permit's nonce once more, for a token that moves nothing, or runs `code`. */
  async function silenced(
    { payer }: Pick<Parties, 'payer'>,
    permit: VerifiedAuthorization,
    code: Hex = '0x00',
  ): Promise<VerifiedAuthorization> {
    const token = privateKeyToAddress(generatePrivateKey())
    await fixture.evm.setCode(token, code)
    const { to, amountAtomic: amount, nonce, validAfter, validBefore: deadline } = permit
    const signature = await payer.signTypedData({
      domain: { name: 'Permit2', chainId: 31_337, verifyingContract: PERMIT2 },
      types: PERMIT_TYPES,
      primaryType: 'PermitWitnessTransferFrom',
      message: {
        permitted: { token, amount },
        spender: EXACT_PERMIT2_PROXY,
        nonce: BigInt(nonce),
        deadline,
        witness: { to, validAfter },
      },
    })
    return { ...permit, token, signature }
  }

  const ONE_PAID = ['failed', 'finalized']

  test('pays one of them where the authorization’s nonce moved something else before the permit', async () => {
    using _ = fixture.withoutMining()
    const { all, authorized, permitted } = await both()
    const change = { to: all.payer.address, value: 1n }
    await executeTogether([await redirected(all, authorized.signed, change), permitted.signed])
    const paid = await final(authorized.id, permitted.id)
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
    expect(paid.toSorted()).toEqual(ONE_PAID)
  })

  test('pays the authorization where the permit’s nonce moved a token that is silent', async () => {
    using _ = fixture.withoutMining()
    const { all, authorized, permitted } = await both()
    await executeTogether([
      authorized.signed,
      await silenced(all, permitted.signed),
      { ...permitted.signed, target: all.payee.address },
    ])
    const paid = await final(authorized.id, permitted.id)
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
    expect(paid).toEqual(['finalized', 'pending'])
  })

  test('pays the authorization where a token that the permit’s nonce moved executes it', async () => {
    using _ = fixture.withoutMining()
    const { all, authorized, permitted } = await both()
    const call = await silenced(all, permitted.signed, calling(callOf(authorized.signed)))
    await queueFrom(fixture.evm, await fixture.evm.wallet(10n ** 18n), {
      ...callOf(call),
      gas: 1_000_000n,
      tip: 9n * 10n ** 9n,
    })
    const paid = await final(authorized.id, permitted.id)
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
    expect(paid).toEqual(['finalized', 'pending'])
  })

  test('pays both where each was executed', async () => {
    using _ = fixture.withoutMining()
    const { all, authorized, permitted } = await both()
    await executeTogether([authorized.signed, permitted.signed])
    const paid = await final(authorized.id, permitted.id)
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(2n * all.amount)
    expect(paid).toEqual(['finalized', 'finalized'])
  })

  /** A permit of a third party for a token that is silent. */
  async function theirs(permit: VerifiedAuthorization): Promise<VerifiedAuthorization> {
    const payer = await fixture.evm.wallet(0n)
    return { ...(await silenced({ payer }, permit)), from: payer.address }
  }

  /** Sets what Permit2 may move, before everything else in the next block. */
  function allow({ payer, asset }: Parties, amount: bigint): Promise<Hex> {
    const args = [PERMIT2, amount] as const
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
    const tip = 95n * 10n ** 8n
    return queueFrom(fixture.evm, payer, { to: asset.address as Hex, data, gas: 100_000n, tip })
  }

  test.each(['the same block', 'a later block'])(
    'pays both where a third party executes the authorization beside its own permit, and the payer’s permit in %s',
    async (title) => {
      using _ = fixture.withoutMining()
      const { all, authorized, permitted } = await both()
      // Ours is not to execute it.
      if (title === 'a later block') await allow(all, 0n)
      const first = await executeTogether([
        authorized.signed,
        await theirs(permitted.signed),
        { ...permitted.signed, target: all.payee.address },
      ])
      if (title === 'a later block') {
        await fixture.evm.mine()
        await allow(all, 10n ** 18n)
      }
      const second = await executeTogether([permitted.signed])
      expect(await final(authorized.id, permitted.id)).toEqual(['finalized', 'finalized'])
      expect(await fixture.balance(all.asset, all.payee.address)).toBe(2n * all.amount)
      const bodies = await Promise.all(
        [authorized, permitted].map(({ id }) => readPaymentBody(fixture.context, id)),
      )
      expect(bodies.map(({ signature }) => signature)).toEqual([first, second])
    },
  )

  /** A person assigns what is listed to an order. */
  async function assign(all: Parties, paymentId: string): Promise<void> {
    const [row] = await listed(all)
    if (!row) throw new Error('nothing is listed')
    const { transferId } = row
    const { actor, context } = fixture
    await assignUnmatched(context, { actor, transferId }, { paymentId })
    expect(await listed(all)).toMatchObject([{ assigned: { paymentId } }])
  }

  test.each(['before', 'after'])(
    'is not unmatched where it pays the permit, and the authorization is presented %s that',
    async (title) => {
      using _ = fixture.withoutMining()
      const all = await parties()
      const permitted = await present(all, PERMIT)
      const order = await buildTransaction(fixture.context, fixture.actor, {
        walletAddress: all.payer.address,
        recipientAddress: all.payee.address,
        amount: '1.5',
        asset: 'USDC',
      })
      const header = await payInvoice(all.client, all.requirements)
      const late = await fixture.authorizationOf(all, header)
      const refused = () =>
        expect(fixture.receive(all, header)).rejects.toMatchObject({ reason: 'already_used' })
      const change = { to: all.payer.address, value: 1n }
      await executeTogether([await redirected(all, late, change), permitted.signed])
      await fixture.evm.mine()
      if (title === 'before') {
        await refused()
        await assign(all, order.paymentId)
      }
      expect(await final(permitted.id)).toEqual(['finalized'])
      expect(await fixture.context.db.$count(claim, eq(claim.paymentId, order.paymentId))).toBe(0)
      if (title === 'after') await refused()
      expect(await listed(all)).toEqual([])
    },
  )

  test('pays one of two settlements that were built for the payee', async () => {
    using _ = fixture.withoutMining()
    const all = await parties()
    await fixture.evm.client.setBalance({ address: all.payee.address, value: 10n ** 18n })
    await fixture.evm.mine()
    const build = async (extra = all.requirements.extra) => {
      const paymentProof = await payInvoice(all.client, { ...all.requirements, extra })
      const { paymentId } = await buildSettlement(fixture.context, fixture.actor, {
        walletAddress: all.payee.address,
        paymentProof,
        expectedAmount: '1.5',
        asset: 'USDC',
        resource: 'https://shop.example/a',
      })
      return { id: paymentId, signed: await fixture.authorizationOf(all, paymentProof) }
    }
    const [authorized, permitted] = [await build(), await build(PERMIT)]
    const change = { to: all.payer.address, value: 1n }
    await executeTogether([await redirected(all, authorized.signed, change), permitted.signed])
    const paid = await final(authorized.id, permitted.id)
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
    expect(paid.toSorted()).toEqual(['expired', 'finalized'])
  })
})
