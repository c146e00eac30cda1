import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPaymentId } from '#contract/payment.ts'
import {
  commitBefore,
  evmAddress,
  openLedger,
  transactionName,
  type LedgerFixture,
} from '#testing/ledger-fixture.ts'
import {
  ASSIGNED,
  claimAssigned,
  claimForOrder,
  closeUndelivered,
  confirmsOrder,
  consumeClaim,
  consumeOnce,
  extendClaims,
  findBroadcast,
  findClaim,
  findClaimKey,
  GRANTED,
  isProven,
  KEYLESS_SCOPE,
  readForeignReceipts,
  readUnprovenOrders,
  releaseAssigned,
  releaseClaim,
  reopenUndelivered,
  revokeGrant,
  takeClaim,
  wasGranted,
  yieldGrant,
  type Claimant,
  type OpenClaim,
} from './claims.ts'
import { insertPayment, lockPayment } from './payments.ts'
import { claim } from './schema/proof.ts'

/** A transfer is used up once, and what it pays for is granted once. */

const NETWORK = 'eip155:31337'
const LONG_AGO = new Date(0)

let ledger: LedgerFixture

beforeAll(async () => {
  ledger = await openLedger()
})
afterAll(() => ledger?.[Symbol.asyncDispose]())

const newKey = () => `txid:${transactionName()}`
const claimantOf = (accountId: string, exclusive = false): Claimant => ({
  scope: accountId,
  accountId,
  exclusive,
})
const own = (exclusive = false) => claimantOf(ledger.accountId, exclusive)
const others = (exclusive = false) => claimantOf(ledger.otherId, exclusive)
const transferOf = (key: string, paymentId: string) => ({ network: NETWORK, key, paymentId })

type Taking = Partial<Claimant> & { fingerprint?: string; attempt?: string }

const take = (key: string, taking: Taking = {}) =>
  takeClaim(ledger.db, { network: NETWORK, key, ...own(), fingerprint: 'f', ...taking })

async function lease(key: string, taking: Taking = {}): Promise<OpenClaim> {
  const answer = await take(key, taking)
  if (!answer.taken) throw new Error(`The claim of ${key} is another’s.`)
  return answer.lease
}

const find = (key: string, scope = ledger.accountId) =>
  findClaim(ledger.db, { network: NETWORK, key, scope })

async function endLease(key: string): Promise<void> {
  await ledger.db.update(claim).set({ leaseUntil: LONG_AGO }).where(eq(claim.key, key))
}

async function hasLease(key: string): Promise<boolean> {
  const { rows } = await ledger.db.execute<{ lives: boolean }>(
    sql`select lease_until > clock_timestamp() as lives from service.claim where key = ${key}`,
  )
  return rows[0]?.lives === true
}

const facts = (paymentId: string, transaction: string | null = null) => ({
  paymentId,
  fingerprint: 'g',
  checks: '["ok"]',
  transaction,
})

/** A payment that the call has used a transfer up for. */
async function settled(attempt = 'first call', transaction: string | null = null) {
  const key = newKey()
  const { id } = await ledger.add()
  const held = await lease(key, { attempt })
  expect(await consumeClaim(ledger.db, held, facts(id, transaction))).toBe(true)
  return { key, id, held }
}

