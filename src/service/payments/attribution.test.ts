import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Evidence } from '#contract/payment.ts'
import {
  ETHER,
  evmAddress,
  inSol,
  openLedger,
  transactionName,
  transferOf,
  type LedgerFixture,
} from '#testing/ledger-fixture.ts'
import { typedDataOf } from '#testing/typed-data.ts'
import type { ObservedTransfer, TransferBlock } from '../chains/chain.ts'
import { insertAttempt } from '../db/attempts.ts'
import { KEYLESS_SCOPE } from '../db/claims.ts'
import type { NewPayment, PaymentRecord } from '../db/payments.ts'
import {
  attribute,
  chooseOrder,
  claimantOf,
  claimantOfOrder,
  evidenceOf,
  evidenceRequest,
  findAdoptable,
  findHosted,
  fittingOrders,
  isAdoptable,
  isPayerSignature,
} from './attribution.ts'

/** Which order a transfer pays, by what only its payer can provide. No chain is asked. */

const NONCE = 7
const FEES = '9:1'
const BLOCK: TransferBlock = { height: 101, blockTime: null }
const RESOURCE = 'https://shop.example/a'

let ledger: LedgerFixture

beforeAll(async () => {
  ledger = await openLedger()
})
afterAll(() => ledger?.[Symbol.asyncDispose]())

const unproven = {
  id: 'pay_1',
  mode: 'local',
  network: ETHER.network,
  status: 'created',
  draft: false,
  senderVerified: false,
  fingerprint: null,
  payerNonce: null,
  payerSignature: null,
  builtHeight: 100,
  nonce: null,
  reportedSignature: null,
  signature: null,
  createdAt: new Date(1_000),
} satisfies Parameters<typeof evidenceOf>[0]
type Order = Parameters<typeof evidenceOf>[0]
const shown: ObservedTransfer = {
  sender: '0xpayer',
  recipient: '0xpayee',
  asset: ETHER.asset,
  amountAtomic: 1n,
  memo: null,
  nonce: NONCE,
  fingerprint: FEES,
}

describe('of one order', () => {
  const signed = { payerSignature: '0x1', payerNonce: NONCE }

  test.each<[Evidence | null, string, Partial<Order>, Partial<ObservedTransfer>, boolean]>([
    ['hosted', 'what the service signed', { mode: 'hosted' }, {}, false],
    ['memo', 'a memo on Solana', { network: 'solana:x' }, {}, false],
    ['payer_signature', 'its payer’s signature', { ...signed, senderVerified: true }, {}, true],
    [null, 'a signature for another nonce', { ...signed, payerNonce: 8 }, {}, false],
    [null, 'a signature for no nonce', { ...signed, payerNonce: null }, { nonce: null }, false],
    ['fingerprint', 'its fees', { fingerprint: FEES, senderVerified: true }, {}, true],
    [null, 'other fees', { fingerprint: '9:2' }, {}, false],
    [null, 'fees that are not known', { fingerprint: null }, {}, false],
    ['fingerprint', 'the nonce of one with its fees', { payerNonce: NONCE }, {}, false],
    [null, 'another nonce than that', { payerNonce: 8 }, {}, false],
    [null, 'no nonce at all', {}, { nonce: null }, false],
    ['sender', 'a sender who has signed in', { senderVerified: true }, {}, false],
    ['sender', 'the same in a draft', { senderVerified: true, draft: true }, {}, false],
    ['sender', 'a wallet of the account', {}, {}, true],
    [null, 'a wallet of the account that a visitor named', { draft: true }, {}, true],
    [null, 'its parties and its amount', {}, {}, false],
  ])('the evidence is %s for %s', (evidence, _, order, transfer, senderOwned) => {
    const seen = { transfer: { ...shown, ...transfer }, senderOwned }
    expect(evidenceOf({ ...unproven, ...order }, seen)).toBe(evidence)
  })
})

