import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { HostedIntent } from '#contract/hosted-intent.ts'
import { createPaymentId } from '#contract/payment.ts'
import { startEpoch } from '#service/db/deployment.ts'
import type { NewPayment, PaymentRecord } from '#service/db/payments.ts'
import { payment } from '#service/db/schema/payment.ts'
import { backUp, putBack } from '#testing/database-copy.ts'
import { ETH, HostedFixture, hostedJson, reasonOf } from '#testing/hosted-fixture.ts'

let hosted: HostedFixture

/** Nothing is certain, and the same request may be asked again. */
const UNKNOWN = { state: 'unknown', paymentId: null, restoredAt: null }

beforeAll(async () => {
  hosted = await HostedFixture.open()
})
beforeEach(() => hosted.openTill())
afterAll(() => hosted?.[Symbol.asyncDispose]())

test('a payment whose answer got lost is unknown until the service tells; then it is one payment', async () => {
  const intent = await hosted.prepared()
  const signature = await hosted.sign(intent)
  await hosted.fixture.stopService()
  const lost = await hosted.send(intent.nonce, signature)
  expect(hostedJson(lost)).toEqual(UNKNOWN)
  expect(await hosted.spent()).toBe((ETH / 2n).toString())
  await hosted.fixture.startService()
  // The first request may be under way.
  expect(hostedJson(await hosted.send(intent.nonce, signature))).toEqual(hostedJson(lost))
  expect(await hosted.paidOut()).toBe(0)
  hosted.pass(20_000)
  const found = await hosted.send(intent.nonce, signature)
  expect(hostedJson(found).state).toBe('sent')
  expect(await hosted.paidOut()).toBe(1)
})

test('a payment that never reached the service is, when its time is long over, certainly not made, and its cap is free', async () => {
  const intent = await hosted.prepared()
  const signature = await hosted.sign(intent)
  await hosted.fixture.stopService()
  await hosted.send(intent.nonce, signature)
  await hosted.fixture.startService()
  hosted.pass(6 * 60_000)
  const open = await hosted.send(intent.nonce, signature)
  expect(hostedJson(open)).toEqual(UNKNOWN)
  hosted.pass(2 * 60_000)
  expect(reasonOf(await hosted.send(intent.nonce, signature))).toBe('hosted_not_sent')
  expect(await hosted.spent()).toBe('0')
  expect(await hosted.paidOut()).toBe(0)
})

test('a payment whose response was lost is unknown; a repetition finds it sent and pays nothing more', async () => {
  const { intent, signature } = await loseAnswer()
  hosted.pass(20_000)
  expect(hostedJson(await hosted.send(intent.nonce, signature)).state).toBe('sent')
  expect(await hosted.paidOut()).toBe(1)
})

test('a refusal of the first request is not certain once the same payment was asked for again: it may have been made', async () => {
  const intent = await hosted.prepared()
  const signature = await hosted.sign(intent)
  const before = await hosted.spent()
  let refuse = (): void => {}
  const refused = new Promise<void>((resolve) => (refuse = resolve))
  await using lossy = await openLossy(hosted.fixture.service.url, refused)
  await restartBff({ serviceUrl: lossy.url })
  // The service refuses it and frees its key, and the refusal is slow to arrive.
  const first = hosted.send(intent.nonce, signature)
  await expect.poll(() => lossy.asked()).toBe(1)
  hosted.pass(20_000)
  // Meanwhile the second one is paid, and its answer is lost.
  expect(hostedJson(await hosted.send(intent.nonce, signature))).toEqual(UNKNOWN)
  expect(lossy.asked()).toBe(2)
  refuse()
  expect(hostedJson(await first)).toEqual(UNKNOWN)
  expect([before, await hosted.spent()]).toEqual(['0', (ETH / 2n).toString()])
  await restartBff()
  expect(hostedJson(await hosted.send(intent.nonce, signature)).state).toBe('sent')
  expect(await hosted.paidOut()).toBe(1)
})

test('a payment that was made is found among more of its wallet than one page holds, when it is too late to ask again', async () => {
  const { intent, signature } = await loseAnswer()
  const { db } = hosted.fixture.service.context
  const [made] = await db.select().from(payment).where(eq(payment.sender, hosted.managed))
  if (!made) throw new Error('The service kept no payment.')
  await db.insert(payment).values(Array.from({ length: PAGE }, () => newerThan(made)))
  hosted.pass(8 * 60_000)
  expect(hostedJson(await hosted.send(intent.nonce, signature))).toEqual({
    state: 'sent',
    paymentId: made.id,
    restoredAt: null,
  })
  expect(await hosted.spent()).toBe((ETH / 2n).toString())
})

