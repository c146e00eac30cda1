import { execFileSync } from 'node:child_process'
import { env } from 'node:process'
import { PublicKey, VersionedTransaction, type Keypair } from '@solana/web3.js'
import * as v from 'valibot'
import type { Hex, TypedDataDefinition } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAmount } from '#contract/amount.ts'
import { endpoints } from '#contract/endpoints.ts'
import { parseJson, stringifyJson } from '#contract/json.ts'
import { SOLANA_DEVNET, type Asset } from '#contract/network.ts'
import { PaymentRow } from '#contract/payment-body.ts'
import type { AssetFlows } from '#contract/payment-endpoints.ts'
import { sendPayment } from '#service/hosted/send.ts'
import { pollOnce } from '#service/monitor/poll.ts'
import { reportSubmitted } from '#service/monitor/report.ts'
import { buildTransaction } from '#service/payments/build.ts'
import { readList } from '#service/payments/list/history.ts'
import { readSummary } from '#service/payments/list/summary.ts'
import { readPaymentBody } from '#service/payments/status.ts'
import { readUnmatched } from '#service/payments/unmatched.ts'
import { assignUnmatched } from '#service/payments/unmatched-assign.ts'
import { refundPayment } from '#service/refunds/refund.ts'
import { receivePayment } from '#service/settlement/receive.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import { entriesQueryOf } from '#web/api/payment-filter.ts'
import {
  exportHead,
  exportRows,
  type ExportFormat,
  type ExportOptions,
} from '#web/pages/payments/export-rows.ts'
import { findDebianProgram } from './debian-program.ts'
import {
  signBuilt,
  startEvm,
  startSolana,
  type EvmFixture,
  type SolanaFixture,
} from './local-chains.ts'
import { balanceOnEvm, issueUsdc } from './local-tokens.ts'
import { executeAsOwner } from './postgres.ts'
import { proveTxid } from './proofs.ts'
import { eventually, openContext, ownWallet, type OpenedContext } from './service-context.ts'

/** What a merchant exports, added up by hledger and compared with the chains. */

const ETH = 10n ** 18n
const SOL = 10n ** 9n
const OPENING = ETH
const SOL_OPENING = SOL
/** Sent to the shop without an order. */
const WRONG = 3n * 10n ** 15n
/** A customer's text that would add a transaction, and move this one to another year. */
const HOSTILE =
  '; date:2001-01-01\n2001-01-01 * x\n    income:sales  -5 "eip155:31337/native"\n    y'
const QUOTE = {
  currency: 'EUR',
  amount: '31.2',
  rate: '3120',
  source: 'fixed',
  round: null,
  observedAt: 1_700_000_000_000,
  quotedAt: 1_700_000_000_000,
  expiresAt: 1_700_000_900_000,
}

const hledger = findDebianProgram('hledger')
const why = hledger ? '' : ' (skipped: hledger is not installed, and only root with apt can)'

let evm: EvmFixture
let solana: SolanaFixture
let opened: OpenedContext
let usdc: Asset
let customer: PrivateKeyAccount
let solCustomer: Keypair
let shop: PrivateKeyAccount
let till: string
let solTill: string
let rows: PaymentRow[]
/** How far the clock of the service is ahead. */
let later = 0

async function follow(): Promise<void> {
  for (const chain of opened.context.chains.values())
    expect((await pollOnce(opened.context, chain, { expiredToo: true })).failures).toEqual([])
}

/** Until the last block is final. */
async function settled(paymentId: string, wanted = 'finalized'): Promise<void> {
  await eventually(
    async () => {
      await evm.mine()
      await follow()
      return (await readPaymentBody(opened.context, paymentId)).status
    },
    (status) => status === wanted,
  )
}

type Order = Pick<Parameters<typeof buildTransaction>[2], 'asset' | 'metadata'> & {
  to: string
  amount: string
}