describe('an attempt that takes a transfer', () => {
  test('has it until its lease ends; then the next one has it, by what that one asks', async () => {
    const key = newKey()
    expect(await take(key, { attempt: 'a' })).toEqual({
      taken: true,
      lease: { network: NETWORK, key, scope: ledger.accountId, attempt: 'a' },
    })
    expect(await hasLease(key)).toBe(true)
    expect(await take(key, { attempt: 'b', fingerprint: 'g' })).toMatchObject({
      taken: false,
      claim: { attempt: 'a', fingerprint: 'f' },
    })
    await endLease(key)
    expect(
      await take(key, { attempt: 'b', fingerprint: 'g', accountId: ledger.otherId }),
    ).toMatchObject({ taken: true, lease: { attempt: 'b' } })
    expect(await find(key)).toMatchObject({
      attempt: 'b',
      fingerprint: 'g',
      accountId: ledger.otherId,
      exclusive: false,
      paymentId: null,
    })
    expect(await hasLease(key)).toBe(true)
  })

  test('has a separate name where it brings none', async () => {
    const attempts = [await lease(newKey()), await lease(newKey())].map(({ attempt }) => attempt)
    for (const attempt of attempts) expect(attempt).toMatch(/^[0-9a-f-]{36}$/)
    expect(new Set(attempts).size).toBe(2)
  })

  test('for the owner of the payee has it for everybody; for any other account, for that account', async () => {
    const [shared, owned] = [newKey(), newKey()]
    expect(await take(shared)).toMatchObject({ taken: true })
    expect(await take(shared, others())).toMatchObject({ taken: true })
    expect(await take(owned, own(true))).toMatchObject({ taken: true })
    expect(await take(owned, others())).toMatchObject({
      taken: false,
      claim: { scope: ledger.accountId, exclusive: true },
    })
    const network = 'eip155:1'
    expect(
      await takeClaim(ledger.db, { network, key: owned, ...others(), fingerprint: 'f' }),
    ).toMatchObject({ taken: true })
  })

  test('has it for everybody, or another owner has it, where both take it at once', async () => {
    const key = newKey()
    const second = await commitBefore(
      ledger.db,
      (tx) => takeClaim(tx, { network: NETWORK, key, ...own(true), fingerprint: 'f' }),
      () => take(key, others(true)),
    )
    expect(second).toMatchObject({ taken: false, claim: { scope: ledger.accountId } })
  })

  test('of an account that is not there is an error, not the attempt of another', async () => {
    await expect(take(newKey(), claimantOf('acc_nobody'))).rejects.toThrow('Failed query')
  })

  test('gives back only what it has itself, and nothing that was used up', async () => {
    const key = newKey()
    const held = await lease(key)
    await releaseClaim(ledger.db, { ...held, attempt: 'another' })
    expect(await find(key)).toBeDefined()
    await releaseClaim(ledger.db, held)
    expect(await find(key)).toBeUndefined()
    const used = await settled()
    await releaseClaim(ledger.db, used.held)
    expect(await find(used.key)).toMatchObject({ paymentId: used.id })
  })

  test('has each transfer apart from others that attempts of its name have', async () => {
    const [key, other] = [newKey(), newKey()]
    const { id } = await ledger.add()
    const attempt = crypto.randomUUID()
    const held = await lease(key, { attempt })
    await lease(key, { attempt, ...others() })
    await lease(other, { attempt })
    await endLease(other)
    await extendClaims(ledger.db, [{ lease: held, waits: () => false }])
    expect(await hasLease(other)).toBe(false)
    expect(await consumeClaim(ledger.db, held, facts(id))).toBe(true)
    const unused = { attempt, consumedAt: null }
    expect(await find(key, ledger.otherId)).toMatchObject(unused)
    expect(await find(other)).toMatchObject(unused)
    await releaseClaim(ledger.db, { ...held, scope: ledger.otherId })
    expect(await find(key)).toMatchObject({ paymentId: id })
    expect(await find(other)).toMatchObject(unused)
  })

  test('extends what no other transaction has locked, without waiting for the rest', async () => {
    const [key, locked] = [newKey(), newKey()]
    const held = [await lease(key), await lease(locked)]
    for (const each of [key, locked]) await endLease(each)
    await ledger.db.transaction(async (tx) => {
      await tx.select().from(claim).where(eq(claim.key, locked)).for('update')
      await extendClaims(
        ledger.db,
        held.map((each) => ({ lease: each, waits: () => true })),
      )
    })
    expect(await hasLease(key)).toBe(true)
    expect(await hasLease(locked)).toBe(false)
  })

  test('extends its own lease alone; after the transfer is used up, while somebody waits for the outcome', async () => {
    const key = newKey()
    const held = await lease(key)
    const extended = async (by: OpenClaim, waits: boolean) => {
      await endLease(key)
      await extendClaims(ledger.db, [{ lease: by, waits: () => waits }])
      return hasLease(key)
    }
    const another = { ...held, attempt: 'another' }
    expect(await extended(another, false)).toBe(false)
    expect(await extended(another, true)).toBe(false)
    expect(await extended(held, false)).toBe(true)
    expect(await extended(held, true)).toBe(true)
    const { id } = await ledger.add()
    await consumeClaim(ledger.db, held, facts(id))
    expect(await extended(held, false)).toBe(false)
    expect(await extended(another, true)).toBe(false)
    expect(await extended(held, true)).toBe(true)
  })
})

