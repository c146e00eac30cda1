import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Asset } from '#contract/network.ts'
import { signBuilt, startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { balanceOnEvm, issueOddToken, issueUsdc, transferData } from '#testing/local-tokens.ts'
import { eventually, openContext, ownWallet, type OpenedContext } from '#testing/service-context.ts'
import type { Actor, Context } from '../context/context.ts'
import { buildTransaction } from '../payments/build.ts'
import { readHistory } from '../payments/list/history.ts'
import { reportSubmitted } from './report.ts'
import { readPaymentBody } from '../payments/status.ts'
import { readUnmatched } from '../payments/unmatched.ts'
import { startWatchers, type Watchers } from './start.ts'

const ETH = 10n ** 18n

let evm: EvmFixture
let opened: OpenedContext
let context: Context
let actor: Actor
let watchers: Watchers
let issuer: PrivateKeyAccount
let usdc: Asset
let turning: Asset
let keeping: Asset

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 4 })
  issuer = await evm.wallet(ETH)
  const issue = { holder: issuer.address, supply: 1_000_000_000_000n }
  usdc = await issueUsdc(evm, issue)
  keeping = { ...(await issueOddToken(evm, 'KeepsAPart', issue)), symbol: 'KEEP' }
  turning = { ...(await issueOddToken(evm, 'PaysInterest', issue)), symbol: 'TURNS' }
  opened = await openContext([
    { ...evm.network, assets: [...evm.network.assets, usdc, keeping, turning] },
  ])
  context = opened.context
  actor = opened.actor
  watchers = startWatchers(context)
})

afterAll(async () => {
  await watchers.stop()
  await opened[Symbol.asyncDispose]()
  await evm[Symbol.asyncDispose]()
})

type Built = Awaited<ReturnType<typeof buildTransaction>>
type Call = { to: string; data?: Hex; value?: bigint; nonce?: number; gas?: bigint }

/** Any transaction of an account, by its next nonce. */
async function sendOwn(
  from: PrivateKeyAccount,
  { to, data, value = 0n, nonce, gas = 100_000n }: Call,
): Promise<Hex> {
  const next =
    nonce ?? (await evm.client.getTransactionCount({ address: from.address, blockTag: 'pending' }))
  const fields = {
    type: 'eip1559',
    chainId: 31_337,
    gas,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
    nonce: next,
    to: to as Hex,
    value,
  } as const
  return evm.client.sendRawTransaction({
    serializedTransaction: await from.signTransaction({ ...fields, ...(data && { data }) }),
  })
}

/** A payer with ether and ten of each token, and a payee with nothing. */
async function parties() {
  const [payer, payee] = await Promise.all([evm.wallet(ETH), evm.wallet(0n)])
  for (const token of [usdc, keeping, turning])
    await sendOwn(issuer, { to: token.address, data: transferData(payer.address, 10_200_000n) })
  await evm.mine()
  return { payer, payee }
}

const build = (
  payer: PrivateKeyAccount,
  payee: PrivateKeyAccount,
  body: { amount?: string; asset?: string } = {},
) =>
  buildTransaction(context, actor, {
    walletAddress: payer.address,
    recipientAddress: payee.address,
    amount: '2.5',
    asset: 'USDC',
    ...body,
  })

async function send(payer: PrivateKeyAccount, built: Built, nonce?: number): Promise<Hex> {
  return evm.client.sendRawTransaction({
    serializedTransaction: await signBuilt(payer, built.transaction, nonce),
  })
}

const read = (built: Built) => readPaymentBody(context, built.paymentId)

const untilStatus = (built: Built, status: string) =>
  eventually(
    () => read(built),
    (body) => body.status === status,
  )

async function reorg(depth: number): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_reorg', params: [depth, []] })
  await fetch(evm.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
}