describe('of several orders', () => {
  const choose = (orders: readonly Partial<Order>[], senderOwned = true) => {
    const choice = chooseOrder(
      orders.map((order) => ({ ...unproven, ...order })),
      { transfer: shown, signature: 'S', senderOwned },
    )
    return choice && { evidence: choice.evidence, ids: choice.orders.map(({ id }) => id) }
  }

  test('none is chosen without evidence', () => {
    expect(choose([])).toBeNull()
    expect(choose([{}, {}], false)).toBeNull()
  })

  test('the one with the strongest evidence is chosen, wherever it stands', () => {
    const strongestFirst: (Partial<Order> & { id: string })[] = [
      { id: 'hosted', mode: 'hosted' },
      { id: 'memo', network: 'solana:x' },
      { id: 'payer_signature', payerSignature: '0x1', payerNonce: NONCE },
      { id: 'fingerprint', fingerprint: FEES },
      { id: 'sender' },
    ]
    for (const [index, { id }] of strongestFirst.entries()) {
      const rest = strongestFirst.slice(index)
      expect(choose(rest)).toEqual({ evidence: id, ids: [id] })
      expect(choose(rest.toReversed())).toEqual({ evidence: id, ids: [id] })
    }
  })

  test('of one payer it is the one that the transaction has paid, else the one reported with it, else the one with its nonce', () => {
    const paid = { id: 'paid', signature: 'S', status: 'expired' } as const
    const reported = { id: 'reported', reportedSignature: 'S', status: 'expired' } as const
    const nonce = { id: 'nonce', nonce: NONCE }
    const open = { id: 'open' }
    const lateNonce = { id: 'late nonce', nonce: NONCE, status: 'expired' } as const
    const late = { id: 'late', status: 'expired' } as const
    const ranked = [paid, reported, nonce, open, lateNonce, late]
    for (const [index, { id }] of ranked.entries()) {
      const rest: Partial<Order>[] = ranked.slice(index)
      expect(choose(rest)?.ids[0]).toBe(id)
      expect(choose(rest.toReversed())?.ids[0]).toBe(id)
    }
    expect(choose(ranked)?.ids).toEqual(['paid'])
  })

  test('of equal ones it is the newest, and of those made at once the one with the last id', () => {
    const at = (ms: number) => ({ createdAt: new Date(ms) })
    const orders = [
      { id: 'b', ...at(1) },
      { id: 'c', ...at(2) },
      { id: 'a', ...at(2) },
      { id: 'd', ...at(2) },
    ]
    expect(choose(orders)?.ids).toEqual(['d', 'c', 'a', 'b'])
    expect(choose(orders.toReversed())?.ids).toEqual(['d', 'c', 'a', 'b'])
  })
})

type Seen = {
  transfer?: Partial<ObservedTransfer>
  signature?: string
  block?: TransferBlock | null
}

const attributed = (row: PaymentRecord, { transfer, signature, block = BLOCK }: Seen = {}) =>
  attribute(ledger.db, row, {
    transfer: transferOf(row, { fingerprint: FEES, ...transfer }),
    signature: signature ?? transactionName(),
    block,
  })
const verified = (row: Partial<NewPayment> = {}) => ledger.add({ senderVerified: true, ...row })

/** A hosted payment, and the name of the transaction that the service signed for it. */
async function addHosted(row: Partial<NewPayment> = {}) {
  const signature = transactionName()
  const hosted = await ledger.add({ mode: 'hosted', nonce: NONCE, ...row })
  const { id: paymentId, network } = hosted
  const attempt = { paymentId, network, signature, signedTransaction: '', maxFee: 1n }
  await insertAttempt(ledger.db, { ...attempt, number: 1 })
  return { hosted, signature }
}