test('a payment that the service made and lost with its database is never called unsent: after a restore it may have been made', async () => {
  const { target, db } = {
    target: hosted.fixture.service.context.config.database,
    db: hosted.fixture.service.context.db,
  }
  await backUp({ target, db })
  const { intent, signature } = await loseAnswer()
  expect(await hosted.paidOut()).toBe(1)
  await putBack({ target, db })
  await startEpoch(db)
  await hosted.fixture.stopService()
  await hosted.fixture.startService()
  hosted.pass(6 * 60_000)
  // It may be under way.
  expect(hostedJson(await hosted.send(intent.nonce, signature))).toEqual(UNKNOWN)
  hosted.pass(2 * 60_000)
  const forgotten = { ...UNKNOWN, restoredAt: expect.any(Number) }
  for (const time of [1, 2])
    expect(hostedJson(await hosted.send(intent.nonce, signature)), `time ${time}`).toEqual(
      forgotten,
    )
  expect(await hosted.spent()).toBe((ETH / 2n).toString())
  // What was prepared long after the restore is told as before.
  hosted.pass(2 * 3_600_000)
  await hosted.browser.signIn(hosted.operator)
  const next = await hosted.prepared()
  const signed = await hosted.sign(next)
  await hosted.fixture.stopService()
  await hosted.send(next.nonce, signed)
  await hosted.fixture.startService()
  hosted.pass(8 * 60_000)
  expect(reasonOf(await hosted.send(next.nonce, signed))).toBe('hosted_not_sent')
})

/** A payment is asked for, and made, but the answer does not reach the proxy. */
async function loseAnswer(): Promise<{ intent: HostedIntent; signature: string }> {
  const intent = await hosted.prepared()
  const signature = await hosted.sign(intent)
  await using lossy = await openLossy(hosted.fixture.service.url)
  await restartBff({ serviceUrl: lossy.url })
  // A connection that stays open, as the one before it did.
  expect(await hosted.paidOut()).toBe(0)
  expect(hostedJson(await hosted.send(intent.nonce, signature))).toEqual(UNKNOWN)
  expect(lossy.asked()).toBe(1)
  await restartBff()
  return { intent, signature }
}

async function restartBff(changes: { serviceUrl?: string } = {}): Promise<void> {
  await hosted.fixture.stopBff()
  await hosted.fixture.startBff(changes)
  hosted.allow({})
}

/** The most that the service lists at once. */
const PAGE = 500

function newerThan(made: PaymentRecord): NewPayment {
  const {
    accountId,
    mode,
    network,
    asset,
    symbol,
    decimals,
    amount,
    sender,
    recipient,
    createdAt,
  } = made
  const facts = { accountId, mode, network, asset, symbol, decimals, amount, sender, recipient }
  return {
    ...facts,
    id: createPaymentId(),
    status: 'finalized',
    createdAt: new Date(createdAt.getTime() + 1),
  }
}

/**
 * Loses the answer to the first payment together with its connection, and refuses every later one. `refused`: refuses the first one
 * then, and loses the answer to the second.
 */
async function openLossy(upstream: string, refused?: Promise<void>) {
  let sends = 0
  const server = createServer((request, response) => {
    const send = request.url === '/payment/send' ? ++sends : 0
    if (refused ? send === 1 : send > 1) {
      void (refused ?? Promise.resolve()).then(() => {
        response.writeHead(429, { 'Content-Type': 'application/json', 'Retry-After': '1' })
        response.end(
          JSON.stringify({
            success: false,
            error: { code: 'RATE_LIMIT', message: 'Too many requests.', requestId: 'x' },
            timestamp: 0,
          }),
        )
      })
      return
    }
    const lose = request.url === '/payment/send'
    const onward = httpRequest(
      upstream + request.url,
      { method: request.method, headers: request.headers },
      (answer) => {
        if (lose) return answer.resume().on('end', () => request.socket.destroy())
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        return answer.pipe(response)
      },
    )
    request.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked: () => sends,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
