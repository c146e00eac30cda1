import 'fake-indexeddb/auto'
import {
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  VersionedTransaction,
} from '@solana/web3.js'
import bs58 from 'bs58'
import { createPublicClient, http, zeroAddress, type Hex, type PrivateKeyAccount } from 'viem'
import { expect, test } from 'vitest'
import { buildPayment as buildEvm } from '#chains/evm/build.ts'
import { buildPayment as buildSolana } from '#chains/solana/build.ts'
import { LANDED_OPTIONS } from '#chains/solana/landed.ts'
import { MEMO_PROGRAM } from '#chains/solana/programs.ts'
import { createPaymentId } from '#contract/payment.ts'
import type { Network } from '#contract/network.ts'
import { buildHere } from '#web/pages/explore/pay/build-here.ts'
import { describeUserError } from '#web/errors/error-messages.ts'
import { openJournal } from '#web/payment-flow/journal.ts'
import { standingOf } from '#web/payment-flow/machine.ts'
import type { PaymentRun } from '#web/payment-flow/run.ts'
import { TabRuns, type RunDependencies } from '#web/payment-flow/tab-runs.ts'
import type {
  CheckedTransaction,
  LandedPayment,
  Reading,
  WalletPaymentIntent,
} from '#web/payment-intent/intent.ts'
import type { PaymentWallet, WalletResponse } from '#web/payment-intent/ports.ts'
import { readSolanaLanded } from '#web/rpc/read-landed.ts'
import { evmChain } from '#web/wallet/evm/chain.ts'
import { evmReader } from '#web/wallet/evm/start-evm.ts'
import { solanaChain } from '#web/wallet/solana/chain.ts'
import { connectRpc } from '#web/wallet/solana/connections.ts'
import { solanaReader } from '#web/wallet/solana/start-solana.ts'
import { signVersion1 } from './chain-payments.ts'
import { hidesNewer, startEvm, startGate, startSolana, type EvmFixture } from './local-chains.ts'

/** What the browser's own view of a chain says, on real nodes. */

const RECIPIENT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const CONTRACT = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

function orderFor(network: Network, sender: string, recipient: string): WalletPaymentIntent {
  const [asset] = network.assets
  if (!asset) throw new Error('The network has no currency.')
  return {
    id: crypto.randomUUID(),
    createdAt: Date.now(),
    network: network.network,
    asset,
    sender,
    recipient,
    amountAtomic: 10n ** 7n,
    walletName: 'Test Wallet',
  }
}

const QUOTE = {
  currency: 'EUR',
  amount: '10',
  rate: '2000',
  source: 'test',
  round: null,
  observedAt: 1,
  quotedAt: 2,
  expiresAt: 3,
}

function builtOf(bytes: Uint8Array, facts: Partial<CheckedTransaction>): CheckedTransaction {
  return {
    paymentId: createPaymentId(),
    bytes,
    lastValidBlockHeight: 1_000,
    deadlineAt: 0,
    builtHeight: 0,
    nonce: null,
    maxFeeAtomic: 10n ** 16n,
    digest: '',
    ...facts,
  }
}

function landedIn(reading: Reading): LandedPayment {
  if (reading.kind !== 'landed') throw new Error(reading.kind)
  return reading.landed
}

const chainOf = (network: Network) =>
  evmChain([network], () =>
    createPublicClient({ transport: http(network.rpcUrls[0], { retryCount: 0 }), cacheTime: 0 }),
  )

async function openEvm(evm: EvmFixture) {
  const account = await evm.wallet(10n ** 18n)
  const order = orderFor(evm.network, account.address, RECIPIENT)
  const nonce = await evm.client.getTransactionCount({ address: account.address })
  const fields = {
    nonce,
    gas: 21_000n,
    maxFeePerGas: 10_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
  }
  const bytes = buildEvm({ ...order, paymentId: createPaymentId(), ...fields })
  const builtHeight = Number(await evm.client.getBlockNumber())
  return {
    account,
    order,
    built: builtOf(bytes, { nonce, builtHeight }),
    chain: chainOf(evm.network),
  }
}