describe('a transfer is tied to an order', () => {
  test('that the service signed for, or that a memo on Solana names, whatever other orders there are', async () => {
    const { hosted } = await addHosted()
    expect(await attributed(hosted)).toBe('hosted')
    expect(await attributed(await ledger.add(inSol()))).toBe('memo')
    expect(await attributed(await ledger.add({ mode: 'received' }))).toBeNull()
  })

  test('of the account that owns its sender, not of another account', async () => {
    const [sender, foreign] = [evmAddress(), evmAddress()]
    await ledger.own(sender)
    await ledger.own(foreign, ledger.otherId)
    expect(await attributed(await ledger.add({ sender }))).toBe('sender')
    expect(await attributed(await ledger.add({ sender, draft: true, amount: 5n }))).toBeNull()
    expect(await attributed(await ledger.add({ sender: foreign }))).toBeNull()
    expect(await attributed(await ledger.add())).toBeNull()
  })

  test('unless the service signed it for a hosted payment, of any account', async () => {
    const { signature } = await addHosted({ accountId: ledger.otherId })
    const row = await verified()
    expect(await attributed(row, { signature })).toBeNull()
    expect(await attributed(row)).toBe('sender')
  })

  test('unless another one of its account has stronger evidence for it', async () => {
    const order = await verified()
    const { sender, recipient } = order
    const rival = await ledger.add({ sender, recipient, fingerprint: FEES })
    expect(await attributed(order)).toBeNull()
    expect(await attributed(rival)).toBe('fingerprint')
    expect(await attributed(order, { transfer: { fingerprint: '9:2' } })).toBe('sender')
  })

  test.each<[string, Partial<ObservedTransfer>, Partial<NewPayment>, Evidence]>([
    [
      'a signature for its nonce',
      {},
      { payerSignature: '0x1', payerNonce: NONCE },
      'payer_signature',
    ],
    ['the nonce of one with its fees', {}, { payerNonce: NONCE }, 'fingerprint'],
    ['its fees', { nonce: null }, { fingerprint: FEES }, 'fingerprint'],
    [
      'a sender who has signed in',
      { nonce: null, fingerprint: '9:2' },
      { senderVerified: true },
      'sender',
    ],
  ])('by %s', async (_, transfer, row, evidence) => {
    expect(await attributed(await ledger.add(row), { transfer })).toBe(evidence)
  })

  test('that was built before it, by the height or the time of its block; with its fees, in any block', async () => {
    const early = { height: 100, blockTime: null }
    const young = { height: 100, blockTime: new Date('2026-01-02T00:00:00Z') }
    const order = await verified({ createdAt: new Date('2026-01-01T00:00:00Z') })
    expect(await attributed(order, { block: early })).toBeNull()
    expect(await attributed(order, { block: young })).toBe('sender')
    expect(await attributed(order, { block: { ...young, blockTime: order.createdAt } })).toBeNull()
    expect(await attributed(order, { block: null })).toBe('sender')
    const fees = await ledger.add({ fingerprint: FEES })
    expect(await attributed(fees, { block: early })).toBe('fingerprint')
    const faster = await ledger.add({ payerNonce: NONCE })
    expect(await attributed(faster, { block: early })).toBe('fingerprint')
    const signed = await ledger.add({ payerNonce: NONCE, payerSignature: '0x1' })
    expect(await attributed(signed, { block: early })).toBeNull()
  })

  const takes = 'has it instead'
  const leaves = 'leaves it'
  const elsewhere = { network: 'eip155:1', asset: evmAddress() }

  test.each<[string, (rival: { accountId: string }) => Partial<NewPayment>, string]>([
    ['with the same terms', () => ({}), takes],
    ['of another account', ({ accountId }) => ({ accountId }), leaves],
    ['of another payer', () => ({ sender: evmAddress() }), leaves],
    ['to another payee', () => ({ recipient: evmAddress() }), leaves],
    ['on another network', () => ({ network: elsewhere.network }), leaves],
    ['of another asset', () => ({ asset: elsewhere.asset }), leaves],
    ['of another amount', () => ({ amount: 5n }), leaves],
    ['that a proof was presented for', () => ({ mode: 'received' }), leaves],
    ['that is under way', () => ({ status: 'pending' }), takes],
    [
      'that was rolled back',
      () => ({ status: 'rolled_back', signature: transactionName() }),
      takes,
    ],
    ['that has expired', () => ({ status: 'expired' }), takes],
    ['that is paid', () => ({ status: 'confirmed' }), leaves],
    ['that is finally paid', () => ({ status: 'finalized' }), leaves],
    ['that has failed', () => ({ status: 'failed' }), leaves],
    [
      'that another transaction pays',
      () => ({ status: 'pending', signature: transactionName() }),
      leaves,
    ],
  ])('but an equal order with its fees, %s, %s', async (_, change, expected) => {
    const order = await verified()
    const { sender, recipient } = order
    const terms = { sender, recipient, fingerprint: FEES }
    await ledger.add({ ...terms, ...change({ accountId: ledger.otherId }) })
    expect((await attributed(order)) === null ? takes : leaves).toBe(expected)
  })

  test('also where the order has this very transaction already', async () => {
    const signature = transactionName()
    const order = await verified({ status: 'pending', signature })
    expect(await attributed(order, { signature })).toBe('sender')
  })
})

