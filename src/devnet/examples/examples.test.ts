import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Connection, VersionedTransaction } from '@solana/web3.js'
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { Webhook } from 'standardwebhooks'
import { createPublicClient, createWalletClient, http, parseGwei, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildPayment } from '#chains/solana/build.ts'
import { NATIVE_SOL, SOLANA_DEVNET } from '#contract/network.ts'
import { signBuilt } from '#testing/local-chains.ts'
import { createDevnetDatabase } from '#testing/postgres.ts'
import { eventually } from '#testing/service-context.ts'
import { createEvmClient } from '#x402/client/evm.ts'
import type { ClientPayment } from '#x402/client/order.ts'
import { createSolanaClient } from '#x402/client/solana.ts'
import { Devnet } from '../network.ts'
import { solanaKeypair } from '../nodes/wallets.ts'
import { freePort } from '../options.ts'

/** The programs and commands of docs/INTEGRATION.md, run as they are: the servers are paid by the official client. */

let net: Devnet
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  const { url: databaseUrl } = stack.use(await createDevnetDatabase())
  net = stack.use(
    await Devnet.create({
      databaseUrl,
      programs: { service: true, bff: false, web: false, seller: false },
      seed: false,
      evmBlockTimeSeconds: 0.5,
      slotTimeMs: 100,
    }),
  )
})

afterAll(() => stack.disposeAsync())

function environment(more: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: '/usr/bin:/bin',
    PAYDESK_URL: net.urls.service,
    PAYDESK_KEY: net.apiKeys.operator,
    PAY_TO: net.wallets.seller.evm.address,
    USDC: net.evm.tokens.USDC?.address ?? '',
    ...more,
  }
}

type Running = { lines: string[]; stop: () => Promise<void> }

/** Starts an example as its reader would. `lines`: what it prints, while it prints it. */
function start(name: string, env: Record<string, string>): Running {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL(`${name}/main.ts`, import.meta.url))],
    { env, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = async () => {
    child.kill()
    await gone
  }
  stack.defer(stop)
  const lines: string[] = []
  createInterface(child.stdout).on('line', (line) => lines.push(line))
  return { lines, stop }
}

const servers = new Map<string, Promise<string>>()

/** Where a server among the examples serves, which the first test that needs it starts. */
function run(name: string, env: Record<string, string> = {}): Promise<string> {
  const started =
    servers.get(name) ?? freePort().then(async (port) => (await runAt(port, name, env)).url)
  servers.set(name, started)
  return started
}

async function runAt(
  port: number,
  name: string,
  env: Record<string, string> = {},
): Promise<Running & { url: string }> {
  const running = start(name, environment({ ...env, PORT: String(port) }))
  const url = `http://127.0.0.1:${port}/article`
  await eventually(
    () =>
      fetch(url).then(
        ({ status }) => status,
        () => 0,
      ),
    (status) => status === 402,
  )
  return { ...running, url }
}

function buyer(visit: typeof fetch = fetch) {
  const account = privateKeyToAccount(net.wallets.buyer.evm.privateKey)
  const scheme = createEvmClient({
    address: account.address,
    signTypedData: (data) => account.signTypedData(data),
    async sendPayment({ payTo, amountAtomic }) {
      const wallet = createWalletClient({ account, transport: http(net.evm.rpcUrl) })
      const fees = { maxFeePerGas: parseGwei('10'), maxPriorityFeePerGas: parseGwei('1') }
      const hash = await wallet.sendTransaction({
        chain: null,
        to: payTo as Hex,
        value: amountAtomic,
        ...fees,
      })
      await createPublicClient({
        transport: http(net.evm.rpcUrl),
        pollingInterval: 100,
      }).waitForTransactionReceipt({ hash })
      return hash
    },
  })
  return wrapFetchWithPayment(
    visit,
    new x402Client().register('eip155:31337', scheme).setSpendControls(false),
  )
}

const OURS = 'PAYMENT-SIGNATURE'
type PayingFetch = ReturnType<typeof buyer>