describe('a transfer is used up', () => {
  test('once, by the attempt that has it, and stays so after every lease', async () => {
    const key = newKey()
    const [{ id }, other] = [await ledger.add(), await ledger.add()]
    const held = await lease(key)
    expect(await consumeClaim(ledger.db, { ...held, attempt: 'another' }, facts(id))).toBe(false)
    expect(await consumeClaim(ledger.db, held, facts(id, 'signed bytes'))).toBe(true)
    expect(await find(key)).toMatchObject({
      paymentId: id,
      fingerprint: 'g',
      checks: '["ok"]',
      transaction: 'signed bytes',
      attempt: held.attempt,
      consumedAt: expect.any(Date),
    })
    expect(await consumeClaim(ledger.db, held, facts(other.id))).toBe(false)
    await endLease(key)
    expect(await take(key)).toMatchObject({ taken: false, claim: { paymentId: id } })
  })

  test('by a proof of the order that it has confirmed, and by no proof of another payment', async () => {
    const key = newKey()
    const [order, other] = [await ledger.add(), await ledger.add()]
    await claimForOrder(ledger.db, own(true), transferOf(key, order.id))
    expect(await find(key)).toSatisfy(confirmsOrder)
    const held = await lease(key)
    expect(held).toMatchObject({ key, scope: ledger.accountId, order: order.id })
    expect(await take(key, others())).toMatchObject({
      taken: false,
      claim: { paymentId: order.id },
    })
    expect(await consumeClaim(ledger.db, held, facts(other.id))).toBe(false)
    expect(await find(key)).toMatchObject({ paymentId: order.id, fingerprint: '' })
    expect(await consumeClaim(ledger.db, held, facts(order.id))).toBe(true)
    const used = await find(key)
    expect(used).toMatchObject({ paymentId: order.id, fingerprint: 'g', checks: '["ok"]' })
    expect(used?.attempt).toMatch(/^[0-9a-f-]{36}$/)
    expect(used).not.toSatisfy(confirmsOrder)
    expect(await consumeClaim(ledger.db, held, facts(order.id))).toBe(false)
    expect(await take(key)).toMatchObject({ taken: false })
  })
})

