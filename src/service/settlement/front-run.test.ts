import { encodeFunctionData, parseAbi, type Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callOf, type VerifiedAuthorization } from '#chains/evm/authorization.ts'
import { AUTHORIZATION_TYPES } from '#chains/evm/signed-types.ts'
import { multicall3 } from '#devnet/tokens/evm.ts'
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

test('an authorization whose nonce was used for another payee is refused, and no money is listed', async () => {
  const all = await fixture.parties()
  const header = await payInvoice(all.client, all.requirements)
  const elsewhere = await fixture.evm.wallet(0n)
  const authorization = await fixture.authorizationOf(all, header)
  await execute(await redirected(all, authorization, elsewhere.address))
  await expect(fixture.receive(all, header)).rejects.toMatchObject({ reason: 'already_used' })
  expect(await listed(all)).toEqual([])
})