/** Pays, and loses the connection before anything is presented. @returns what to present */
async function payOnly(url: string, openBuyer: (visit: typeof fetch) => PayingFetch) {
  let header = ''
  const visit: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    header = request.headers.get(OURS) ?? ''
    return header === '' ? fetch(request) : new Response(null, { status: 503 })
  }
  expect((await openBuyer(visit)(url)).status).toBe(503)
  return { [OURS]: header }
}

/** Presented until it is decided. */
const present = (url: string, headers: Record<string, string>) =>
  eventually(
    () => fetch(url, { headers }),
    ({ status }) => status !== 202,
  )

/** @param send pays an order, and resolves with the first signature */
function solanaBuyer(send: (order: ClientPayment) => Promise<string>, visit: typeof fetch = fetch) {
  const scheme = createSolanaClient({
    address: net.wallets.buyer.solana.address,
    rpcUrl: net.solana.rpcUrl,
    signPayment: () => Promise.reject(new Error('The example asks for a payment already sent.')),
    signTransaction: () => Promise.reject(new Error('The example takes no tokens.')),
    sendPayment: send,
  })
  return wrapFetchWithPayment(
    visit,
    new x402Client()
      .register('solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', scheme)
      .setSpendControls(false),
  )
}

async function sendSol({ payTo, amountAtomic, memo }: ClientPayment): Promise<string> {
  const solana = new Connection(net.solana.rpcUrl, 'confirmed')
  const keypair = solanaKeypair(net.wallets.buyer.solana)
  const { blockhash } = await solana.getLatestBlockhash()
  const transaction = VersionedTransaction.deserialize(
    buildPayment({
      network: SOLANA_DEVNET,
      asset: NATIVE_SOL,
      sender: keypair.publicKey.toBase58(),
      recipient: payTo,
      amountAtomic,
      paymentId: memo ?? '',
      blockhash,
      // Two equal payments within the life of one blockhash would be one.
      unitLimit: 20_000 + randomInt(10_000),
      unitPriceMicroLamports: 1n,
    }),
  )
  transaction.sign([keypair])
  return solana.sendRawTransaction(transaction.serialize())
}

test('a separate server hands proofs to the service', async () => {
  const url = await run('receive')
  const response = await buyer()(url)
  expect([response.status, await response.text()]).toEqual([200, 'The article.'])
})

test.each([
  ['ETH', 'receive', (visit: typeof fetch) => buyer(visit)],
  ['SOL', 'receive-solana', (visit: typeof fetch) => solanaBuyer(sendSol, visit)],
] as const)(
  'an order that was paid in %s is served once, also by a server that was started again in between',
  async (_, name, openBuyer) => {
    const { seller } = net.wallets
    const env = { PAY_TO: name === 'receive' ? seller.evm.address : seller.solana.address }
    const port = await freePort()
    const first = await runAt(port, name, env)
    const headers = await payOnly(first.url, openBuyer)
    await first.stop()
    const { url } = await runAt(port, name, env)
    const served = await present(url, headers)
    expect([served.status, await served.text()]).toEqual([200, 'The article.'])
    const again = await present(url, headers)
    expect([again.status, await again.text()]).toEqual([
      409,
      '{"error":"This payment was served or refunded before."}',
    ])
  },
)

test('a payment that was refunded is not served', async () => {
  const url = await run('receive')
  const headers = await payOnly(url, buyer)
  // The service was asked, and the server that asked is gone before it serves.
  const received = await eventually(
    () =>
      call('/payment/receive', {
        network: 'eip155:31337',
        walletAddress: net.wallets.seller.evm.address,
        paymentProof: headers[OURS],
        expectedAmount: 0.01,
        resource: JSON.parse(atob(headers[OURS])).resource.url,
      }),
    ({ verified }) => verified,
  )
  const { decoded } = await call('/transaction/refund', { paymentId: received.paymentId })
  expect(decoded.to).toBe(net.wallets.buyer.evm.address)
  expect((await present(url, headers)).status).toBe(409)
})