describe('a proof for a resource adopts', () => {
  type Presented = Seen & { resource?: string | null; accountId?: string }
  const adopt = (row: PaymentRecord, { transfer, resource = RESOURCE, ...seen }: Presented = {}) =>
    findAdoptable(ledger.db, {
      accountId: seen.accountId ?? ledger.accountId,
      network: row.network,
      resource,
      transfer: transferOf(row, { fingerprint: FEES, ...transfer }),
      signature: seen.signature ?? transactionName(),
      block: seen.block === undefined ? BLOCK : seen.block,
    }).then((found) => found?.id)
  const byFees = (row: Partial<NewPayment> = {}) =>
    ledger.add({ fingerprint: FEES, resource: RESOURCE, ...row })
  const linked = { metadata: JSON.stringify({ paymentLink: 'abc' }) }

  test('the order that was built for it, where the transfer is tied to that', async () => {
    const order = await byFees({ metadata: JSON.stringify({ description: 'A' }) })
    expect(await adopt(order)).toBe(order.id)
    expect(await adopt(order, { resource: 'https://shop.example/b' })).toBeUndefined()
    expect(await adopt(order, { resource: null })).toBeUndefined()
    expect(await adopt(order, { accountId: ledger.otherId })).toBeUndefined()
    expect(await adopt(order, { transfer: { fingerprint: '9:2' } })).toBeUndefined()
    const link = await byFees(linked)
    expect(await adopt(link)).toBeUndefined()
  })

  test('no order that its transfer pays only by the wallet of its sender, unless the account owns that', async () => {
    const sender = evmAddress()
    const order = await ledger.add({ sender, resource: RESOURCE })
    expect(await adopt(order)).toBeUndefined()
    await ledger.own(sender)
    expect(await adopt(order)).toBe(order.id)
    const foreign = evmAddress()
    await ledger.own(foreign, ledger.otherId)
    expect(await adopt(await ledger.add({ sender: foreign, resource: RESOURCE }))).toBeUndefined()
  })

  test('the one of its resource, whatever other orders the transfer fits better', async () => {
    const order = await verified({ resource: RESOURCE })
    const { sender, recipient } = order
    await byFees({ sender, recipient, resource: 'https://shop.example/b' })
    expect(await adopt(order)).toBe(order.id)
  })

  test('the hosted payment that the service signed the transaction for, and no order beside it', async () => {
    const { hosted, signature } = await addHosted({ resource: RESOURCE })
    expect(await adopt(hosted, { signature })).toBe(hosted.id)
    expect(await adopt(hosted, { signature, resource: 'https://shop.example/b' })).toBeUndefined()
    expect(await adopt(hosted, { signature, accountId: ledger.otherId })).toBeUndefined()
    expect(await adopt(hosted, { signature, transfer: { nonce: 8 } })).toBeUndefined()
    const order = await byFees()
    expect(await adopt(order, { signature })).toBeUndefined()
  })

  test('on Solana the order that the memo names, once', async () => {
    const signature = transactionName()
    const order = await ledger.add({ ...inSol(), resource: RESOURCE })
    const named = (row: PaymentRecord, presented: Presented = {}) =>
      adopt(row, {
        signature,
        ...presented,
        transfer: { memo: row.id, nonce: null, ...presented.transfer },
      })
    expect(await named(order)).toBe(order.id)
    expect(await named(order, { transfer: { memo: null } })).toBeUndefined()
    expect(await named(order, { transfer: { memo: 'pay_1111111111111111111111' } })).toBeUndefined()
    expect(await named(order, { accountId: ledger.otherId })).toBeUndefined()
    expect(await named(order, { resource: 'https://shop.example/b' })).toBeUndefined()
    expect(await named(order, { transfer: { amountAtomic: 5n } })).toBeUndefined()
    const link = await ledger.add({ ...inSol(), resource: RESOURCE, ...linked })
    expect(await named(link)).toBeUndefined()
    const received = await ledger.add({ ...inSol(), resource: RESOURCE, mode: 'received' })
    expect(await named(received)).toBeUndefined()
    const paid = await ledger.add({ ...inSol(), resource: RESOURCE, signature })
    expect(await named(paid)).toBe(paid.id)
    expect(await named(paid, { signature: transactionName() })).toBeUndefined()
  })
})

