import { encodeFunctionData, parseAbi, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callOf, type VerifiedAuthorization } from '#chains/evm/authorization.ts'
import { AUTHORIZATION_TYPES } from '#chains/evm/signed-types.ts'
import { multicall3 } from '#devnet/tokens/evm.ts'
import { pollOnce } from '#service/monitor/poll.ts'
import { readUnmatched } from '#service/payments/unmatched.ts'
import { eventually } from '#testing/service-context.ts'
import {
  openMinedTokenFixture,
  type MinedTokenFixture,
  type Parties,
} from '#testing/token-fixture.ts'
import { payInvoice, queueFrom, sendFrom } from '#testing/token-payers.ts'

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

/** The same nonce once more, for another payee. */
async function redirected(
  { payer, asset }: Parties,
  authorization: VerifiedAuthorization,
  to: Hex,
): Promise<VerifiedAuthorization> {
  const { from, amountAtomic: value, validAfter, validBefore, nonce } = authorization
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
  return { ...authorization, to, signature }
}

/** Executes them in one transaction, before what waits in the pool. */
async function executeTogether(authorizations: readonly VerifiedAuthorization[]): Promise<Hex> {
  const calls = authorizations.map((each) => {
    const { to: target, data: callData } = callOf(each)
    return { target, allowFailure: false, callData }
  })
  return queueFrom(fixture.evm, await fixture.evm.wallet(10n ** 18n), {
    to: multicall3.address,
    data: encodeFunctionData({ abi: multicallAbi, functionName: 'aggregate3', args: [calls] }),
    gas: 1_000_000n,
    tip: 9n * 10n ** 9n,
  })
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
  await executeTogether([await redirected(all, first, elsewhere.address), second])
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
    await fixture.evm.mine()
    await follow()
    const { blockNumber } = await fixture.evm.client.getTransactionReceipt({ hash })
    expect(await listed(all)).toMatchObject([{ signature: hash, blockHeight: Number(blockNumber) }])
    await fixture.evm.mine(10)
    await follow()
    expect(await listed(all)).toMatchObject([{ signature: hash, blockHeight: Number(blockNumber) }])
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
  await execute(await redirected(all, authorization, elsewhere.address))
  await expect(fixture.receive(all, header)).rejects.toMatchObject({ reason: 'already_used' })
  expect(await listed(all)).toEqual([])
})