test('a separate server is paid in SOL, and takes no payment for another order', async () => {
  const url = await run('receive-solana', { PAY_TO: net.wallets.seller.solana.address })
  const orders: ClientPayment[] = []
  const response = await solanaBuyer((order) => {
    orders.push(order)
    return sendSol(order)
  })(url)
  expect([response.status, await response.text()]).toEqual([200, 'The article.'])

  // Paid in full, but by the memo of the first order.
  const other = await solanaBuyer((order) => {
    orders.push(order)
    return sendSol({ ...order, memo: orders[0]?.memo ?? null })
  })(url)
  expect([other.status, await other.json()]).toMatchObject([
    400,
    { error: { code: 'INVALID_PAYMENT_PROOF', details: { reason: { code: 'memo_mismatch' } } } },
  ])
  expect(new Set(orders.map(({ memo }) => memo)).size).toBe(2)
  // Who reads a memo on the chain must not learn where its order is collected.
  for (const { resource, memo } of orders) expect(resource.url).not.toContain(memo)
})

test('a server of @x402/hono has the service as its facilitator', async () => {
  const url = await run('x402-hono')
  const response = await buyer()(url)
  expect([response.status, await response.text()]).toEqual([200, 'The article.'])
  const settled = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '')
  expect(settled).toMatchObject({ success: true, payer: net.wallets.buyer.evm.address })
})

test('a program hears of a payment as it happens, and the commands of the document work on it', async () => {
  const { lines } = start('events', environment())
  await eventually(
    () => Promise.resolve(lines),
    (printed) => printed.includes('subscribed'),
  )
  await buyer()(await run('receive'))
  const confirmed = /^(pay_\w+) confirmed 0\.01 ETH$/m
  const printed = await eventually(
    () => Promise.resolve(lines.join('\n')),
    (all) => confirmed.test(all),
  )
  const paymentId = confirmed.exec(printed)?.[1] ?? ''

  const document = readFileSync(new URL('../../../docs/INTEGRATION.md', import.meta.url), 'utf8')
  const commands = [...document.matchAll(/^```sh\n([^]*?)^```$/gm)].map(
    ([, command = '']) => command,
  )
  const more = {
    PAYMENT_ID: paymentId,
    ORDER: 'order-1',
    WALLET: net.wallets.managed.evm.address,
    PAYEE: net.wallets.buyer.evm.address,
  }
  const answers = await Promise.all(commands.map((command) => runShell(command, environment(more))))
  expect(answers).toEqual([
    expect.objectContaining({ success: true, mode: 'hosted', amount: 0.01 }),
    expect.objectContaining({ success: true, refundOf: paymentId, amount: 0.01 }),
    expect.objectContaining({ success: true, total: 0, requests: [] }),
    expect.objectContaining({ success: true, transfers: [] }),
    expect.objectContaining({ success: true, total: 0, payments: [] }),
    expect.objectContaining({
      success: true,
      payments: expect.arrayContaining([expect.objectContaining({ paymentId })]),
    }),
  ])
})

test('a receiver of webhooks verifies each one and processes none twice', async () => {
  const port = await freePort()
  const { id, secret } = await call('/webhooks', { url: `http://127.0.0.1:${port}/` })
  const { lines } = start('webhooks', environment({ PORT: String(port), WEBHOOK_SECRET: secret }))
  const untilPrinted = (line: RegExp) => untilAmong(lines, line)
  await untilPrinted(/^listening$/)
  await buyer()(await run('receive'))
  const paid = await untilPrinted(/^payment\.confirmed pay_\w+ 10000000000000000$/)
  // All of them again, and behind them a test.
  await call(`/webhooks/${id}/redeliver`, { from: '0', to: '999999' })
  await call(`/webhooks/${id}/test`, {})
  await untilPrinted(/^test/)
  expect(new Set(lines).size).toBe(lines.length)
  expect(paid).toHaveLength(1)
  const forged = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' })
  expect(forged.status).toBe(401)
})