async function send(
  evm: EvmFixture,
  account: PrivateKeyAccount,
  transaction: { nonce: number; to: string; value: bigint; maxFeePerGas?: bigint; gas?: bigint },
): Promise<Hex> {
  const { nonce, to, value, maxFeePerGas = 10_000_000_000n, gas = 21_000n } = transaction
  const signed = await account.signTransaction({
    type: 'eip1559',
    chainId: 31_337,
    gas,
    maxFeePerGas,
    maxPriorityFeePerGas: maxFeePerGas / 10n,
    nonce,
    to: to as Hex,
    value,
  })
  return evm.client.sendRawTransaction({ serializedTransaction: signed })
}

test('on EVM a payment goes from absent over pending and its first block to confirmed and final', async () => {
  await using evm = await startEvm({ slotsInEpoch: 2 })
  const { account, order, built, chain } = await openEvm(evm)
  const look = (signature: string | null) => chain.read(order, built, { bytes: null, signature })
  expect(await look(null)).toMatchObject({ kind: 'absent' })
  const signature = await send(evm, account, {
    nonce: built.nonce ?? 0,
    to: RECIPIENT,
    value: order.amountAtomic,
  })
  expect(await look(signature)).toMatchObject({ kind: 'pending', signature })
  await evm.mine()
  expect(await look(signature)).toMatchObject({
    kind: 'landed',
    outcome: 'paid',
    commitment: 'processed',
    landed: { confirmations: 1 },
  })
  await evm.mine()
  expect(await look(signature)).toMatchObject({ kind: 'landed', commitment: 'confirmed' })
  await evm.mine(6)
  expect(await look(signature)).toMatchObject({ kind: 'landed', commitment: 'finalized' })
})

test('on EVM a payment with a quoted price has the time of its block', async () => {
  await using evm = await startEvm({ slotsInEpoch: 2 })
  const { account, order, built, chain } = await openEvm(evm)
  const signature = await send(evm, account, {
    nonce: built.nonce ?? 0,
    to: RECIPIENT,
    value: order.amountAtomic,
  })
  await evm.mine()
  const { timestamp } = await evm.client.getBlock()
  const look = (quote: typeof QUOTE | undefined) =>
    chain.read({ ...order, ...(quote && { quote }) }, built, { bytes: null, signature })
  expect(await look(QUOTE)).toMatchObject({ landed: { blockTime: Number(timestamp) * 1000 } })
  expect(await look(undefined)).toMatchObject({ landed: { blockTime: undefined } })
})

test('on EVM a payment whose hash was lost is found by sender and nonce, blocks later', async () => {
  await using evm = await startEvm({ slotsInEpoch: 2 })
  const { account, order, built, chain } = await openEvm(evm)
  await evm.mine(5)
  const signature = await send(evm, account, {
    nonce: built.nonce ?? 0,
    to: RECIPIENT,
    value: order.amountAtomic,
  })
  await evm.mine(4)
  expect(await chain.read(order, built, { bytes: null, signature: null })).toMatchObject({
    kind: 'landed',
    outcome: 'paid',
    landed: { signature },
  })
})

test('on EVM a payment that the wallet gave a later nonce is found as well', async () => {
  await using evm = await startEvm({ slotsInEpoch: 2 })
  const { account, order, built, chain } = await openEvm(evm)
  const nonce = built.nonce ?? 0
  await send(evm, account, { nonce, to: account.address, value: 1n })
  const signature = await send(evm, account, {
    nonce: nonce + 1,
    to: RECIPIENT,
    value: order.amountAtomic,
  })
  await evm.mine(2)
  expect(await chain.read(order, built, { bytes: null, signature: null })).toMatchObject({
    kind: 'landed',
    outcome: 'paid',
    landed: { signature },
  })
})