test('a reported token payment goes from created to finalized, and status, events and history name its asset', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee)
  const hash = await send(payer, built)
  const asset = { asset: usdc.address, symbol: 'USDC', decimals: 6, amountAtomic: '2500000' }
  expect(
    await reportSubmitted(context, actor, { paymentId: built.paymentId, signature: hash }),
  ).toMatchObject({ status: 'pending', signature: hash, ...asset })
  await evm.mine(2)
  await untilStatus(built, 'confirmed')
  await evm.mine(8)
  const final = await untilStatus(built, 'finalized')
  expect(final).toMatchObject({
    signature: hash,
    sender: payer.address,
    recipient: payee.address,
    failure: null,
    ...asset,
  })
  expect(final.events.map(({ status, source }) => `${status} ${source}`)).toEqual([
    'created service',
    'pending client',
    'confirmed watcher',
    'finalized watcher',
  ])
  const receipt = await evm.client.getTransactionReceipt({ hash })
  expect(final.fee?.amountAtomic).toBe((receipt.gasUsed * receipt.effectiveGasPrice).toString())
  expect(await balanceOnEvm(evm, usdc, payee.address)).toBe(2_500_000n)

  const history = { type: 'all', limit: 50, offset: 0 } as const
  for (const [wallet, type] of [
    [payer, 'sent'],
    [payee, 'received'],
  ] as const) {
    const { payments } = await readHistory(context, actor, {
      params: { walletAddress: wallet.address },
      query: history,
      body: undefined,
    })
    expect(payments).toEqual([
      expect.objectContaining({ paymentId: built.paymentId, type, status: 'finalized', ...asset }),
    ])
  }
  expect(
    (
      await readHistory(context, actor, {
        params: { walletAddress: payer.address },
        query: { ...history, asset: 'USDC' },
        body: undefined,
      })
    ).payments,
  ).toHaveLength(1)
  expect(
    (
      await readHistory(context, actor, {
        params: { walletAddress: payer.address },
        query: { ...history, asset: 'ETH' },
        body: undefined,
      })
    ).payments,
  ).toHaveLength(0)
})

test('a token payment nobody reports is found in its block, though the wallet chose another nonce', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee)
  await sendOwn(payer, { to: payee.address, value: 1n, gas: 21_000n })
  const hash = await send(payer, built, 1)
  await evm.mine(2)
  expect(await untilStatus(built, 'confirmed')).toMatchObject({ signature: hash })
})

test('the same amount of ether, of another token, to another or in an older block pays nothing', async () => {
  const { payer, payee } = await parties()
  const stranger = await evm.wallet(0n)
  const older = await sendOwn(payer, {
    to: usdc.address,
    data: transferData(payee.address, 2_500_000n),
  })
  await evm.mine()
  const built = await build(payer, payee)
  const others = [
    older,
    await sendOwn(payer, { to: payee.address, value: 2_500_000n }),
    await sendOwn(payer, { to: keeping.address, data: transferData(payee.address, 2_500_000n) }),
    await sendOwn(payer, { to: usdc.address, data: transferData(stranger.address, 2_500_000n) }),
    await sendOwn(payer, { to: usdc.address, data: transferData(payee.address, 2_499_999n) }),
  ]
  await evm.mine(2)
  for (const signature of others)
    await expect(
      reportSubmitted(context, actor, { paymentId: built.paymentId, signature }),
    ).rejects.toMatchObject({ code: 'INVALID_PARAMETERS' })
  const again = await build(payer, payee)
  const hash = await send(payer, again)
  await evm.mine(2)
  expect(await untilStatus(again, 'confirmed')).toMatchObject({ signature: hash })
  expect(await read(built)).toMatchObject({ status: 'created', signature: null })
})

test('a transfer out of an approval names another sender and pays nothing', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee)
  const word = (text: string) => text.slice(2).toLowerCase().padStart(64, '0')
  const amount = 2_500_000n.toString(16).padStart(64, '0')
  await sendOwn(payer, { to: usdc.address, data: `0x095ea7b3${word(issuer.address)}${amount}` })
  await evm.mine()
  const taken = await sendOwn(issuer, {
    to: usdc.address,
    data: `0x23b872dd${word(payer.address)}${word(payee.address)}${amount}`,
  })
  await evm.mine(2)
  expect(await balanceOnEvm(evm, usdc, payee.address)).toBe(2_500_000n)
  await expect(
    reportSubmitted(context, actor, { paymentId: built.paymentId, signature: taken }),
  ).rejects.toMatchObject({ code: 'INVALID_PARAMETERS' })
})

