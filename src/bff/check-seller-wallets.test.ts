import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Fixture } from '#testing/fixture.ts'
import { evmWallet, solanaWallet } from '#testing/test-browser.ts'

const [owned, unowned] = [evmWallet().address, solanaWallet().address]
let fixture: Fixture
let service: Server
let answer: { status: number; body: unknown }
const asked: (string | undefined)[] = []

beforeAll(async () => {
  // The part of the service that tells whose wallets are whose.
  service = createServer((request, response) => {
    if (request.url === '/wallets/payout') asked.push(request.headers.authorization)
    const { status, body } =
      request.url === '/wallets/payout' ? answer : { status: 404, body: refusal('NOT_FOUND') }
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  fixture = await Fixture.open()
})
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  service?.close()
})

const refusal = (code: string) => ({ success: false, error: { code, message: 'no' } })
const wallet = (walletAddress: string) => ({
  walletAddress,
  family: 'evm',
  network: null,
  kind: 'payout',
  proof: 'signature',
  createdAt: 1,
})

/** What a proxy logs of its seller wallets when it starts before this answer. */
async function startedWith(told: typeof answer, sellerWallets: string[]): Promise<string[]> {
  answer = told
  await fixture.stopBff()
  fixture.log.splice(0)
  asked.splice(0)
  const { port } = service.address() as AddressInfo
  await fixture.startBff({ serviceUrl: `http://127.0.0.1:${port}`, sellerWallets })
  const lines = () => fixture.log.filter((line) => line.includes('SELLER_WALLETS'))
  await expect.poll(() => lines().length).toBe(1)
  expect(asked).toEqual([`Bearer ${fixture.key}`])
  return lines()
}

test('a start names the seller wallets that the account does not own, and what to do', async () => {
  const [line] = await startedWith(
    { status: 200, body: { success: true, wallets: [wallet(owned)] } },
    [owned, unowned],
  )
  expect(line).toContain('"level":"warn"')
  expect(line).toContain(unowned)
  expect(line).not.toContain(owned)
  expect(line).toContain('wallet register')
})

test('a start warns of nothing where the account owns them all', async () => {
  const [line] = await startedWith(
    { status: 200, body: { success: true, wallets: [wallet(owned)] } },
    [owned],
  )
  expect(line).toContain('"level":"info"')
})

test('a start warns of nothing where its key may not ask', async () => {
  const [line] = await startedWith({ status: 403, body: refusal('FORBIDDEN') }, [unowned])
  expect(line).toContain('"level":"info"')
})