describe('an order that a transfer confirms', () => {
  const confirm = (claimant: Claimant, key: string, paymentId: string) =>
    claimForOrder(ledger.db, claimant, transferOf(key, paymentId))
  const assign = (claimant: Claimant, key: string, paymentId: string) =>
    claimAssigned(ledger.db, claimant, transferOf(key, paymentId))

  test('uses it up, once, for nothing else', async () => {
    const key = newKey()
    const [order, other] = [await ledger.add(), await ledger.add()]
    expect(await confirm(own(true), key, order.id)).toBe('claimed')
    expect(await find(key)).toMatchObject({
      scope: ledger.accountId,
      accountId: ledger.accountId,
      exclusive: true,
      attempt: 'order',
      paymentId: order.id,
      fingerprint: '',
      checks: '[]',
      leaseUntil: expect.any(Date),
      consumedAt: expect.any(Date),
    })
    expect(await confirm(own(true), key, order.id)).toBe('claimed')
    expect(await confirm(own(true), key, other.id)).toBe('taken')
    expect(await confirm(others(), key, other.id)).toBe('taken')
    expect(await assign(own(true), key, other.id)).toBe('taken')
    expect(await assign(own(true), key, order.id)).toBe('claimed')
    expect(await find(key)).toMatchObject({ attempt: 'order', paymentId: order.id })
    expect(await ledger.db.$count(claim, eq(claim.key, key))).toBe(1)
  })

  test('waits for an attempt that looks at the transfer, and comes before one that has died', async () => {
    const key = newKey()
    const { id } = await ledger.add()
    const held = await lease(key)
    expect(await confirm(own(), key, id)).toBe('held')
    expect(await assign(own(), key, id)).toBe('held')
    expect(await find(key)).toMatchObject({ attempt: held.attempt, consumedAt: null })
    await endLease(key)
    expect(await confirm(own(), key, id)).toBe('claimed')
    expect(await find(key)).toMatchObject({ attempt: 'order', paymentId: id, checks: '[]' })
  })

  test('has none that a proof has used up, however long ago, unless it was used up for this order', async () => {
    const { key, id } = await settled()
    const other = await ledger.add()
    await endLease(key)
    expect(await confirm(own(), key, other.id)).toBe('taken')
    expect(await confirm(own(), key, id)).toBe('claimed')
    expect(await find(key)).toMatchObject({ paymentId: id, attempt: 'first call' })
  })

  test('has none that the owner of the payee takes at this moment', async () => {
    const key = newKey()
    const { id } = await ledger.add()
    const second = await commitBefore(
      ledger.db,
      (tx) => takeClaim(tx, { network: NETWORK, key, ...others(true), fingerprint: 'f' }),
      () => confirm(own(true), key, id),
    )
    expect(second).toBe('taken')
    expect(await find(key)).toMatchObject({ scope: ledger.otherId })
  })

  test('takes over what a person had assigned to another order; a further assignment does not', async () => {
    const key = newKey()
    const [first, second] = [await ledger.add(), await ledger.add()]
    const elsewhere = newKey()
    expect(await assign(own(), key, first.id)).toBe('claimed')
    expect(await find(key)).toMatchObject({ attempt: ASSIGNED, paymentId: first.id })
    expect(await assign(own(), key, first.id)).toBe('taken')
    expect(await assign(own(), key, second.id)).toBe('taken')
    expect(await assign(own(), elsewhere, first.id)).toBe('claimed')
    expect(await find(key)).toMatchObject({ attempt: ASSIGNED, paymentId: first.id })
    expect(await confirm(own(), key, second.id)).toBe('claimed')
    expect(await find(key)).toMatchObject({ attempt: 'order', paymentId: second.id })
    expect(await find(elsewhere)).toMatchObject({ attempt: ASSIGNED, paymentId: first.id })
  })

  test('keeps it when an assignment is undone; an assignment to this order alone is given back', async () => {
    const [key, confirmed] = [newKey(), newKey()]
    const [order, other] = [await ledger.add(), await ledger.add()]
    const scope = ledger.accountId
    await assign(own(), key, order.id)
    await releaseAssigned(ledger.db, { scope, ...transferOf(key, other.id) })
    expect(await find(key)).toMatchObject({ paymentId: order.id })
    await releaseAssigned(ledger.db, { scope, ...transferOf(key, order.id) })
    expect(await find(key)).toBeUndefined()
    await confirm(own(), confirmed, order.id)
    await releaseAssigned(ledger.db, { scope, ...transferOf(confirmed, order.id) })
    expect(await find(confirmed)).toMatchObject({ paymentId: order.id })
  })
})

test('what binds a scope is its own claim before the one that binds everybody', async () => {
  const key = newKey()
  expect(await find(key)).toBeUndefined()
  const mine = await lease(key)
  await take(key, { attempt: 'the owner’s', ...others(true) })
  expect(await find(key)).toMatchObject({ attempt: mine.attempt })
  // Its row comes after that of the owner now.
  const { id } = await ledger.add()
  expect(await consumeClaim(ledger.db, mine, facts(id))).toBe(true)
  expect(await find(key)).toMatchObject({ paymentId: id })
  expect(await find(key, ledger.otherId)).toMatchObject({ attempt: 'the owner’s' })
  expect(await find(key, KEYLESS_SCOPE)).toMatchObject({ attempt: 'the owner’s' })
})

