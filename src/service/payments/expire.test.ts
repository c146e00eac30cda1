import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  evmAddress,
  inSol,
  openLedger,
  transactionName,
  transferOf,
  type LedgerFixture,
} from '#testing/ledger-fixture.ts'
import { SimulatedChain } from '#testing/simulated-chain.ts'
import type { Chain, MonitoredTransaction, Observation } from '../chains/chain.ts'
import { consumeClaim, takeClaim } from '../db/claims.ts'
import { findPayment, type NewPayment, type PaymentRecord } from '../db/payments.ts'
import { event, payment } from '../db/schema/payment.ts'
import { settlementFee } from '../db/schema/proof.ts'
import { reserveFee } from '../db/settlement-fees.ts'
import { expire, failPayment } from './expire.ts'

/** When a payment that was not seen, or was seen and is gone, is over. The chain says what the test says. */

const NOW = new Date('2026-03-01T12:00:00.000Z')
/** The last block in which it could land. */
const LAST = 110
const GRACE = 2
const FOR_LONG = 9_999
const HEIGHT = 12_345

let ledger: LedgerFixture

beforeAll(async () => {
  ledger = await openLedger()
})
afterAll(() => ledger?.[Symbol.asyncDispose]())

type Known = {
  /** Null on a chain that always gives the proof. */
  graceBlocks?: number | null
  /** Transactions by their names. */
  seen?: Record<string, Observation>
  /** Whether it proves that a payment can no longer land. */
  isOver?: (monitored: MonitoredTransaction) => boolean
  byMessage?: string | null | undefined
}

class KnownChain extends SimulatedChain {
  override readonly graceBlocks: number | null
  readonly #known: Known
  /** The transactions and messages that were asked for. */
  readonly asked: unknown[] = []

  constructor(known: Known) {
    super()
    this.#known = known
    this.graceBlocks = known.graceBlocks === undefined ? GRACE : known.graceBlocks
  }

