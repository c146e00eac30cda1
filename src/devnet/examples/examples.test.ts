import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { createPublicClient, createWalletClient, http, parseGwei, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '#testing/service-context.ts'
import { createEvmClient } from '#x402/client/evm.ts'
import { Devnet } from '../network.ts'
import { freePort } from '../ports.ts'

/** The servers that the README shows, run as they stand, and paid by the official client. */

let net: Devnet
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  net = stack.use(
    await Devnet.create({ programs: { service: true, bff: false, web: false, seller: false }, seed: false, evmBlockTimeSeconds: 0.5, slotTimeMs: 100 }),
  )
})

afterAll(() => stack.disposeAsync())

/** Runs an example as its reader would, and tells where it serves. */
async function run(name: string): Promise<string> {
  const port = await freePort()
  const env = {
    PATH: '/usr/bin:/bin',
    PORT: String(port),
    PAYDESK_URL: net.urls.service,
    PAYDESK_KEY: net.apiKeys.operator,
    PAY_TO: net.wallets.seller.evm.address,
    USDC: net.evm.tokens.USDC?.address ?? '',
  }
  const child = spawn(process.execPath, [fileURLToPath(new URL(`${name}/main.ts`, import.meta.url))], { env, stdio: 'inherit' })
  stack.defer(async () => {
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill()
    await gone
  })
  const url = `http://127.0.0.1:${port}/article`
  await eventually(
    () =>
      fetch(url).then(
        ({ status }) => status,
        () => 0,
      ),
    (status) => status === 402,
  )
  return url
}

function buyer() {
  const account = privateKeyToAccount(net.wallets.buyer.evm.privateKey)
  const scheme = createEvmClient({
    address: account.address,
    signTypedData: (data) => account.signTypedData(data),
    async sendPayment({ payTo, amountAtomic }) {
      const wallet = createWalletClient({ account, transport: http(net.evm.rpcUrl) })
      const fees = { maxFeePerGas: parseGwei('10'), maxPriorityFeePerGas: parseGwei('1') }
      const hash = await wallet.sendTransaction({ chain: null, to: payTo as Hex, value: amountAtomic, ...fees })
      await createPublicClient({ transport: http(net.evm.rpcUrl), pollingInterval: 100 }).waitForTransactionReceipt({ hash })
      return hash
    },
  })
  return wrapFetchWithPayment(fetch, new x402Client().register('eip155:31337', scheme).setSpendControls(false))
}

test('a server of its own hands proofs to the service', { timeout: 120_000 }, async () => {
  const url = await run('receive')
  const response = await buyer()(url)
  expect([response.status, await response.text()]).toEqual([200, 'The article.'])
})

test('a server of @x402/hono has the service as its facilitator', { timeout: 120_000 }, async () => {
  const url = await run('x402-hono')
  const response = await buyer()(url)
  expect([response.status, await response.text()]).toEqual([200, 'The article.'])
  const settled = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '')
  expect(settled).toMatchObject({ success: true, payer: net.wallets.buyer.evm.address })
})
