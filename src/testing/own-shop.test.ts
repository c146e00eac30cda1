import { PublicKey, Keypair } from '@solana/web3.js'
import * as v from 'valibot'
import { parseEther, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAddress, type PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Family } from '#contract/address.ts'
import { endpoints } from '#contract/endpoints.ts'
import { parseJson, stringifyJson } from '#contract/json.ts'
import { PaymentRow } from '#contract/payment-body.ts'
import { associatedTokenAccount } from '#devnet/tokens/solana.ts'
import type { Context } from '#service/context/context.ts'
import { sendPayment } from '#service/hosted/send.ts'
import { pollOnce } from '#service/monitor/poll.ts'
import { buildTransaction } from '#service/payments/build.ts'
import { readHistory, readList } from '#service/payments/list/history.ts'
import { readSummary } from '#service/payments/list/summary.ts'
import { readPaymentBody } from '#service/payments/status.ts'
import { reconcile } from '#service/reconciliation/reconcile.ts'
import { receivePayment } from '#service/settlement/receive.ts'
import { buildSettlement } from '#service/settlement/self/build.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import {
  exportHead,
  exportRows,
  type ExportFormat,
  type ExportOptions,
} from '#web/pages/payments/export-rows.ts'
import {
  signBuilt,
  startEvm,
  startSolana,
  type EvmFixture,
  type SolanaFixture,
} from './local-chains.ts'
import { balanceOnEvm } from './local-tokens.ts'
import { settleBuilt } from './payee-fixture.ts'
import { proveTxid, refusal, refused } from './proofs.ts'
import { eventually, openContext, ownWallet, type OpenedContext } from './service-context.ts'
import { startSynchronizedClock } from './synchronized-clock.ts'
import {
  createTokens,
  deployTokens,
  evmPayer,
  payInvoice,
  solanaPayer,
  withFacilitator,
  type EvmTokens,
} from './token-payers.ts'

/**
 * An account pays its own shop. Its books have the transfer once and the network fee once, whichever of the two sides is recorded first, and add
 * up to what the chains say.
 */

const URL = 'https://shop.example/a'
const USDC_GIVEN = 10n ** 9n

let evm: EvmFixture
let tokens: EvmTokens
let solana: SolanaFixture
let clock: Awaited<ReturnType<typeof startSynchronizedClock>>
let opened: OpenedContext
/** Which lets two wallets of the account pay the network fee of settlements. */
let sponsored: Context
let solPayer: Keypair
let solPayee: Keypair
let sponsors: { evm: Hex; solana: string }

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 4 })
  tokens = await deployTokens(evm)
  solana = await startSolana({ slotTimeMs: 50 })
  clock = await startSynchronizedClock(solana.rpcUrl)
  const [secret, keypair] = [generatePrivateKey(), Keypair.generate()]
  ;[solPayer, solPayee] = [Keypair.generate(), Keypair.generate()]
  const network = await createTokens(
    solana,
    [solPayer, solPayee, keypair].map(({ publicKey }) => publicKey.toBase58()),
  )
  opened = await openContext([tokens.network, { ...network, rpcUrls: [clock.url] }])
  sponsored = await withFacilitator(opened.context, opened.actor.accountId, {
    evm: secret,
    solana: keypair,
  })
  sponsors = { evm: privateKeyToAddress(secret), solana: keypair.publicKey.toBase58() }
  await evm.client.setBalance({ address: sponsors.evm, value: parseEther('1') })
  await solana.setAccount(sponsors.solana, { lamports: 1_000_000_000n })
  for (const address of [
    sponsors.evm,
    sponsors.solana,
    solPayer.publicKey.toBase58(),
    solPayee.publicKey.toBase58(),
  ])
    await ownWallet(opened, address)
})