test('on EVM a payment that was sped up is the same payment under another hash, one that was cancelled is superseded', async () => {
  await using evm = await startEvm({ slotsInEpoch: 2 })
  for (const { to, value, expected } of [
    { to: RECIPIENT, value: 10n ** 7n, expected: { kind: 'landed', outcome: 'paid' } },
    { to: undefined, value: 0n, expected: { kind: 'superseded', finalized: false } },
  ]) {
    const { account, order, built, chain } = await openEvm(evm)
    const nonce = built.nonce ?? 0
    const first = await send(evm, account, { nonce, to: RECIPIENT, value: order.amountAtomic })
    expect(await chain.read(order, built, { bytes: null, signature: first })).toMatchObject({
      kind: 'pending',
      nonce,
    })
    const sent = { bytes: null, signature: first, nonce }
    const second = await send(evm, account, {
      nonce,
      to: to ?? account.address,
      value,
      maxFeePerGas: 20_000_000_000n,
    })
    await evm.mine()
    const reading = await chain.read(order, built, sent)
    expect(reading).toMatchObject(expected)
    expect(
      reading.kind === 'landed'
        ? reading.landed.signature
        : reading.kind === 'superseded' && reading.by,
    ).toBe(second)
    await evm.mine(6)
    if (expected.kind === 'superseded')
      expect(await chain.read(order, built, sent)).toMatchObject({
        kind: 'superseded',
        finalized: true,
      })
  }
})

test('on EVM a payment that the wallet gave another nonce is not replaced by who took the built one', async () => {
  await using evm = await startEvm({ slotsInEpoch: 2 })
  const { account, order, built, chain } = await openEvm(evm)
  const nonce = built.nonce ?? 0
  const pay = { nonce: nonce + 1, to: RECIPIENT, value: order.amountAtomic }
  await send(evm, account, { nonce, to: account.address, value: 1n })
  await evm.mine(8)
  const first = await send(evm, account, pay)
  const unseen = { bytes: null, signature: first }
  expect(await chain.read(order, built, unseen)).toMatchObject({
    kind: 'pending',
    signature: first,
    nonce: nonce + 1,
  })
  // Without its answer: it waits for a block, so nothing can be said.
  expect(await chain.read(order, built, { bytes: null, signature: null })).toMatchObject({
    kind: 'absent',
  })
  // The payer speeds it up, and no node holds the first one any more.
  const second = await send(evm, account, { ...pay, maxFeePerGas: 20_000_000_000n })
  await evm.mine(8)
  expect(await chain.read(order, built, { ...unseen, nonce: nonce + 1 })).toMatchObject({
    kind: 'landed',
    outcome: 'paid',
    commitment: 'finalized',
    landed: { signature: second },
  })
  // A page that never saw its nonce does not know what became of it.
  expect(await chain.read(order, built, unseen)).toMatchObject({
    kind: 'superseded',
    finalized: true,
    guessed: true,
  })
})

test('on EVM a payment without a hash is looked for among all that its sender sent since, in steps', async () => {
  await using evm = await startEvm({ slotsInEpoch: 2 })
  const { account, order, built, chain } = await openEvm(evm)
  const nonce = built.nonce ?? 0
  for (let each = 0; each < 12; each++)
    await send(evm, account, { nonce: nonce + each, to: account.address, value: 1n })
  await evm.mine(8)
  const lost = { bytes: null, signature: null }
  expect(await chain.read(order, built, lost)).toMatchObject({ kind: 'absent' })
  // All is something else, which does not prove that nothing waits where no node shows it.
  expect(await chain.read(order, built, lost)).toMatchObject({
    kind: 'superseded',
    finalized: true,
    guessed: true,
  })
  const signature = await send(evm, account, {
    nonce: nonce + 12,
    to: RECIPIENT,
    value: order.amountAtomic,
  })
  await evm.mine()
  expect(await chain.read(order, built, lost)).toMatchObject({
    kind: 'landed',
    landed: { signature },
    nonce: nonce + 12,
  })
  // A wallet that keeps nonces: only what has its nonce can be the payment.
  const kept = await chain.read(order, built, { ...lost, nonce })
  expect(kept).toMatchObject({ kind: 'superseded', finalized: true })
  expect(kept).not.toHaveProperty('guessed')
})

/** Code that makes a contract, and raises the nonce of its account by that. */
const CREATES: Hex = '0x600060006000f05000'

/** How the nonce of an account is used by no transaction of that nonce from it. Each uses one such nonce, and returns the next. */
const SILENT_USES: Readonly<
  Record<string, (evm: EvmFixture, account: PrivateKeyAccount, nonce: number) => Promise<number>>