async function payEvm({ to, ...order }: Order): Promise<string> {
  const { paymentId, transaction } = await buildTransaction(opened.context, opened.actor, {
    walletAddress: customer.address,
    recipientAddress: to,
    ...order,
  })
  await evm.client.sendRawTransaction({
    serializedTransaction: await signBuilt(customer, transaction),
  })
  await evm.mine(3)
  await settled(paymentId)
  return paymentId
}

async function paySolana({ to, ...order }: Order): Promise<string> {
  const { paymentId, transaction: bytes } = await buildTransaction(opened.context, opened.actor, {
    walletAddress: solCustomer.publicKey.toBase58(),
    recipientAddress: to,
    network: SOLANA_DEVNET,
    ...order,
  })
  const transaction = VersionedTransaction.deserialize(Buffer.from(bytes, 'base64'))
  transaction.sign([solCustomer])
  await solana.connection.sendRawTransaction(transaction.serialize())
  await settled(paymentId)
  return paymentId
}

async function send(from: string, to: string, amount: string): Promise<void> {
  const { paymentId } = await sendPayment(opened.context, opened.actor, {
    body: {
      walletAddress: from,
      recipientAddress: to,
      amount,
      ...(from === solTill && { network: SOLANA_DEVNET }),
    },
    idempotency: undefined,
    waitMs: 0,
  })
  await settled(paymentId)
}

/** With fees of the wallet's choice, so that nothing ties it to an order. */
async function sendPlain(to: Hex, value: bigint): Promise<Hex> {
  const signature = await evm.client.sendRawTransaction({
    serializedTransaction: await customer.signTransaction({
      type: 'eip1559',
      chainId: 31_337,
      nonce: await evm.client.getTransactionCount({ address: customer.address }),
      gas: 21_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
      to,
      value,
    }),
  })
  await evm.mine(3)
  return signature
}