  override observe: Chain['observe'] = (signature) => {
    this.asked.push(signature)
    return Promise.resolve(this.#known.seen?.[signature] ?? { state: 'not_found' })
  }

  override canNeverLand: Chain['canNeverLand'] = (monitored) =>
    Promise.resolve(this.#known.isOver?.(monitored) ?? false)

  override findByMessage: Chain['findByMessage'] = (query) => {
    this.asked.push(query)
    return Promise.resolve('byMessage' in this.#known ? this.#known.byMessage : null)
  }
}

const proven = () => true
const add = (row: Partial<NewPayment> = {}) => ledger.add({ lastValidBlockHeight: LAST, ...row })

function monitoredOf(row: PaymentRecord): MonitoredTransaction {
  const { id: paymentId, asset, sender, recipient, amount: amountAtomic, nonce, builtHeight } = row
  const terms = { paymentId, asset, sender, recipient, amountAtomic, nonce, builtHeight }
  const { lastValidBlockHeight, createdAt, reportedSignature: reported } = row
  return { ...terms, lastValidBlockHeight, createdAt, reported, open: true }
}

/** Looks at a payment when the chain is at a block. */
const look = (row: PaymentRecord, chain: Chain, blockHeight = FOR_LONG) =>
  expire(
    { db: ledger.db, now: () => NOW },
    {
      payment: row,
      monitored: monitoredOf(row),
      chain,
      head: { height: HEIGHT, blockHeight, finalizedHeight: 1, finalizedBlockHeight: 1 },
    },
  )
const ends = (row: PaymentRecord, known: Known, blockHeight?: number) =>
  look(row, new KnownChain(known), blockHeight)
const read = (id: string) => findPayment(ledger.db, id)
const eventsOf = (id: string) =>
  ledger.db.select().from(event).where(eq(event.paymentId, id)).orderBy(event.id)

const landed = (
  row: PaymentRecord,
  facts: Partial<Extract<Observation, { state: 'landed' }>> = {},
) =>
  ({
    state: 'landed',
    succeeded: true,
    height: 105,
    blockHash: '0xblock',
    confirmed: true,
    finalized: true,
    feeAtomic: 21n,
    feePayer: row.sender,
    blockTime: NOW,
    transfer: transferOf(row),
    failure: null,
    ...facts,
  }) as const

describe('a payment that nobody has seen expires', () => {
  test.each([
    ['not in its last block, whatever the chain proves', LAST, true, false],
    ['after its last block, where the chain proves that it cannot land', LAST + 1, true, true],
    ['not within the grace, where the chain proves nothing', LAST + GRACE, false, false],
    ['after the grace, whatever the chain proves', LAST + GRACE + 1, false, true],
  ])('%s', async (_, blockHeight, isProven, expires) => {
    const row = await add()
    expect(await ends(row, { isOver: () => isProven }, blockHeight)).toBe(expires)
    expect(await read(row.id)).toMatchObject({ status: expires ? 'expired' : 'created' })
  })

  test('with an event of the block that showed it, and without a failure', async () => {
    const row = await add()
    expect(await ends(row, {})).toBe(true)
    expect(await read(row.id)).toMatchObject({ status: 'expired', failure: null, updatedAt: NOW })
    expect(await eventsOf(row.id)).toMatchObject([
      {
        status: 'expired',
        kind: 'payment',
        source: 'watcher',
        accountId: ledger.accountId,
        blockHeight: HEIGHT,
        at: NOW,
      },
    ])
  })

  test('never where it has no last block', async () => {
    const row = await add({ lastValidBlockHeight: null })
    expect(await ends(row, { isOver: proven })).toBe(false)
  })

  test('by the proof alone where the chain always gives it', async () => {
    const row = await add(inSol())
    expect(await ends(row, { graceBlocks: null })).toBe(false)
    expect(await ends(row, { graceBlocks: null, isOver: proven })).toBe(true)
  })

  test('unless it is a refund on a chain that may never give the proof', async () => {
    const original = await add({ status: 'finalized' })
    const refund = { refundOf: original.id }
    const unseen = await add(refund)
    expect(await ends(unseen, { isOver: proven })).toBe(false)
    expect(await read(unseen.id)).toMatchObject({ status: 'created' })
    const sent = await add({ ...refund, status: 'pending' })
    expect(await ends(sent, { isOver: proven })).toBe(true)
    const onSolana = await add({ ...inSol(), ...refund })
    expect(await ends(onSolana, { graceBlocks: null, isOver: proven })).toBe(true)
    expect(await read(onSolana.id)).toMatchObject({ status: 'expired' })
  })
})

describe('a payment that was broadcast has failed', () => {
  test('once the chain proves that it cannot land, however long ago its last block was', async () => {
    const block = { blockHeight: 105, blockHash: '0xold', blockTime: NOW, fee: 5n }
    const row = await add({ status: 'pending', reportedSignature: transactionName(), ...block })
    expect(await ends(row, {})).toBe(false)
    expect(await read(row.id)).toMatchObject({ status: 'pending', blockHeight: 105 })
    expect(await ends(row, { isOver: proven })).toBe(true)
    expect(await read(row.id)).toMatchObject({
      status: 'failed',
      failure: expect.stringContaining('can no longer land: nothing was paid'),
      blockHeight: null,
      blockHash: null,
      blockTime: null,
      fee: null,
    })
    expect(await eventsOf(row.id)).toMatchObject([{ status: 'failed', blockHeight: HEIGHT }])
  })

  test('with the reason that the chain gives, where it gives one', async () => {
    const signature = transactionName()
    const row = await add({ status: 'pending', signature })
    const reverted = landed(row, { succeeded: false, failure: 'reverted' })
    expect(await ends(row, { seen: { [signature]: reverted }, isOver: proven })).toBe(true)
    expect(await read(row.id)).toMatchObject({ status: 'failed', failure: 'reverted' })
  })
})

describe('what the chain shows of its transaction', () => {
  const blockhash = { succeeded: false, failure: 'failed', failedBlockhash: 'hash' }
  const notFinal = { finalized: false }
  const keepsOpen = 'keeps it open'
  const endsIt = 'lets it end'

  test.each<[string, Partial<NewPayment>, 'pending' | Parameters<typeof landed>[1], string]>([
    ['a transfer that nothing ties to the order', {}, {}, endsIt],
    ['the same before it is final', {}, notFinal, keepsOpen],
    ['a transaction in the pool', {}, 'pending', keepsOpen],
    ['a transfer that is tied to the order', { evidence: 'sender' }, {}, keepsOpen],
    ['what the service signed', { mode: 'hosted', nonce: 7 }, {}, keepsOpen],
    ['what was presented as a proof', { mode: 'received' }, {}, keepsOpen],
    ['a final failure that moved nothing', { evidence: 'memo' }, blockhash, endsIt],
    ['the same before it is final', { evidence: 'memo' }, { ...blockhash, ...notFinal }, keepsOpen],
    ['such a failure of a proof', { mode: 'received' }, blockhash, keepsOpen],
  ])('%s', async (_, terms, shown, expected) => {
    const signature = transactionName()
    const row = await add({ status: 'pending', signature, ...terms })
    const seen: Observation =
      shown === 'pending' ? { state: 'pending', transfer: transferOf(row) } : landed(row, shown)
    const over = await ends(row, { seen: { [signature]: seen }, isOver: proven })
    expect(over ? endsIt : keepsOpen).toBe(expected)
  })

  test('counts for the transaction that the chain has shown, before the one that was reported', async () => {
    const [signature, reportedSignature] = [transactionName(), transactionName()]
    const shown = await add({ status: 'pending', signature, reportedSignature })
    const open = landed(shown, notFinal)
    expect(await ends(shown, { seen: { [signature]: open }, isOver: proven })).toBe(false)
    expect(await ends(shown, { seen: { [reportedSignature]: open }, isOver: proven })).toBe(true)
    const reported = await add({ status: 'pending', reportedSignature })
    expect(await ends(reported, { seen: { [reportedSignature]: open }, isOver: proven })).toBe(
      false,
    )
    const chain = new KnownChain({ isOver: proven })
    expect(await look(await add(), chain)).toBe(true)
    expect(chain.asked).toEqual([])
  })
})

describe('a transaction that names an order, and is final as another payment', () => {
  /** A payment of the same terms that was received by a proof. */
  async function received(row: PaymentRecord, facts: Partial<NewPayment> = {}): Promise<string> {
    const signature = transactionName()
    const { sender, recipient, network, asset, symbol, decimals, amount } = row
    const terms = { sender, recipient, network, asset, symbol, decimals, amount }
    await ledger.add({ mode: 'received', status: 'finalized', ...terms, signature, ...facts })
    return signature
  }
  const onlyThat = {
    graceBlocks: null,
    isOver: ({ taken }: MonitoredTransaction) => taken !== undefined,
  }

  test('keeps it open no longer', async () => {
    const row = await add(inSol())
    expect(await ends(row, onlyThat)).toBe(false)
    await received(row, { status: 'confirmed' })
    expect(await ends(row, onlyThat)).toBe(false)
    const signature = await received(row)
    const names: unknown[] = []
    const isOver = ({ taken }: MonitoredTransaction) => {
      names.push(taken)
      return taken?.includes(signature) === true
    }
    expect(await ends(row, { graceBlocks: null, isOver })).toBe(true)
    expect(names).toEqual([undefined, [signature]])
  })

  test('says nothing of what the service signed, nor on a chain whose nonces do', async () => {
    const hosted = await add({ ...inSol(), mode: 'hosted' })
    await received(hosted)
    expect(await ends(hosted, onlyThat)).toBe(false)
    const onEvm = await add({ status: 'pending' })
    await received(onEvm)
    expect(await ends(onEvm, { ...onlyThat, graceBlocks: GRACE })).toBe(false)
  })
})

describe('a payment that was presented as a proof', () => {
  /** One whose proof was used up under a key. */
  async function addUsed(key: string | undefined): Promise<PaymentRecord> {
    const row = await add({ ...inSol(), mode: 'received' })
    const { accountId, network, id: paymentId } = row
    if (key === undefined) return row
    const claimant = { scope: accountId, accountId, exclusive: false }
    const taken = await takeClaim(ledger.db, { network, key, ...claimant, fingerprint: 'f' })
    if (!taken.taken) throw new Error('Expected a new transfer.')
    const facts = { paymentId, fingerprint: 'f', checks: '[]', transaction: null }
    await consumeClaim(ledger.db, taken.lease, facts)
    return row
  }
  const newKey = (kind: 'message' | 'txid') => `${kind}:${transactionName()}`

  test('expires, and costs our wallet nothing, once its message has landed under no signature', async () => {
    const key = newKey('message')
    const row = await addUsed(key)
    const { id: paymentId, network, accountId, asset, sender, recipient, builtHeight } = row
    const fee = { paymentId, network, accountId, wallet: evmAddress(), feeAtomic: 9n }
    await reserveFee(ledger.db, fee)
    const chain = new KnownChain({ graceBlocks: null, isOver: proven })
    expect(await look(row, chain)).toBe(true)
    const messageHash = key.slice('message:'.length)
    expect(chain.asked).toEqual([{ asset, sender, recipient, builtHeight, messageHash }])
    expect(await read(row.id)).toMatchObject({ status: 'expired' })
    const [paid] = await ledger.db
      .select()
      .from(settlementFee)
      .where(eq(settlementFee.paymentId, paymentId))
    expect(paid).toMatchObject({ paid: 0n })
  })

  test('stays open while the chain does not know whether the message has landed', async () => {
    const row = await addUsed(newKey('message'))
    const known = { graceBlocks: null, isOver: proven, byMessage: undefined }
    expect(await ends(row, known)).toBe(false)
    expect(await read(row.id)).toMatchObject({ status: 'created' })
  })

  test('is confirmed where its message has landed under another signature', async () => {
    const row = await addUsed(newKey('message'))
    const byMessage = transactionName()
    const seen = { [byMessage]: landed(row, { finalized: false }) }
    expect(await ends(row, { graceBlocks: null, isOver: proven, byMessage, seen })).toBe(false)
    expect(await read(row.id)).toMatchObject({ status: 'confirmed', signature: byMessage })
    expect(await eventsOf(row.id)).toMatchObject([
      { status: 'pending', source: 'watcher' },
      { status: 'confirmed', source: 'watcher' },
      { kind: 'settlement' },
    ])
  })

  test('stays open while its message has landed under another signature in a block that does not count', async () => {
    const row = await addUsed(newKey('message'))
    await ledger.db.update(payment).set({ status: 'pending' }).where(eq(payment.id, row.id))
    const byMessage = transactionName()
    const seen = { [byMessage]: landed(row, { confirmed: false, finalized: false }) }
    const known = { graceBlocks: null, isOver: proven, byMessage, seen }
    expect(await ends({ ...row, status: 'pending' }, known)).toBe(false)
    expect(await read(row.id)).toMatchObject({ status: 'pending', failure: null })
  })

  test.each<[string, () => string | undefined]>([
    ['whose name says which transaction it is', () => newKey('txid')],
    ['that nothing was used up for', () => undefined],
  ])('%s expires without that question', async (_, key) => {
    const chain = new KnownChain({ graceBlocks: null, isOver: proven, byMessage: undefined })
    expect(await look(await addUsed(key()), chain)).toBe(true)
    expect(chain.asked).toEqual([])
  })
})

test('a payment that has changed since it was read does not end', async () => {
  const row = await add({ status: 'pending', signature: transactionName() })
  const change = (facts: Partial<PaymentRecord>) =>
    ledger.db.update(payment).set(facts).where(eq(payment.id, row.id))
  await change({ status: 'confirmed' })
  expect(await ends(row, { isOver: proven })).toBe(false)
  await change({ status: 'pending', signature: transactionName() })
  expect(await ends(row, { isOver: proven })).toBe(false)
  // Another transaction was reported or signed for it, which may still land.
  const { signature } = row
  await change({ signature, reportedSignature: transactionName() })
  expect(await ends(row, { isOver: proven })).toBe(false)
  await change({ reportedSignature: row.reportedSignature, lastValidBlockHeight: LAST + 1 })
  expect(await ends(row, { isOver: proven })).toBe(false)
  expect(await ends({ ...row, id: 'pay_1111111111111111111111' }, { isOver: proven })).toBe(false)
  expect(await read(row.id)).toMatchObject({ status: 'pending' })
  expect(await eventsOf(row.id)).toEqual([])
})

test('a hosted payment ends with its reason, in no block', async () => {
  const block = { blockHeight: 105, blockHash: '0xold', blockTime: NOW, fee: 5n }
  const row = await add({ mode: 'hosted', nonce: 7, status: 'pending', ...block })
  await ledger.db.transaction((tx) => failPayment(tx, row, { failure: 'Replaced.', at: NOW }))
  expect(await read(row.id)).toMatchObject({
    status: 'failed',
    failure: 'Replaced.',
    blockHeight: null,
    blockHash: null,
    fee: null,
    updatedAt: NOW,
  })
  expect(await eventsOf(row.id)).toMatchObject([
    {
      status: 'failed',
      source: 'watcher',
      accountId: ledger.accountId,
      blockHeight: null,
      at: NOW,
    },
  ])
})