> = {
  'an authorization that the account sends itself': async (evm, account, nonce) => {
    const authorization = await authorize(account, nonce + 1)
    await delegate(evm, account, { nonce, authorization })
    return nonce + 2
  },
  'an authorization that another account sends': async (evm, account, nonce) => {
    const authorization = await authorize(account, nonce)
    await delegate(evm, await evm.wallet(10n ** 18n), { nonce: 0, authorization })
    return nonce + 1
  },
  'an authorization that ends a delegation': async (evm, account, nonce) => {
    const relay = await evm.wallet(10n ** 18n)
    await delegate(evm, relay, { nonce: 0, authorization: await authorize(account, nonce) })
    const end = await authorize(account, nonce + 1, zeroAddress)
    await delegate(evm, relay, { nonce: 1, authorization: end })
    return nonce + 2
  },
  'a contract that its code makes': async (evm, account, nonce) => {
    await evm.setCode(CONTRACT, CREATES)
    const relay = await evm.wallet(10n ** 18n)
    const authorization = await authorize(account, nonce, CONTRACT)
    await delegate(evm, relay, { nonce: 0, authorization })
    await evm.mine(3)
    await send(evm, relay, { nonce: 1, to: account.address, value: 0n, gas: 100_000n })
    return nonce + 2
  },
}

function authorize(account: PrivateKeyAccount, nonce: number, code: Hex = CONTRACT) {
  return account.signAuthorization({ chainId: 31_337, nonce, address: code })
}

type Delegation = {
  nonce: number
  authorization: Awaited<ReturnType<PrivateKeyAccount['signAuthorization']>>
}

async function delegate(
  evm: EvmFixture,
  sender: PrivateKeyAccount,
  { nonce, authorization }: Delegation,
): Promise<void> {
  const serializedTransaction = await sender.signTransaction({
    type: 'eip7702',
    chainId: 31_337,
    gas: 200_000n,
    maxFeePerGas: 10_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    nonce,
    to: sender.address,
    authorizationList: [authorization],
  })
  await evm.client.sendRawTransaction({ serializedTransaction })
}

test.each(Object.keys(SILENT_USES))(
  'on EVM a payment without a hash is found behind a nonce that was used by %s',
  async (way) => {
    await using evm = await startEvm({ slotsInEpoch: 2 })
    const { account, order, built, chain } = await openEvm(evm)
    const nonce = await SILENT_USES[way]?.(evm, account, built.nonce ?? 0)
    if (nonce === undefined) throw new Error(`There is no ${way}.`)
    await evm.mine(3)
    expect(await evm.client.getTransactionCount({ address: account.address })).toBe(nonce)
    const lost = { bytes: null, signature: null }
    expect(await chain.read(order, built, lost)).toMatchObject({ kind: 'superseded' })
    const signature = await send(evm, account, {
      nonce,
      to: RECIPIENT,
      value: order.amountAtomic,
      gas: 100_000n,
    })
    await evm.mine(8)
    expect(await chain.read(order, built, lost)).toMatchObject({
      kind: 'landed',
      outcome: 'paid',
      commitment: 'finalized',
      landed: { signature },
    })
  },
)

test('on EVM a node that says of every block how often its newest block says the account sent proves nothing', async () => {
  await using evm = await startEvm({ slotsInEpoch: 2 })
  await using gate = await startGate(evm.rpcUrl)
  const { account, order, built } = await openEvm(evm)
  const nonce = built.nonce ?? 0
  await evm.setCode(account.address, `0xef0100${CONTRACT.slice(2)}`)
  await evm.mine(4)
  const builtHeight = Number(await evm.client.getBlockNumber())
  await send(evm, account, { nonce, to: RECIPIENT, value: order.amountAtomic, gas: 100_000n })
  await evm.mine(8)
  gate.lie = (asked, answer) =>
    asked.includes('"eth_getTransactionCount"')
      ? answer.replace(/"result":\s*"0x[0-9a-f]+"/, `"result":"0x${(nonce + 1).toString(16)}"`)
      : answer
  const chain = chainOf({ ...evm.network, rpcUrls: [gate.url] })
  // Built before the payment: the search ends at the first block that it may look at.
  const sent = { bytes: null, signature: null, nonce }
  expect(await chain.read(order, { ...built, builtHeight }, sent)).toMatchObject({
    kind: 'unavailable',
  })
})

