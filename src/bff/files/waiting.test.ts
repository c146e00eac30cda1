import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { FileBody } from '#contract/file-endpoints.ts'
import { FileShop, PUBLIC_URL } from '#testing/file-shop.ts'
import { proveTxid } from '#testing/proofs.ts'

/** Anybody can sign the name of a transaction that does not exist, for which the service looks a while. */

let files: FileShop

beforeAll(async () => {
  files = await FileShop.open()
})
afterAll(() => files?.[Symbol.asyncDispose]())
beforeEach(() => files.beginTest())

const AMOUNT = 10n ** 16n
const create = () =>
  files.create({
    prices: [{ currency: 'ETH', amount: '0.01' }],
    source: { kind: 'text', text: 'The guide.' },
  })

function proofFor(file: FileBody): Promise<string> {
  return proveTxid({
    payer: privateKeyToAccount(generatePrivateKey()),
    network: files.tokens.network.network,
    payTo: files.seller.address,
    amount: AMOUNT,
    txRef: `0x${randomBytes(32).toString('hex')}`,
    url: `${PUBLIC_URL}/api/file/${file.code}`,
  })
}

type Answer = { status: number | undefined; retryAfter: string | undefined }

function present(localAddress: string, file: FileBody, proof: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'payment-signature': proof }
    request(files.addressOf(file), { localAddress, headers }, (response) => {
      response.resume()
      const { statusCode: status, headers: got } = response
      resolve({ status, retryAfter: got['retry-after'] })
    })
      .on('error', reject)
      .end()
  })
}

test('while the payments of 70 strangers are looked for, an owner’s read answers', async () => {
  const file = await create()
  const proofs = await Promise.all(Array.from({ length: 70 }, () => proofFor(file)))
  const answers: Answer[] = []
  const asking = proofs.map(async (proof, index) => {
    answers.push(await present(`127.0.1.${index + 1}`, file, proof))
  })
  const refused = () => answers.filter(({ status }) => status === 429)
  await expect.poll(() => refused().length, { timeout: 4_000 }).toBe(70 - 32)
  expect((await files.browser.get('/api/payments?limit=3')).status).toBe(200)
  // None of those that wait had its answer by then.
  expect(answers).toHaveLength(70 - 32)
  expect(new Set(refused().map(({ retryAfter }) => retryAfter))).toEqual(new Set(['2']))
  await Promise.all(asking)
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(32)
})

test('of one network address four payments are looked for at a time, and others are served', async () => {
  const file = await create()
  const proofs = await Promise.all(Array.from({ length: 7 }, () => proofFor(file)))
  const of = (address: string, some: string[]) =>
    some.map(async (proof) => (await present(address, file, proof)).status)
  const own = of('127.0.2.1', proofs.slice(0, 6))
  expect(await Promise.race(own)).toBe(429)
  const other = of('127.0.2.2', proofs.slice(6))
  expect((await Promise.all(own)).filter((status) => status === 202)).toHaveLength(4)
  expect(await Promise.all(other)).toEqual([202])
})