test('an order that names no resource, or that belongs to a payment link, is adopted by nothing', () => {
  const plain = { resource: RESOURCE, metadata: null }
  expect(isAdoptable(plain, RESOURCE)).toBe(true)
  expect(isAdoptable(plain, null)).toBe(false)
  expect(isAdoptable({ ...plain, resource: null }, null)).toBe(false)
  expect(isAdoptable({ ...plain, resource: null }, RESOURCE)).toBe(false)
  expect(isAdoptable({ ...plain, metadata: '{"referenceId":"1"}' }, RESOURCE)).toBe(true)
  expect(isAdoptable({ ...plain, metadata: '{"paymentLink":"1"}' }, RESOURCE)).toBe(false)
})

test('what the service signed is found by its transaction on its network', async () => {
  const { hosted, signature } = await addHosted()
  expect(await findHosted(ledger.db, hosted.network, signature)).toMatchObject({ id: hosted.id })
  expect(await findHosted(ledger.db, 'eip155:1', signature)).toBeUndefined()
  expect(await findHosted(ledger.db, hosted.network, transactionName())).toBeUndefined()
  const settlement = await addHosted({ mode: 'received' })
  expect(await findHosted(ledger.db, hosted.network, settlement.signature)).toBeUndefined()
})

test('the candidates for unmatched money are unpaid orders from before it, the oldest first and drafts last, at most 50', async () => {
  const terms = { sender: evmAddress(), recipient: evmAddress() }
  const at = (day: number) => new Date(Date.UTC(2026, 0, day))
  const draft = await ledger.add({ ...terms, draft: true, createdAt: at(1) })
  const second = await ledger.add({ ...terms, createdAt: at(3) })
  const first = await ledger.add({ ...terms, createdAt: at(2) })
  await ledger.add({ ...terms, createdAt: at(1), signature: transactionName(), status: 'pending' })
  await ledger.add({ ...terms, createdAt: at(4), builtHeight: 101 })
  const find = async (block = BLOCK) => {
    const { accountId, network } = first
    const unmatched = { transfer: transferOf(first), block }
    return (await fittingOrders(ledger.db, { accountId, network }, unmatched)).map(({ id }) => id)
  }
  expect(await find()).toEqual([first.id, second.id, draft.id])
  expect(await find({ height: 101, blockTime: at(5) })).toHaveLength(4)
  for (let index = 0; index < 50; index++) await ledger.add({ ...terms, createdAt: at(5) })
  const most = await find()
  expect(most).toHaveLength(50)
  expect(most).not.toContain(draft.id)
})