type Approval = (answer: 'send' | 'lose' | 'reject') => Promise<string | null>

/** A wallet that sends with the next nonce of its account, once each request is answered. Its page may have lost the answer by then. */
function walletOf(evm: EvmFixture, account: PrivateKeyAccount) {
  const approvals: Approval[] = []
  const wallet: PaymentWallet = {
    signer: async () => account.address,
    pay: ({ recipient, amountAtomic }) => {
      const response = Promise.withResolvers<WalletResponse>()
      approvals.push(async (answer) => {
        if (answer !== 'send') {
          const userError = describeUserError('rejected', 'Test Wallet')
          response.resolve(answer === 'lose' ? { kind: 'lost' } : { kind: 'refused', userError })
          return null
        }
        const nonce = await evm.client.getTransactionCount({ address: account.address })
        const signature = await send(evm, account, { nonce, to: recipient, value: amountAtomic })
        response.resolve({ kind: 'sent', signature })
        return signature
      })
      return response.promise
    },
  }
  return { wallet, approvals }
}

let browsers = 0

/** A page of the checkout and one of the explorer in one browser, with a wallet and a real chain. */
async function openPages(evm: EvmFixture, rpcUrl = evm.rpcUrl) {
  const account = await evm.wallet(10n ** 18n)
  const { wallet, approvals } = walletOf(evm, account)
  const [asset] = evm.network.assets
  if (!asset) throw new Error('The network has no currency.')
  const dependencies: RunDependencies = {
    service: buildHere(evm.network, null),
    wallet,
    chain: chainOf({ ...evm.network, rpcUrls: [rpcUrl] }),
    reader: evmReader([evm.network]),
  }
  const name = `browser-${browsers++}`
  const [payments, visits] = [openJournal(name), openJournal(`${name}-visits`)]
  const pages = {
    checkout: new TabRuns(payments, { otherJournals: [visits] }),
    explorer: new TabRuns(visits, { otherJournals: [payments] }),
  }
  const open = async (page: keyof typeof pages): Promise<PaymentRun> => {
    const order = orderFor(evm.network, account.address, RECIPIENT)
    const run = pages[page].begin(order, dependencies)
    await run.build()
    await expect
      .poll(() => run.state())
      .toMatchObject({ step: 'review', review: { simulation: { state: 'passed' } } })
    return run
  }
  const ask = async (run: PaymentRun): Promise<Approval> => {
    const before = approvals.length
    void run.sign(['OPEN_TWIN'])
    await expect.poll(() => approvals.length).toBe(before + 1)
    return approvals[before] ?? (async () => null)
  }
  return { open, ask }
}

async function expectSoon(run: PaymentRun, state: object): Promise<void> {
  await expect.poll(() => run.state()).toMatchObject(state)
}

test.each([
  ['explorer', 'explorer'],
  ['checkout', 'explorer'],
  ['explorer', 'checkout'],
] as const)(
  'on EVM one transfer ends one payment: the lost one of the %s does not take that of the %s',
  async (lost, other) => {
    await using evm = await startEvm({ slotsInEpoch: 2 })
    const { open, ask } = await openPages(evm)
    const first = await open(lost)
    const approveFirst = await ask(first)
    await approveFirst('lose')
    const second = await open(other)
    const approveSecond = await ask(second)
    const bySecond = await approveSecond('send')
    await evm.mine(8)
    await expectSoon(second, { step: 'finalized', landed: { signature: bySecond } })
    // Its page has seen that the nonce of the first one is taken, by another payment.
    await expectSoon(first, { step: 'unknown', absentSince: expect.any(Number) })

    const byFirst = await approveFirst('send')
    await evm.mine(8)
    await expectSoon(first, { step: 'finalized', landed: { signature: byFirst } })
    first.close()
    second.close()
  },
  60_000,
)