test('a payment is proven by a proof that was used, not by what an order or a person did', async () => {
  const { db } = ledger
  const [confirmed, assigned] = [await ledger.add(), await ledger.add()]
  const read = async (id: string) => [await isProven(db, id), await findClaimKey(db, id)]
  expect(await read(confirmed.id)).toEqual([false, undefined])
  await claimForOrder(db, own(), transferOf(newKey(), confirmed.id))
  await claimAssigned(db, own(), transferOf(newKey(), assigned.id))
  expect(await read(confirmed.id)).toEqual([false, undefined])
  expect(await read(assigned.id)).toEqual([false, undefined])
  const { key, id } = await settled()
  expect(await read(id)).toEqual([true, key])
  await consumeOnce(db, { paymentId: id, attempt: 'first call' })
  expect(await read(id)).toEqual([true, key])
})

test('what the service broadcast for a transfer is named by the chain, or by what was sent', async () => {
  const { db } = ledger
  const broadcast = (key: string) => findBroadcast(db, { network: NETWORK, key })
  expect(await broadcast(newKey())).toBeNull()
  expect(await broadcast((await settled()).key)).toBeNull()
  for (const [signature, expected] of [
    [null, 'sent'],
    ['landed', 'landed'],
  ] as const) {
    const key = newKey()
    const { id } = await ledger.add({ mode: 'received', signature, reportedSignature: 'sent' })
    await consumeClaim(db, await lease(key), facts(id, 'signed bytes'))
    expect(await broadcast(key)).toBe(expected)
    expect(await findBroadcast(db, { network: 'eip155:1', key })).toBeNull()
  }
})

describe('a payment is granted', () => {
  const grant = (paymentId: string, attempt: string) =>
    consumeOnce(ledger.db, { paymentId, attempt })

  test('to the call that used the transfer up, as often as that asks, and to no other one', async () => {
    const { id, key } = await settled()
    expect(await grant(id, 'another call')).toBe('waiting')
    expect(await find(key)).toMatchObject({ attempt: 'first call', grantedCall: null })
    expect(await grant(id, 'first call')).toBe('granted')
    expect(await find(key)).toMatchObject({ attempt: GRANTED, grantedCall: 'first call' })
    expect(await hasLease(key)).toBe(false)
    expect(await find(key)).toSatisfy(wasGranted)
    expect(await grant(id, 'first call')).toBe('granted')
    expect(await grant(id, 'another call')).toBe('told_before')
    expect(await find(key)).toMatchObject({ grantedCall: 'first call' })
  })

  test('to another call once the first one has died, or has ended without a grant', async () => {
    const dead = await settled()
    await endLease(dead.key)
    expect(await grant(dead.id, 'another call')).toBe('granted')
    expect(await grant(dead.id, 'first call')).toBe('told_before')
    const ended = await settled()
    await yieldGrant(ledger.db, { paymentId: ended.id, attempt: 'another call' })
    expect(await grant(ended.id, 'another call')).toBe('waiting')
    await yieldGrant(ledger.db, { paymentId: ended.id, attempt: 'first call' })
    expect(await grant(ended.id, 'another call')).toBe('granted')
  })

  test('to nobody where a person assigned the transfer, or where all of it goes back', async () => {
    const assigned = await ledger.add()
    await claimAssigned(ledger.db, own(), transferOf(newKey(), assigned.id))
    expect(await grant(assigned.id, 'first call')).toBe('told_before')
    const { id } = await settled()
    const refund = { mode: 'hosted', refundOf: id, status: 'pending' } as const
    await ledger.add({ ...refund, amount: 10n ** 16n - 1n })
    expect(await grant(id, 'another call')).toBe('waiting')
    await ledger.add({ ...refund, amount: 1n })
    expect(await grant(id, 'first call')).toBe('told_before')
  })

  test('to nobody where a refund of all of it commits at this moment', async () => {
    const { id, key } = await settled()
    const { db } = ledger
    const told = await commitBefore(
      db,
      async (tx) => {
        const original = await lockPayment(tx, id)
        if (!original) throw new Error('Expected a payment.')
        const { accountId, network, asset, symbol, decimals, amount } = original
        const terms = { accountId, network, asset, symbol, decimals, amount }
        const parties = { sender: original.recipient, recipient: original.sender }
        const refund = { mode: 'hosted', refundOf: id, status: 'pending' } as const
        await insertPayment(tx, { id: createPaymentId(), ...terms, ...parties, ...refund })
      },
      () => grant(id, 'first call'),
    )
    expect(told).toBe('told_before')
    expect(await find(key)).not.toSatisfy(wasGranted)
  })

  test('again when the answer of the call that was granted was never written, and not when another call says so', async () => {
    const { id, key } = await settled()
    await grant(id, 'first call')
    await revokeGrant(ledger.db, { paymentId: id, attempt: 'another call' })
    expect(await grant(id, 'another call')).toBe('told_before')
    await revokeGrant(ledger.db, { paymentId: id, attempt: 'first call' })
    expect(await find(key)).not.toSatisfy(wasGranted)
    expect(await hasLease(key)).toBe(false)
    expect(await grant(id, 'another call')).toBe('granted')
    expect(await grant(id, 'first call')).toBe('told_before')
  })

  test('no longer once a person delivered it, until they undo that', async () => {
    const { db } = ledger
    const { id, key } = await settled()
    expect(await closeUndelivered(db, id)).toBe(false)
    expect(await reopenUndelivered(db, id)).toBe(false)
    await endLease(key)
    expect(await closeUndelivered(db, id)).toBe(true)
    expect(await find(key)).toSatisfy(wasGranted)
    expect(await closeUndelivered(db, id)).toBe(false)
    expect(await grant(id, 'first call')).toBe('told_before')
    expect(await reopenUndelivered(db, id)).toBe(true)
    expect(await find(key)).not.toSatisfy(wasGranted)
    expect(await grant(id, 'another call')).toBe('granted')
    expect(await closeUndelivered(db, id)).toBe(false)
    expect(await reopenUndelivered(db, id)).toBe(true)
    expect(await grant(id, 'first call')).toBe('granted')
  })

  test('and is closed only where a proof was settled', async () => {
    const { db } = ledger
    const [confirmed, assigned] = [await ledger.add(), await ledger.add()]
    await claimForOrder(db, own(), transferOf(newKey(), confirmed.id))
    await claimAssigned(db, own(), transferOf(newKey(), assigned.id))
    for (const { id } of [confirmed, assigned]) {
      expect(await closeUndelivered(db, id)).toBe(false)
      expect(await reopenUndelivered(db, id)).toBe(false)
    }
  })
})