describe('a transfer is used up', () => {
  const network = ETHER.network
  const claimant = (actor: { accountId: string; keyless?: boolean }, address: string) =>
    claimantOf(ledger.db, actor, { network, address })

  test('by its payee’s owner for everybody, and by anybody for themselves where there is no owner', async () => {
    const [owned, free] = [evmAddress(), evmAddress()]
    const { accountId, otherId } = ledger
    await ledger.own(owned)
    expect(await claimant({ accountId }, owned)).toEqual({
      scope: accountId,
      accountId,
      exclusive: true,
    })
    const alone = { scope: otherId, accountId: otherId, exclusive: false }
    expect(await claimant({ accountId: otherId }, free)).toEqual(alone)
    expect(await claimant({ accountId, keyless: true }, free)).toEqual({
      scope: KEYLESS_SCOPE,
      accountId,
      exclusive: false,
    })
    const refused = {
      code: 'FORBIDDEN',
      message: expect.stringContaining(owned),
      facts: {
        details: {
          reason: { code: 'payee_not_owned' },
          walletAddress: expect.stringContaining('wallet of this account'),
        },
      },
    }
    await expect(claimant({ accountId: otherId }, owned)).rejects.toMatchObject(refused)
    await expect(claimant({ accountId, keyless: true }, owned)).rejects.toMatchObject(refused)
  })

  test('by the order of its payee, not by the payer’s own record of it', async () => {
    const [owned, foreign] = [evmAddress(), evmAddress()]
    const { accountId } = ledger
    await ledger.own(owned)
    await ledger.own(foreign, ledger.otherId)
    const claimantFor = async (recipient: string) =>
      claimantOfOrder(ledger.db, await ledger.add({ recipient }))
    expect(await claimantFor(owned)).toEqual({ scope: accountId, accountId, exclusive: true })
    expect(await claimantFor(evmAddress())).toEqual({
      scope: accountId,
      accountId,
      exclusive: false,
    })
    expect(await claimantFor(foreign)).toBeNull()
  })
})

describe('what a payer signs', () => {
  const deployment = `0x${'ab'.repeat(32)}`
  const payer = privateKeyToAccount(generatePrivateKey())
  const row = {
    ...unproven,
    ...ETHER,
    id: 'pay_1111111111111111111111',
    sender: payer.address,
    recipient: evmAddress(),
    nonce: 3,
  } as unknown as PaymentRecord

  test('names the order, its terms and the nonce of the transaction', () => {
    expect(evidenceRequest(row, deployment)).toMatchObject({
      domain: { chainId: 31_337, salt: deployment },
      message: {
        paymentId: row.id,
        sender: row.sender,
        nonce: '3',
        recipient: row.recipient,
        asset: row.asset,
        amount: row.amount.toString(),
      },
    })
    expect(evidenceRequest(row, deployment, NONCE)?.message.nonce).toBe('7')
  })

  test('is nothing where an order needs no signature, or has no nonce yet', () => {
    expect(evidenceRequest({ ...row, mode: 'hosted' }, deployment)).toBeNull()
    expect(evidenceRequest({ ...row, ...inSol() }, deployment)).toBeNull()
    expect(evidenceRequest({ ...row, nonce: null }, deployment)).toBeNull()
  })

  test('is believed of the order’s sender alone, for that nonce, order and deployment', async () => {
    const request = evidenceRequest(row, deployment, NONCE)
    if (!request) throw new Error('Expected a request.')
    const signature = await payer.signTypedData(typedDataOf(request))
    const signed = { nonce: NONCE, signature }
    expect(isPayerSignature(row, deployment, signed)).toBe(true)
    expect(isPayerSignature(row, deployment, { ...signed, nonce: 8 })).toBe(false)
    expect(isPayerSignature(row, `0x${'cd'.repeat(32)}`, signed)).toBe(false)
    expect(isPayerSignature({ ...row, id: 'pay_2' }, deployment, signed)).toBe(false)
    expect(isPayerSignature({ ...row, mode: 'hosted' }, deployment, signed)).toBe(false)
    const stranger = await privateKeyToAccount(generatePrivateKey()).signTypedData(
      typedDataOf(request),
    )
    expect(isPayerSignature(row, deployment, { ...signed, signature: stranger })).toBe(false)
  })
})