async function managed(family: 'evm' | 'solana'): Promise<string> {
  const { context, actor } = opened
  const { address } = await createWallet(
    { ...context, now: new Date() },
    { accountId: actor.accountId, family, name: family },
  )
  await ownWallet(opened, address)
  return address
}

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 1 })
  await evm.mine()
  solana = await startSolana({ slotTimeMs: 50 })
  customer = await evm.wallet(ETH)
  solCustomer = await solana.wallet(SOL)
  shop = await evm.wallet(0n)
  usdc = await issueUsdc(evm, { holder: customer.address, supply: 1_000_000_000n })
  const network = { ...evm.network, assets: [...evm.network.assets, usdc] }
  opened = await openContext([network, solana.network], {
    now: () => new Date(Date.now() + later),
  })
  till = await managed('evm')
  solTill = await managed('solana')
  await ownWallet(opened, shop.address)
  await evm.client.setBalance({ address: till as Hex, value: OPENING })
  await solana.setAccount(solTill, { lamports: SOL_OPENING })

  const order = await payEvm({
    to: till,
    amount: '0.010000000000000001',
    metadata: { description: HOSTILE, referenceId: '=1+1', quote: QUOTE },
  })
  await payEvm({ to: shop.address, amount: '25.000001', asset: 'USDC' })
  await paySolana({ to: solTill, amount: '0.1' })
  await refundPayment(opened.context, opened.actor, {
    body: { paymentId: order, amount: '0.004', reason: 'Broken; date:2001-01-01' },
    idempotency: undefined,
    waitMs: 0,
  })
  await send(till, customer.address, '0.002')
  await send(till, shop.address, '0.05')
  await send(solTill, solCustomer.publicKey.toBase58(), '0.01')
  // An amount that no order asks for.
  await sendPlain(shop.address, WRONG)
  await follow()
  const page = await readList(
    opened.context,
    opened.actor,
    v.parse(endpoints.paymentList.query, { limit: '500' }),
  )
  rows = page.payments.map((row) => v.parse(PaymentRow, parseJson(stringifyJson(row))))
})
afterAll(async () => {
  await opened?.[Symbol.asyncDispose]()
  await solana?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

function exported(format: ExportFormat, some = rows): string {
  const options: ExportOptions = {
    format,
    separator: ',',
    mark: false,
    networkName: (network) => network,
  }
  return `${exportHead(options)}${exportRows(some, new Map(), { ...options, first: true })}`
}

type Balances = Map<string, bigint>
/** By the commodity. */
const decimalsOf = (commodity: string) =>
  new Map([
    [ether, 18],
    [sol, 9],
    [usdcName(), 6],
  ]).get(commodity)

function add(balances: Balances, key: string, text: string): void {
  const decimals =
    decimalsOf(key.split(' ').at(-1) ?? '') ?? expect.fail(`unknown commodity ${key}`)
  const read = parseAmount(text.replace(/^-/, ''), decimals)
  const atomic = read.ok ? read.atomic : Number(text) === 0 ? 0n : expect.fail(`no amount: ${text}`)
  const sum = (balances.get(key) ?? 0n) + (text.startsWith('-') ? -atomic : atomic)
  balances.set(key, sum)
}

/** What hledger says of the export; it refuses a transaction that does not balance. */
function askHledger(some: PaymentRow[], ...args: string[]): string {
  const options = { encoding: 'utf8', env: { ...env, LC_ALL: 'C.UTF-8' } } as const
  const input = exported('hledger', some)
  return execFileSync(hledger ?? '', ['-f', '-', ...args, '-O', 'csv'], { input, ...options })
}

/** By account and commodity. */
function addUpWithHledger(some = rows): Balances {
  const csv = askHledger(some, 'balance', '--flat', '-N', '-E', '--layout=bare')
  const balances: Balances = new Map()
  for (const line of csv.trim().split('\n').slice(1)) {
    const [account = '', commodity = '', balance = ''] = line.slice(1, -1).split('","')
    add(balances, `${account} ${commodity}`, balance)
  }
  return balances
}

/** The same from the journal, one line a posting. */
function addUpJournal(): Balances {
  const balances: Balances = new Map()
  const [, ...lines] = exported('journal').trim().split('\r\n20')
  for (const line of lines) {
    const [, , , account = '', amount = '', commodity = ''] = line.split(',')
    add(balances, `${account} ${commodity}`, amount)
  }
  return balances
}

const asset = (wallet: string, commodity: string) =>
  `assets:${wallet.startsWith('0x') ? 'eip155-31337' : SOLANA_DEVNET.replace(':', '-')}:${wallet} ${commodity}`
const ether = 'eip155:31337/native'
const sol = `${SOLANA_DEVNET}/native`
const usdcName = () => `eip155:31337/${usdc.address}`

async function expectChain(balances: Balances): Promise<void> {
  const wei = (address: string) => evm.client.getBalance({ address: address as Hex })
  // Managed wallets, to the base unit: what they began with and the ledger are what they hold.
  expect(OPENING + (balances.get(asset(till, ether)) ?? 0n)).toBe(await wei(till))
  expect(SOL_OPENING + (balances.get(asset(solTill, sol)) ?? 0n)).toBe(
    BigInt(await solana.connection.getBalance(new PublicKey(solTill))),
  )
  // A payout wallet: the recorded payments, and the transfer that nobody ordered as the difference.
  expect(balances.get(asset(shop.address, usdcName()))).toBe(
    await balanceOnEvm(evm, usdc, shop.address),
  )
  expect((await wei(shop.address)) - (balances.get(asset(shop.address, ether)) ?? 0n)).toBe(WRONG)
  // Fees, refunds and internal transfers in accounts of their own.
  expect(balances.get(`income:sales ${ether}`)).toBe(-10_000_000_000_000_001n)
  expect(balances.get(`income:sales ${sol}`)).toBe(-SOL / 10n)
  expect(balances.get(`income:sales ${usdcName()}`)).toBe(-25_000_001n)
  expect(balances.get(`income:refunds ${ether}`)).toBe(4n * 10n ** 15n)
  expect(balances.get(`expenses:payments ${ether}`)).toBe(2n * 10n ** 15n)
  expect(balances.get(`expenses:payments ${sol}`)).toBe(SOL / 100n)
  expect(balances.get(`equity:internal transfers ${ether}`)).toBe(0n)
  expect(balances.get(`expenses:network fees ${ether}`)).toBeGreaterThan(0n)
  expect(balances.get(`expenses:network fees ${sol}`)).toBeGreaterThan(0n)
  // Nothing of the customer's text became a posting.
  expect([...balances.keys()].filter((key) => /^(y|x) /.test(key))).toEqual([])
}

describe.skipIf(!hledger)(`with hledger${why}`, () => {
  test('the exported journal balances and equals the chains', async () => {
    await expectChain(addUpWithHledger())
  })

  test('every transaction stands at its day, and a customer’s text moves none', () => {
    const csv = askHledger(rows, 'register')
    const dates = [...csv.matchAll(/^"\d+","(\d{4}-\d{2}-\d{2})"/gm)].map(([, date]) => date)
    const days = new Set(
      rows.map(({ timestamp }) => new Date(timestamp).toISOString().slice(0, 10)),
    )
    expect(dates.length).toBeGreaterThan(20)
    expect(dates.filter((date) => date === undefined || !days.has(date))).toEqual([])
  })
})

test('the journal of one line a posting equals the chains', async () => {
  const balances = addUpJournal()
  await expectChain(balances)
  const sums = new Map<string, bigint>()
  for (const [key, atomic] of balances) {
    const commodity = key.split(' ').at(-1) ?? ''
    sums.set(commodity, (sums.get(commodity) ?? 0n) + atomic)
  }
  expect([...sums.values()]).toEqual([0n, 0n, 0n])
})

test('the figures of the overview add up to those of the payments list and of the chains', async () => {
  const { assets } = await readSummary(opened.context, opened.actor, {
    wallets: undefined,
    days: 7,
  })
  const [eth, token, lamports] = ['ETH', 'USDC', 'SOL'].map((symbol) =>
    assets.find((each) => each.symbol === symbol),
  )
  // Of the same period as the payments list, which has them all.
  const listed = (symbol: string, type: string, back: boolean) =>
    rows.reduce((sum, row) => {
      const paid = row.status === 'confirmed' || row.status === 'finalized'
      const counts = paid && row.symbol === symbol && row.type === type
      return counts && (row.refundOf !== null) === back ? sum + BigInt(row.amountAtomic) : sum
    }, 0n)
  const fees = (symbol: string) =>
    rows.reduce(
      (sum, { fee }) => sum + (fee?.own && fee.symbol === symbol ? BigInt(fee.amountAtomic) : 0n),
      0n,
    )
  for (const asset of [eth, token, lamports]) {
    const symbol = asset?.symbol ?? ''
    expect(asset, symbol).toMatchObject({
      receivedAtomic: listed(symbol, 'received', false).toString(),
      refundsReceivedAtomic: listed(symbol, 'received', true).toString(),
      sentAtomic: listed(symbol, 'sent', false).toString(),
      refundedAtomic: listed(symbol, 'sent', true).toString(),
      feesAtomic: fees(symbol).toString(),
    })
  }
  const net = (flows: AssetFlows | undefined) =>
    flows
      ? BigInt(flows.receivedAtomic) +
        BigInt(flows.refundsReceivedAtomic) -
        BigInt(flows.sentAtomic) -
        BigInt(flows.refundedAtomic) -
        BigInt(flows.feesAtomic)
      : 0n
  const [atTill, atShop] = await Promise.all(
    [till, shop.address].map((address) => evm.client.getBalance({ address: address as Hex })),
  )
  // Own wallets together: an internal transfer is neither income nor expense.
  expect(net(eth)).toBe((atTill ?? 0n) + (atShop ?? 0n) - OPENING - WRONG)
  expect(net(token)).toBe(await balanceOnEvm(evm, usdc, shop.address))
  expect(net(lamports)).toBe(
    BigInt(await solana.connection.getBalance(new PublicKey(solTill))) - SOL_OPENING,
  )
  for (const asset of [eth, token, lamports])
    expect(asset?.days.reduce((sum, day) => sum + net(day), 0n)).toBe(net(asset))
  expect(
    [eth, token, lamports].map((asset) => [
      asset?.receivedCount,
      asset?.sentCount,
      asset?.refundedCount,
    ]),
  ).toEqual([
    [1, 1, 1],
    [1, 0, 0],
    [1, 1, 0],
  ])
})

/** Around the ends of months: when an order was made, and when its block was. */
const MOMENTS = [
  ['2026-01-31T23:59:50.000Z', '2026-02-01T00:00:02.000Z'],
  ['2026-02-28T23:59:50.000Z', '2026-02-28T23:59:59.999Z'],
  // Days later, and a proof that was presented afterwards.
  ['2026-02-27T12:00:00.000Z', '2026-03-03T12:00:00.000Z'],
  ['2026-03-01T00:00:00.000Z', '2026-02-28T23:59:59.000Z'],
] as const
const MONTHS = [
  ['2026-01-01', '2026-01-31'],
  ['2026-02-01', '2026-02-28'],
  ['2026-03-01', '2026-03-31'],
  ['2026-04-01', '2026-04-30'],
] as const

/** The entries of a month as the dashboard reads them, page by page. */
async function readEntries(
  from: string,
  to: string,
  now = Date.parse('2026-04-01T00:05:00Z'),
): Promise<PaymentRow[]> {
  const query = entriesQueryOf({ from, to }, now)
  const read: PaymentRow[] = []
  let cursor: string | null = null
  do {
    const page = await readList(
      opened.context,
      opened.actor,
      v.parse(endpoints.paymentList.query, { ...query, limit: '2', ...(cursor && { cursor }) }),
    )
    read.push(...page.payments.map((row) => v.parse(PaymentRow, parseJson(stringifyJson(row)))))
    cursor = page.nextCursor
  } while (cursor)
  return read
}

test.skipIf(!hledger)(
  `consecutive months together hold each payment exactly once, and add up to the whole${why}`,
  async () => {
    const whole = addUpWithHledger()
    for (const [index, { paymentId }] of rows.entries()) {
      const [created, block] = MOMENTS[index % MOMENTS.length] ?? expect.fail()
      await executeAsOwner(
        { target: opened.context.config.database, db: opened.context.db },
        `update service.payment set created_at = '${created}', block_time = '${block}' where id = '${paymentId}'`,
      )
    }
    const entries: string[] = []
    const sums: Balances = new Map()
    for (const [from, to] of MONTHS) {
      const month = await readEntries(from, to)
      for (const [, day = '', id = ''] of exported('hledger', month).matchAll(
        /^(\d{4}-\d{2}-\d{2}) [*!] \((\w+)\)/gm,
      )) {
        expect([from <= day && day <= to, id]).toEqual([true, id])
        entries.push(id)
      }
      for (const [key, atomic] of addUpWithHledger(month))
        sums.set(key, (sums.get(key) ?? 0n) + atomic)
    }
    const moved = rows.filter((row) => row.type !== 'external').map(({ paymentId }) => paymentId)
    expect(entries.toSorted()).toEqual(moved.toSorted())
    expect(sums).toEqual(whole)
  },
)

const HOUR_MS = 3_600_000
const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10)

/** Of a CSV file without quotes: the cells of the line that has this text. */
function cellsOf(csv: string, text: string): Record<string, string> {
  const [head = '', ...lines] = csv.trim().split('\r\n')
  const cells = lines.find((line) => line.includes(text))?.split(',') ?? []
  return Object.fromEntries(head.split(',').map((name, index) => [name, cells[index] ?? '']))
}

describe('money that is tied to its payment days after its block', () => {
  /** All entries, up to the clock of the service. */
  const entries = () =>
    readEntries('2026-01-01', dayOf(Date.now() + later), Date.now() + later + 1000)

  async function expectLate(paymentId: string, landed: Date, recorded: number): Promise<void> {
    const late = (await entries()).filter((row) => row.paymentId === paymentId)
    expect(late).toHaveLength(1)
    const text = exported('hledger', late)
    expect(text).toMatch(new RegExp(`^${dayOf(landed.getTime())} [*!] \\(${paymentId}\\)`, 'm'))
    const tag = /^ {4}; confirmed_at:(\S+)$/m.exec(text)?.[1] ?? ''
    expect(Date.parse(tag)).toBeGreaterThanOrEqual(recorded)
    expect(Date.parse(tag)).toBeLessThanOrEqual(Date.now() + later)
    expect(cellsOf(exported('journal', late), paymentId)).toMatchObject({
      date: landed.toISOString(),
      confirmed_at: tag,
    })
    expect(cellsOf(exported('csv', late), paymentId)).toMatchObject({
      block_time: landed.toISOString(),
      confirmed_at: tag,
    })
    expect(exported('json', late)).toContain(`"confirmed_at":"${tag}"`)
  }

  const blockTime = async (hash: Hex) => {
    const { blockNumber } = await evm.client.getTransactionReceipt({ hash })
    return new Date(Number((await evm.client.getBlock({ blockNumber })).timestamp) * 1000)
  }

  test('adds an entry on the day of its block, which says when it was recorded, and none while it is assigned alone', async () => {
    later = 0
    const paid = 7n * 10n ** 15n
    const { paymentId, lastValidBlockHeight } = await buildTransaction(
      opened.context,
      opened.actor,
      {
        walletAddress: customer.address,
        recipientAddress: shop.address,
        amount: '0.007',
        senderVerified: false,
      },
    )
    await evm.mine()
    const signature = await sendPlain(shop.address, paid)
    await follow()
    const height = Number(await evm.client.getBlockNumber())
    await evm.mine(lastValidBlockHeight - height + Math.ceil(60_000 / evm.network.blockTimeMs))
    later = 12 * 24 * HOUR_MS
    await settled(paymentId, 'expired')
    const list = async () => {
      const page = { limit: 100, offset: 0 }
      const { transfers } = await readUnmatched(opened.context, opened.actor, page)
      return transfers.filter((transfer) => transfer.signature === signature)
    }
    const [transfer] = await list()
    const id = transfer?.transferId ?? ''
    await assignUnmatched(
      opened.context,
      { actor: opened.actor, transferId: id },
      { paymentId, by: 'Ana' },
    )
    // In no book, and in the list that says so.
    expect(await list()).toMatchObject([
      { amountAtomic: paid.toString(), assigned: { paymentId, by: 'Ana' } },
    ])
    expect((await entries()).filter((row) => row.paymentId === paymentId)).toEqual([])

    const recorded = Date.now() + later
    const { attribution } = await readPaymentBody(opened.context, paymentId)
    const request: unknown = attribution.request
    const payerSignature = await customer.signTypedData(request as TypedDataDefinition)
    await reportSubmitted(opened.context, opened.actor, { paymentId, signature, payerSignature })
    await follow()
    await expectLate(paymentId, await blockTime(signature), recorded)
    expect(await list()).toEqual([])
  })

  test('adds an entry on the day of its block, which says when its proof was presented', async () => {
    later = 0
    const paid = 8n * 10n ** 15n
    const signature = await sendPlain(shop.address, paid)
    later = 20 * HOUR_MS
    const resource = 'https://shop.example/a'
    const recorded = Date.now() + later
    const { paymentId } = await receivePayment(opened.context, opened.actor, {
      walletAddress: shop.address,
      paymentProof: await proveTxid({
        payer: customer,
        payTo: shop.address,
        txRef: signature,
        network: evm.network.network,
        amount: paid,
        url: resource,
      }),
      expectedAmount: '0.008',
      resource,
      timeout: 10,
    })
    await expectLate(paymentId ?? '', await blockTime(signature), recorded)
  })
})