test('an order that was confirmed without evidence is listed with those that the same transfer would have fitted', async () => {
  const { db } = ledger
  const terms = { sender: evmAddress(), recipient: evmAddress() }
  const [early, late] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-01-09T00:00:00Z')]
  const paid = await ledger.add({
    ...terms,
    status: 'finalized',
    evidence: 'unproven',
    signature: transactionName(),
    createdAt: early,
    confirmedAt: new Date('2026-01-02T00:00:00Z'),
  })
  await ledger.add({ ...terms, createdAt: early })
  await ledger.add({ ...terms, createdAt: late })
  await ledger.add({ ...terms, createdAt: early, amount: 5n })
  await ledger.add({ status: 'finalized', evidence: 'sender', signature: transactionName() })
  expect(await readUnprovenOrders(db)).toEqual([
    {
      paymentId: paid.id,
      accountId: ledger.accountId,
      network: paid.network,
      signature: paid.signature,
      ...terms,
      asset: paid.asset,
      amountAtomic: paid.amount.toString(),
      competing: 1,
    },
  ])
})

test('a received payment that an account recorded for the wallet of another one is listed with its owner', async () => {
  const { db } = ledger
  const [foreign, mine] = [evmAddress(), evmAddress()]
  await ledger.own(foreign, ledger.otherId)
  await ledger.own(mine)
  const recorded = await ledger.add({ mode: 'received', recipient: foreign })
  await ledger.add({ mode: 'received', recipient: mine })
  await ledger.add({ recipient: foreign })
  const { id: paymentId, network, signature, sender, recipient, asset, amount } = recorded
  expect(await readForeignReceipts(db)).toEqual([
    {
      paymentId,
      accountId: ledger.accountId,
      network,
      signature,
      sender,
      recipient,
      asset,
      amountAtomic: amount.toString(),
      ownerId: ledger.otherId,
    },
  ])
})