test('on EVM a lost payment takes no transfer while another one like it is open in the wallet', async () => {
  await using evm = await startEvm({ slotsInEpoch: 2 })
  await using gate = await startGate(evm.rpcUrl)
  const { open, ask } = await openPages(evm, gate.url)
  const first = await open('explorer')
  const approveFirst = await ask(first)
  await approveFirst('lose')
  await expectSoon(first, { step: 'unknown' })
  const second = await open('explorer')
  const approveSecond = await ask(second)
  // The wallet sends, and says nothing: for all that the pages know it may be for either.
  const byFirst = await approveFirst('send')
  await evm.mine(8)
  let seen = 0
  gate.lie = (asked, answer) => {
    if (asked.includes(byFirst ?? '')) seen++
    return answer
  }
  await expect.poll(() => seen).toBeGreaterThan(1)
  expect(first.state()).toMatchObject({ step: 'unknown', sent: { signature: null } })
  await approveSecond('reject')
  await expectSoon(first, { step: 'finalized', landed: { signature: byFirst } })
  expect(second.state()).toMatchObject({ step: 'rejected' })
  first.close()
  second.close()
})

test('on EVM of two lost payments alike, one transfer ends one', async () => {
  await using evm = await startEvm({ slotsInEpoch: 2 })
  const { open, ask } = await openPages(evm)
  const runs = [await open('explorer'), await open('checkout')]
  const approvals: Approval[] = []
  for (const run of runs) {
    const approve = await ask(run)
    await approve('lose')
    await expectSoon(run, { step: 'unknown' })
    approvals.push(approve)
  }
  const final = () => runs.filter((run) => run.state().step === 'finalized')
  const signatures: (string | null)[] = []
  for (const approve of approvals) {
    signatures.push(await approve('send'))
    await evm.mine(8)
    await expect.poll(() => final().length).toBe(signatures.length)
  }
  const taken = new Set(runs.map((run) => standingOf(run.state())?.signature))
  expect(taken).toEqual(new Set(signatures))
  for (const run of runs) run.close()
})

test('on EVM a wallet that sent another amount did not pay', async () => {
  await using evm = await startEvm({ slotsInEpoch: 2 })
  const { account, order, built, chain } = await openEvm(evm)
  const signature = await send(evm, account, {
    nonce: built.nonce ?? 0,
    to: RECIPIENT,
    value: order.amountAtomic * 2n,
  })
  await evm.mine(2)
  expect(await chain.read(order, built, { bytes: null, signature })).toMatchObject({
    kind: 'landed',
    outcome: 'other',
    failure: 'On the chain, “Amount” is 0.00000000002 ETH, not 0.00000000001 ETH.',
  })
})

test('on EVM a trial run names what the account lacks, and a node that is gone is unavailable, not absent', async () => {
  await using evm = await startEvm({ slotsInEpoch: 2 })
  const { order, built, chain } = await openEvm(evm)
  expect(await chain.simulate(order, built.bytes)).toMatchObject({ state: 'passed' })
  const poor = await evm.wallet(1_000n)
  expect(await chain.simulate({ ...order, sender: poor.address }, built.bytes)).toMatchObject({
    state: 'failed',
    reason: expect.stringContaining('missing'),
  })
  await using gate = await startGate(evm.rpcUrl)
  const cut = chainOf({ ...evm.network, rpcUrls: [gate.url] })
  gate.open = false
  expect(await cut.read(order, built, { bytes: null, signature: null })).toMatchObject({
    kind: 'unavailable',
  })
  expect(await cut.simulate(order, built.bytes)).toMatchObject({ state: 'unavailable' })
  expect(await cut.knows(order, built.bytes)).toBeNull()
})