afterAll(async () => {
  await opened?.[Symbol.asyncDispose]()
  await clock?.[Symbol.asyncDispose]()
  await solana?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

async function managed(family: Family): Promise<string> {
  const { address } = await createWallet(
    { ...opened.context, now: new Date() },
    { accountId: opened.actor.accountId, family, name: 'till' },
  )
  await ownWallet(opened, address)
  if (family === 'evm')
    await evm.client.setBalance({ address: address as Hex, value: parseEther('1') })
  else await solana.setAccount(address, { lamports: 1_000_000_000n })
  return address
}

async function poll(): Promise<void> {
  for (const chain of opened.context.chains.values())
    expect((await pollOnce(opened.context, chain, { expiredToo: false })).failures).toEqual([])
}

const followed = (paymentId: string, wanted: RegExp) =>
  eventually(
    async () => {
      await evm.mine()
      await poll()
      return readPaymentBody(opened.context, paymentId)
    },
    ({ status }) => wanted.test(status),
  )

const nativeOf = async (address: string) =>
  address.startsWith('0x')
    ? evm.client.getBalance({ address: address as Hex })
    : BigInt(await solana.connection.getBalance(new PublicKey(address), 'confirmed'))

async function usdcOf(address: string): Promise<bigint> {
  if (address.startsWith('0x')) return balanceOnEvm(evm, tokens.usdc, address)
  const account = associatedTokenAccount(new PublicKey(address))
  const { value } = await solana.connection.getTokenAccountBalance(account, 'confirmed')
  return BigInt(value.amount)
}

type Rows = readonly PaymentRow[]
const native = (address: string) =>
  address.startsWith('0x')
    ? ({ network: evm.network.network, symbol: 'ETH' } as const)
    : ({ network: solana.network.network, symbol: 'SOL' } as const)

async function readRows(): Promise<Rows> {
  const query = v.parse(endpoints.paymentList.query, { limit: '500' })
  const { payments } = await readList(opened.context, opened.actor, query)
  return payments.map((row) => v.parse(PaymentRow, parseJson(stringifyJson(row))))
}

function exported(format: ExportFormat, rows: Rows): string {
  const options: ExportOptions = {
    format,
    separator: ',',
    mark: false,
    networkName: (network) => network,
  }
  return `${exportHead(options)}${exportRows(rows, new Map(), { ...options, first: true })}`
}

/** What the journal moves in an account: by its name, and by the symbol of the commodity. */
function journalOf(rows: Rows): Map<string, bigint> {
  const [head = '', ...lines] = exported('journal', rows).trim().split('\r\n')
  const columns = head.split(',')
  const sums = new Map<string, bigint>()
  for (const line of lines) {
    const cells = line.split(',')
    const cell = (name: string) => cells[columns.indexOf(name)] ?? ''
    const key = `${cell('account')} ${cell('symbol')}`
    sums.set(key, (sums.get(key) ?? 0n) + BigInt(cell('amount_atomic')))
  }
  return sums
}

const assetAccount = (address: string, symbol: string) =>
  `assets:${native(address).network.replaceAll(':', '-')}:${address} ${symbol}`

type Flows = { received: bigint; sent: bigint; fees: bigint }

async function readFlows(): Promise<Map<string, Flows>> {
  const { assets } = await readSummary(opened.context, opened.actor, {
    wallets: undefined,
    days: 7,
  })
  return new Map(
    assets.map(({ symbol, network, receivedAtomic, sentAtomic, feesAtomic }) => [
      `${network} ${symbol}`,
      {
        received: BigInt(receivedAtomic),
        sent: BigInt(sentAtomic),
        fees: BigInt(feesAtomic),
      },
    ]),
  )
}

type Played = { payer: string; payee: string; feePayer: string }

/** Plays one payment and compares what every book says of it with what its wallets gained and lost. */
async function expectOnce(
  { payer, payee, feePayer }: Played,
  { symbol, amount, own = true }: { symbol: string; amount: bigint; own?: boolean },
  play: () => Promise<{ signature: string }>,
): Promise<void> {
  const parties = [...new Set([payer, payee, feePayer])]
  const token = symbol === 'USDC'
  const measure = async () =>
    Promise.all(
      parties.map(async (address) => ({
        native: await nativeOf(address),
        usdc: token && (address === payer || address === payee) ? await usdcOf(address) : 0n,
      })),
    )
  const [before, flowsBefore] = [await measure(), await readFlows()]
  const { signature } = await play()
  const after = await measure()
  const rows = (await readRows()).filter((row) => row.signature === signature)
  const type = own ? 'internal' : 'sent'
  const fee = rows[0]?.fee
  expect(rows).toMatchObject([
    { signature, status: 'finalized', type, amountAtomic: amount.toString() },
  ])
  expect(fee).toMatchObject({ own: true, payer: feePayer })
  // The journal, by wallet.
  const journal = journalOf(rows)
  for (const [index, address] of parties.entries()) {
    const moved = (of: 'native' | 'usdc') =>
      (after[index]?.[of] ?? 0n) - (before[index]?.[of] ?? 0n)
    if (!own && address === payee) continue
    expect(journal.get(assetAccount(address, native(address).symbol)) ?? 0n).toBe(moved('native'))
    expect(journal.get(assetAccount(address, 'USDC')) ?? 0n).toBe(moved('usdc'))
  }
  if (own) expect(journal.get(`equity:internal transfers ${symbol}`)).toBe(0n)
  expect(journal.get(`expenses:network fees ${native(payer).symbol}`)).toBe(
    BigInt(fee?.amountAtomic ?? 0),
  )
  // One line, one object, one entry.
  expect(exported('csv', rows).split(signature)).toHaveLength(2)
  expect(exported('json', rows).split(signature)).toHaveLength(2)
  expect(exported('hledger', rows).match(/^\d{4}-\d{2}-\d{2} [*!] /gm)).toHaveLength(1)
  // The overview: what stays in the account is neither income nor expense, its fee is one.
  const flowsNow = await readFlows()
  const grown = (name: string, of: keyof Flows) =>
    (flowsNow.get(`${native(payer).network} ${name}`)?.[of] ?? 0n) -
    (flowsBefore.get(`${native(payer).network} ${name}`)?.[of] ?? 0n)
  expect([grown(symbol, 'received'), grown(symbol, 'sent')]).toEqual([0n, own ? 0n : amount])
  expect(grown(native(payer).symbol, 'fees')).toBe(BigInt(fee?.amountAtomic ?? 0))
  // Out of one wallet and into the other, each once.
  const history = async (wallet: string) => {
    const page = await readHistory(opened.context, opened.actor, {
      body: undefined,
      params: { walletAddress: wallet },
      query: v.parse(endpoints.paymentHistory.query, {}),
    })
    return page.payments.filter((row) => row.signature === signature).map((row) => row.type)
  }
  expect([await history(payer), await history(payee)]).toEqual([['sent'], ['received']])
}

type Case = { family: Family; payee: 'own' | 'stranger'; first: 'proof' | 'payment'; buys: string }
const CASES: readonly Case[] = (['evm', 'solana'] as const).flatMap((family) =>
  (['own', 'stranger'] as const).flatMap((payee) =>
    (['proof', 'payment'] as const).flatMap((first) =>
      ['a resource', 'nothing', 'a payment link'].map((buys) => ({ family, payee, first, buys })),
    ),
  ),
)

describe.each(CASES)(
  'a managed wallet on $family pays $buys to a payee ($payee), and the $first is recorded first',
  ({ family, payee: whose, first, buys }) => {
    test('one transfer and one fee are booked', async () => {
      const from = await managed(family)
      const to =
        whose === 'own'
          ? await managed(family)
          : family === 'evm'
            ? (await evm.wallet(0n)).address
            : (await solana.wallet(1_000_000_000n)).publicKey.toBase58()
      for (const chain of opened.context.chains.values())
        if (chain.network.network === native(from).network)
          await eventually(
            () => reconcile(opened.context, chain, from),
            (verdict) => verdict === 'equal',
          )
      const resource = buys === 'nothing' ? undefined : URL
      const amount = family === 'evm' ? 10n ** 16n : 10n ** 7n
      const { symbol } = native(from)
      const parties = { payer: from, payee: to, feePayer: from }
      await expectOnce(parties, { symbol, amount, own: whose === 'own' }, async () => {
        const sent = await sendPayment(opened.context, opened.actor, {
          body: {
            walletAddress: from,
            recipientAddress: to,
            amount: '0.01',
            ...(family === 'solana' && { network: solana.network.network }),
            ...(resource !== undefined && { resource }),
            ...(buys === 'a payment link' && { metadata: { paymentLink: 'l_1' } }),
          },
          idempotency: undefined,
          waitMs: 0,
        })
        if (first === 'payment') await followed(sent.paymentId, /confirmed|finalized/)
        else await evm.mine(3)
        const { paymentProof } = await readPaymentBody(opened.context, sent.paymentId)
        const received = receivePayment(opened.context, opened.actor, {
          walletAddress: to,
          paymentProof: paymentProof ?? '',
          expectedAmount: '0.01',
          ...(resource !== undefined && { resource }),
          timeout: 20,
        })
        // It buys once what it was sent for, and nothing more.
        if (buys === 'a resource')
          expect(await received).toMatchObject({
            verified: true,
            alreadyProcessed: false,
            paymentId: sent.paymentId,
          })
        else expect(await refusal(received)).toEqual(refused('already_used', 'paid_order'))
        await followed(sent.paymentId, /finalized/)
        return { signature: sent.signature ?? '' }
      })
      for (const chain of opened.context.chains.values())
        if (chain.network.network === native(from).network)
          await eventually(
            async () => {
              await evm.mine()
              return reconcile(opened.context, chain, from)
            },
            (verdict) => verdict !== 'later',
          ).then((verdict) => expect(verdict).toBe('equal'))
    })
  },
)

describe.each(['proof', 'order'] as const)(
  'an own wallet pays an order of its shop, and the %s is recorded first',
  (first) => {
    test.each([URL, undefined])('one transfer and one fee are booked (%s)', async (resource) => {
      const [payer, shop] = [await evm.wallet(parseEther('1')), await evm.wallet(0n)]
      for (const { address } of [payer, shop]) await ownWallet(opened, address)
      const [amount, payTo] = [10n ** 16n, shop.address]
      const parties = { payer: payer.address, payee: payTo, feePayer: payer.address }
      await expectOnce(parties, { symbol: 'ETH', amount }, async () => {
        const { paymentId, transaction } = await buildTransaction(opened.context, opened.actor, {
          walletAddress: payer.address,
          recipientAddress: payTo,
          amount: '0.01',
          ...(resource !== undefined && { resource }),
        })
        await evm.mine()
        const signature = await evm.client.sendRawTransaction({
          serializedTransaction: await signBuilt(payer, transaction),
        })
        await evm.mine(3)
        if (first === 'order') await followed(paymentId, /confirmed|finalized/)
        const { network } = evm.network
        const proven = await proveTxid({
          payer,
          network,
          payTo,
          amount,
          txRef: signature,
          url: URL,
        })
        const received = receivePayment(opened.context, opened.actor, {
          walletAddress: payTo,
          paymentProof: proven,
          expectedAmount: '0.01',
          resource: URL,
          timeout: 20,
        })
        if (first === 'order' && resource === undefined)
          expect(await refusal(received)).toEqual(refused('already_used', 'paid_order'))
        else await followed((await received).paymentId ?? '', /finalized/)
        if (first === 'order') await followed(paymentId, /finalized/)
        return { signature }
      })
    })
  },
)

describe('an own wallet pays its shop in tokens', () => {
  const AMOUNT = 1_000_000n
  const asked = { expectedAmount: '1', asset: 'USDC', resource: URL, timeout: 20 }

  async function authorize(payer: PrivateKeyAccount, payee: string): Promise<string> {
    return payInvoice(evmPayer(evm, payer), {
      scheme: 'exact',
      network: tokens.network.network,
      amount: AMOUNT.toString(),
      asset: tokens.usdc.address,
      payTo: payee,
      maxTimeoutSeconds: 600,
      extra: { assetTransferMethod: 'eip3009', name: 'USD Coin', version: '2' },
    })
  }

  test.each(['facilitator', 'payee'] as const)(
    'on evm, settled by its own %s: one transfer and one fee are booked',
    async (by) => {
      const [payer, payee] = [await evm.wallet(0n), await evm.wallet(parseEther('1'))]
      await tokens.fund(payer.address)
      for (const { address } of [payer, payee]) await ownWallet(opened, address)
      const feePayer = by === 'payee' ? payee.address : sponsors.evm
      const parties = { payer: payer.address, payee: payee.address, feePayer }
      await expectOnce(parties, { symbol: 'USDC', amount: AMOUNT }, async () => {
        const paymentProof = await authorize(payer, payee.address)
        const body = { walletAddress: payee.address, paymentProof, ...asked }
        const paymentId =
          by === 'payee' ? await settleAlone(body, payee) : await settleSponsored(body)
        const { signature } = await followed(paymentId, /finalized/)
        return { signature: signature ?? '' }
      })
    },
  )

  test('on solana, settled by its own fee payer: one transfer and one fee are booked', async () => {
    const [payer, payee] = [solPayer.publicKey.toBase58(), solPayee.publicKey.toBase58()]
    const parties = { payer, payee, feePayer: sponsors.solana }
    expect(await usdcOf(payer)).toBeGreaterThan(USDC_GIVEN)
    await expectOnce(parties, { symbol: 'USDC', amount: AMOUNT }, async () => {
      const paymentProof = await payInvoice(solanaPayer(solana, solPayer), {
        scheme: 'exact',
        network: solana.network.network,
        amount: AMOUNT.toString(),
        asset: opened.context.config.networks[1]?.assets[1]?.address ?? '',
        payTo: payee,
        maxTimeoutSeconds: 60,
        extra: { feePayer: sponsors.solana },
      })
      const paymentId = await settleSponsored({ walletAddress: payee, paymentProof, ...asked })
      const { signature } = await followed(paymentId, /finalized/)
      return { signature: signature ?? '' }
    })
  })

  type Body = Parameters<typeof receivePayment>[2]

  async function settleSponsored(body: Body): Promise<string> {
    const settling = receivePayment(sponsored, opened.actor, body)
    const mined = new AbortController()
    const mining = (async () => {
      while (!mined.signal.aborted) await evm.mine()
    })()
    const { paymentId, verified } = await settling.finally(() => mined.abort())
    await mining
    expect(verified).toBe(true)
    return paymentId ?? ''
  }

  async function settleAlone(body: Body, payee: PrivateKeyAccount): Promise<string> {
    const built = await buildSettlement(opened.context, opened.actor, body)
    await settleBuilt(evm, payee, built.transaction)
    return built.paymentId
  }
})