test('a receiver of webhooks outlives a sender that leaves in the middle of a request, and one that sends too much', async () => {
  const port = await freePort()
  const { id, secret } = await call('/webhooks', { url: `http://127.0.0.1:${port}/`, events: [] })
  const { lines } = start('webhooks', environment({ PORT: String(port), WEBHOOK_SECRET: secret }))
  await untilAmong(lines, /^listening$/)
  const head =
    'POST / HTTP/1.1\r\nhost: 127.0.0.1\r\nexpect: 100-continue\r\ncontent-length: 10\r\n\r\n'
  const socket = connect(port, '127.0.0.1', () => socket.write(head))
  // It reads the body now.
  await once(socket, 'data')
  socket.destroy()
  const large = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    body: 'x'.repeat(1_000_001),
  }).then(
    ({ status }) => status,
    () => 'closed',
  )
  expect([413, 'closed']).toContain(large)
  await call(`/webhooks/${id}/test`, {})
  expect(await untilAmong(lines, /^test/)).toHaveLength(1)
})

test('a receiver of webhooks delivers a paid order once, and nothing for dust, refunds and what was refunded', async () => {
  const { buyer: customer, seller } = net.wallets
  const chain = createPublicClient({ transport: http(net.evm.rpcUrl), pollingInterval: 100 })
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/`
  const { id, secret } = await call('/webhooks', { url, events: ['payment.finalized'] })

  /** Signs what the service built, and waits until it is final. */
  const finish = async ({ paymentId, transaction }: Record<string, string>, key: Hex) => {
    const serializedTransaction = await signBuilt(privateKeyToAccount(key), transaction ?? '')
    await chain.sendRawTransaction({ serializedTransaction })
    await eventually(
      () => call(`/payment/status/${paymentId}`),
      ({ status }) => status === 'finalized',
    )
    return paymentId ?? ''
  }
  const pay = async (amount: number) => {
    const built = await call('/transaction/send', {
      walletAddress: customer.evm.address,
      recipientAddress: seller.evm.address,
      amount,
      network: 'eip155:31337',
      metadata: { referenceId: 'order-17' },
    })
    return finish(built, customer.evm.privateKey)
  }
  const dust = await pay(0.000_001)
  const returned = await pay(0.01)
  const refund = await finish(
    await call('/transaction/refund', { paymentId: returned }),
    seller.evm.privateKey,
  )
  const paid = await pay(0.01)
  expect(await call(`/payment/status/${refund}`)).toMatchObject({
    refundOf: returned,
    metadata: { referenceId: 'order-17' },
  })

  // It hears of them when all is over, as a receiver does that was down for a while.
  const { lines } = start('webhooks', environment({ PORT: String(port), WEBHOOK_SECRET: secret }))
  await untilAmong(lines, /^listening$/)
  await call(`/webhooks/${id}/redeliver`, { from: '0', to: '999999' })
  for (const each of [dust, returned, refund, paid])
    await untilAmong(lines, new RegExp(`^payment\\.finalized ${each} `))
  expect(lines.filter((line) => line.startsWith('deliver'))).toEqual([`deliver order-17 ${paid}`])
  // The same payment, told under another id.
  const twice = { type: 'payment.finalized', data: { paymentId: paid } }
  const body = JSON.stringify(twice)
  const at = new Date()
  const webhookId = 'msg_after_a_restore'
  const signature = new Webhook(secret).sign(webhookId, at, body)
  const told = await fetch(url, {
    method: 'POST',
    headers: {
      'webhook-id': webhookId,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': signature,
    },
    body,
  })
  expect(told.status).toBe(200)
  expect(lines.filter((line) => line.startsWith('deliver'))).toHaveLength(1)
})

/** The printed lines that match, once there is one. */
function untilAmong(lines: readonly string[], line: RegExp): Promise<string[]> {
  return eventually(
    () => Promise.resolve(lines.filter((printed) => line.test(printed))),
    ([printed]) => printed !== undefined,
  )
}

/** Asks the service: with a body by POST. */
async function call(path: string, body?: object) {
  const answer = await fetch(`${net.urls.service}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${net.apiKeys.operator}`,
      'content-type': 'application/json',
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return await answer.json()
}

/** Runs a command of a document, and reads the JSON that it prints. */
async function runShell(command: string, env: Record<string, string>): Promise<unknown> {
  const shell = spawn('sh', ['-euc', command], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>((resolve) => shell.once('exit', resolve))
  const printed = await text(shell.stdout)
  expect(await ended, command).toBe(0)
  return JSON.parse(printed)
}