test('on Solana the signed bytes land once however often they are sent, and are read back as the payment', async () => {
  await using solana = await startSolana({ slotTimeMs: 50 })
  const [payer, recipient] = [await solana.wallet(10n ** 9n), await solana.wallet(10n ** 7n)]
  const order = orderFor(solana.network, payer.publicKey.toBase58(), recipient.publicKey.toBase58())
  const chain = solanaChain([solana.network], connectRpc)
  const paymentId = createPaymentId()
  const { blockhash, lastValidBlockHeight } = await solana.connection.getLatestBlockhash()
  const bytes = buildSolana({
    ...order,
    paymentId,
    blockhash,
    unitLimit: 40_000,
    unitPriceMicroLamports: 1000n,
  })
  const match = solanaReader.match(
    order,
    { paymentId, maxFeeAtomic: 10n ** 6n, chainKnown: await chain.knows(order, bytes) },
    bytes,
  )
  expect(match).toMatchObject({ ok: true })
  const built = builtOf(bytes, {
    paymentId,
    lastValidBlockHeight,
    maxFeeAtomic: 10n ** 6n,
    digest: match.digest,
  })
  expect(await chain.simulate(order, bytes)).toMatchObject({
    state: 'passed',
    changes: [
      { who: 'you' },
      { who: 'recipient', beforeAtomic: 10n ** 7n, afterAtomic: 2n * 10n ** 7n },
    ],
  })

  const transaction = VersionedTransaction.deserialize(bytes)
  transaction.sign([payer])
  const signed = transaction.serialize()
  const same = solanaReader.compareSigned(order, built, signed)
  if (!same.ok) throw new Error(same.difference)
  const look = () => chain.read(order, built, { bytes: signed, signature: same.signature })
  expect(await look()).toMatchObject({ kind: 'absent' })
  for (let times = 0; times < 3; times++)
    await chain.broadcast(order, signed).catch(() => undefined)
  await expect
    .poll(look)
    .toMatchObject({ kind: 'landed', outcome: 'paid', commitment: 'finalized' })
  const landed = await solana.connection.getTransaction(same.signature, LANDED_OPTIONS)
  expect(landedIn(await look()).blockTime).toBe((landed?.blockTime ?? 0) * 1000)
  expect(await solana.connection.getBalance(recipient.publicKey, 'confirmed')).toBe(2 * 10 ** 7)
})

test('on Solana a payment that a fee payer sends is found, or absent, past newer transactions of version 1 and later', async () => {
  await using solana = await startSolana({ slotTimeMs: 50 })
  await using gate = await startGate(solana.network.rpcUrls[0] ?? '')
  const [payer, recipient] = [await solana.wallet(10n ** 9n), await solana.wallet(10n ** 7n)]
  const order = {
    ...orderFor(solana.network, payer.publicKey.toBase58(), recipient.publicKey.toBase58()),
    feePayer: recipient.publicKey.toBase58(),
  }
  const chain = solanaChain([{ ...solana.network, rpcUrls: [gate.url] }], connectRpc)
  const { blockhash, lastValidBlockHeight } = await solana.connection.getLatestBlockhash()
  const fields = { blockhash, unitLimit: 40_000, unitPriceMicroLamports: 1000n }
  const { feePayer: _, ...plain } = order
  const transaction = VersionedTransaction.deserialize(
    buildSolana({ ...plain, paymentId: createPaymentId(), ...fields }),
  )
  transaction.sign([payer])
  const bytes = transaction.serialize()
  const built = builtOf(bytes, { lastValidBlockHeight })
  // Its name on the chain is the fee payer's signature, which this page has not seen.
  const sent = { bytes, signature: bs58.encode(new Uint8Array(64).fill(7)) }
  const look = () => chain.read(order, built, sent)
  const newer = async (lamports: number) => {
    const recent = await solana.connection.getLatestBlockhash()
    const transfer = SystemProgram.transfer({
      fromPubkey: payer.publicKey,
      toPubkey: recipient.publicKey,
      lamports,
    })
    return solana.connection.sendRawTransaction(
      signVersion1(payer, { recentBlockhash: recent.blockhash, instructions: [transfer] }),
    )
  }
  await newer(1)
  gate.lie = hidesNewer(await newer(2))
  const received = () => solana.connection.getBalance(recipient.publicKey, 'confirmed')
  await expect.poll(received).toBe(10 ** 7 + 3)
  expect(await look()).toMatchObject({ kind: 'absent' })
  const signature = await solana.connection.sendRawTransaction(bytes)
  await newer(3)
  await expect.poll(received).toBe(2 * 10 ** 7 + 6)
  // A node may list it a moment after it shows the balance.
  await expect.poll(look).toMatchObject({ kind: 'landed', landed: { signature } })
})