test('a token payment that reverts has failed, once that is final', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee)
  // The tokens leave before the payment lands.
  await sendOwn(payer, {
    to: usdc.address,
    data: transferData(issuer.address, 10_200_000n),
    nonce: 0,
  })
  const hash = await send(payer, built, 1)
  await evm.mine(2)
  await reportSubmitted(context, actor, { paymentId: built.paymentId, signature: hash })
  await eventually(
    () => read(built),
    (body) => body.status === 'pending',
  )
  await evm.mine(8)
  expect(await untilStatus(built, 'failed')).toMatchObject({
    signature: hash,
    failure: expect.stringContaining('reverted'),
  })
})

test.each(['reported', 'found in its block'])(
  'a token that begins to keep a part after the payment was built has not paid, the payment says so, and what arrived is unmatched: %s',
  async (how) => {
    const code = async ({ address }: Asset) =>
      (await evm.client.getCode({ address: address as Hex })) ?? '0x'
    const original = await code(turning)
    const { payer, payee } = await parties()
    await ownWallet(opened, payee.address)
    const built = await build(payer, payee, { asset: 'TURNS' })
    // The same storage under other code, as an upgrade of a proxy does it.
    await evm.setCode(turning.address, await code(keeping))
    const hash = await send(payer, built)
    await evm.mine(2)
    if (how === 'reported')
      await reportSubmitted(context, actor, { paymentId: built.paymentId, signature: hash })
    const listed = async () => {
      const { transfers } = await readUnmatched(context, actor, { limit: 100, offset: 0 })
      return transfers.filter(({ recipient }) => recipient === payee.address)
    }
    const arrived = {
      signature: hash,
      sender: payer.address,
      symbol: 'TURNS',
      amountAtomic: '2475000',
    }
    expect(await eventually(listed, (rows) => rows.length > 0)).toMatchObject([arrived])
    await evm.mine(8)
    expect(await untilStatus(built, 'failed')).toMatchObject({
      signature: hash,
      failure: expect.stringContaining('2475000 instead of 2500000'),
    })
    expect(await balanceOnEvm(evm, turning, payee.address)).toBe(2_475_000n)
    expect(await listed()).toMatchObject([arrived])
    await evm.setCode(turning.address, original)
  },
)

test('a token payment that was dropped and whose nonce is used has failed; one nobody sends expires', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee)
  const hash = await send(payer, built)
  await reportSubmitted(context, actor, { paymentId: built.paymentId, signature: hash })
  await evm.client.dropTransaction({ hash })
  await sendOwn(payer, { to: payer.address, gas: 21_000n, nonce: 0 })
  const other = await parties()
  const unsent = await build(other.payer, other.payee)
  await evm.mine(320)
  expect(await untilStatus(built, 'failed')).toMatchObject({
    failure: expect.stringContaining('nothing was paid'),
  })
  expect(await untilStatus(unsent, 'expired')).toMatchObject({ signature: null })
})

test('a token payment whose block a reorganization drops is rolled back, and confirmed again in its new block', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee)
  const signed = await signBuilt(payer, built.transaction)
  const hash = await evm.client.sendRawTransaction({ serializedTransaction: signed })
  await evm.mine(2)
  await untilStatus(built, 'confirmed')
  await reorg(2)
  const back = await untilStatus(built, 'rolled_back')
  expect(back.events.map(({ status }) => status)).toContain('rolled_back')
  await evm.client.sendRawTransaction({ serializedTransaction: signed }).catch(() => undefined)
  await evm.mine(10)
  expect(await untilStatus(built, 'finalized')).toMatchObject({ signature: hash })
})

test('a token payment to oneself cannot exist', async () => {
  const { payer } = await parties()
  await expect(build(payer, payer)).rejects.toMatchObject({ code: 'INVALID_RECIPIENT' })
})