test('on Solana a payment that landed as a transaction of version 1 is verified as the payment, and as no other', async () => {
  await using solana = await startSolana({ slotTimeMs: 50 })
  const [payer, recipient] = [await solana.wallet(10n ** 9n), await solana.wallet(10n ** 7n)]
  const paymentId = createPaymentId()
  const intent = {
    ...orderFor(solana.network, payer.publicKey.toBase58(), recipient.publicKey.toBase58()),
    paymentId,
    maxFeeAtomic: 10n ** 6n,
  }
  const { blockhash: recentBlockhash } = await solana.connection.getLatestBlockhash()
  const instructions = [
    SystemProgram.transfer({
      fromPubkey: payer.publicKey,
      toPubkey: recipient.publicKey,
      lamports: intent.amountAtomic,
    }),
    new TransactionInstruction({
      programId: new PublicKey(MEMO_PROGRAM),
      keys: [],
      data: Buffer.from(paymentId),
    }),
  ]
  const signature = await solana.connection.sendRawTransaction(
    signVersion1(payer, { recentBlockhash, instructions }),
  )
  const read = (change: object) =>
    readSolanaLanded({ network: solana.network, url: solana.rpcUrl }, signature, {
      ...intent,
      ...change,
    })
  await expect
    .poll(() => read({}))
    .toMatchObject({ kind: 'read', succeeded: true, match: { ok: true } })
  expect(await read({ amountAtomic: 1n })).toMatchObject({ match: { ok: false } })
})

test('on Solana a payment is only absent from a node that knows the chain since it was built, and past its end only where its blockhash is', async () => {
  await using solana = await startSolana({ slotTimeMs: 50 })
  await using gate = await startGate(solana.network.rpcUrls[0] ?? '')
  const [payer, recipient] = [await solana.wallet(10n ** 9n), await solana.wallet(10n ** 7n)]
  const order = orderFor(solana.network, payer.publicKey.toBase58(), recipient.publicKey.toBase58())
  const chain = solanaChain([{ ...solana.network, rpcUrls: [gate.url] }], connectRpc)
  const { blockhash } = await solana.connection.getLatestBlockhash()
  const { height, slot } = await chain.head(order)
  const bytes = buildSolana({
    ...order,
    paymentId: createPaymentId(),
    blockhash,
    unitLimit: 40_000,
    unitPriceMicroLamports: 1000n,
  })
  // An end that the service names too early: the bytes are valid for 150 blocks.
  const end = { lastValidBlockHeight: height + 1, builtHeight: height, builtSlot: slot ?? 0 }
  const built = builtOf(bytes, end)
  const transaction = VersionedTransaction.deserialize(bytes)
  transaction.sign([payer])
  const sent = { bytes, signature: bs58.encode(transaction.signatures[0] ?? bytes) }
  const look = () => chain.read(order, built, sent)
  const finalized = () => solana.connection.getBlockHeight('finalized')
  await expect.poll(finalized).toBeGreaterThan(height + 20)
  expect(await look()).toMatchObject({ kind: 'absent', finalizedHeight: height + 1 })

  await expect.poll(finalized).toBeGreaterThan(height + 160)
  const reading = await look()
  expect(reading).toMatchObject({ kind: 'absent' })
  expect(reading.kind === 'absent' && reading.finalizedHeight).toBeGreaterThan(height + 150)

  gate.lie = (asked, answer) =>
    asked.includes('"getFirstAvailableBlock"')
      ? answer.replace(/"result":\s*\d+/, `"result":${(slot ?? 0) + 1}`)
      : answer
  expect(await look()).toMatchObject({ kind: 'unavailable' })
  gate.lie = (asked, answer) =>
    asked.includes('"getSignatureStatuses"')
      ? answer.replace(/"slot":\s*\d+/, `"slot":${slot ?? 0}`)
      : answer
  expect(await look()).toMatchObject({ kind: 'unavailable' })
})
