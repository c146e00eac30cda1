import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Keypair } from '@solana/web3.js'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { BalanceWallets } from '#contract/hosted-endpoints.ts'
import type { AuditEntry } from '#contract/people-endpoints.ts'
import { NATIVE_SOL, type Asset, type Network } from '#contract/network.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import { registerWallet } from '#service/wallets/ownership.ts'
import type { PaymentPage } from '#web/api/queries.ts'
import { figureOf, OPEN_STATUSES, pendingOutflows } from '#web/pages/balances/figures.ts'
import { readLow } from '#web/pages/overview/low-balances.ts'
import { RpcError } from '#web/rpc/call.ts'
import { readBalances, type NetworkBalances } from '#web/rpc/read-balances.ts'
import { ETH, HostedFixture } from './hosted-fixture.ts'
import { startSolana, type SolanaFixture } from './local-chains.ts'
import { balanceOnEvm, createMint, give, issueUsdc } from './local-tokens.ts'
import { createTestKey } from './service-app.ts'
import { eventually, openAccount } from './service-context.ts'
import { evmWallet, type BrowserResponse, type TestBrowser } from './test-browser.ts'
import { TOKEN_2022 } from './token-instructions.ts'

/** The page of balances, on real chains and programs: what its figures are, what they cost, and who sees them. */

const SOL = 10n ** 9n
let hosted: HostedFixture
let solana: SolanaFixture
let usdc: Asset
let holder: PrivateKeyAccount

beforeAll(async () => {
  ;[hosted, solana] = await Promise.all([HostedFixture.open(), startSolana({ slotTimeMs: 50 })])
  holder = await hosted.evm.wallet(3n * ETH)
  usdc = await issueUsdc(hosted.evm, { holder: holder.address, supply: 123_456_789n })
})
beforeEach(() => hosted.openTill())
afterAll(async () => {
  await hosted?.[Symbol.asyncDispose]()
  await solana?.[Symbol.asyncDispose]()
})

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

type Reply = (method: string) => unknown

/** A node in front of another one that answers some methods otherwise, and a list of what was asked. */
async function nodeBefore(rpcUrl: string, reply: Reply = () => undefined) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      const { id, method } = JSON.parse(body) as { id: unknown; method: string }
      asked.push(method)
      const result = reply(method)
      if (result !== undefined) {
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
        return
      }
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
      response.end(await (await fetch(rpcUrl, init)).text())
    })
  })
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const evmOf = (url: string, assets: readonly Asset[] = []): Network => ({
  ...hosted.evm.network,
  rpcUrls: [url],
  assets: [...hosted.evm.network.assets, ...assets],
})
const newAddress = () => privateKeyToAccount(generatePrivateKey()).address
const atomicOf = ({ balances }: NetworkBalances, wallet: string, { address }: Asset) =>
  balances.find((each) => each.wallet === wallet && each.asset === address)?.atomic

describe('on EVM', () => {
  test('balances of many wallets equal the chain, and a view of 50 wallets and two assets asks once', async () => {
    const node = await nodeBefore(hosted.evm.rpcUrl)
    const network = evmOf(node.url, [usdc])
    const wallets = [holder.address, hosted.managed, ...Array.from({ length: 48 }, newAddress)]
    const read = await readBalances(network, wallets, network.assets)
    expect(node.asked.toSorted()).toEqual(['eth_call', 'eth_chainId'])
    for (const wallet of wallets.slice(0, 5)) {
      const address = wallet as `0x${string}`
      const [native] = network.assets
      if (!native) throw new Error('no asset')
      expect(atomicOf(read, wallet, native)).toBe(await hosted.evm.client.getBalance({ address }))
      expect(atomicOf(read, wallet, usdc)).toBe(await balanceOnEvm(hosted.evm, usdc, wallet))
    }
    expect(atomicOf(read, holder.address, usdc)).toBe(123_456_789n)
    expect(read.height).toBe(Number(await hosted.evm.client.getBlockNumber()))
    expect(read.balances).toHaveLength(100)
  })

  test('a call has at most 200 figures', async () => {
    const node = await nodeBefore(hosted.evm.rpcUrl)
    const network = evmOf(node.url, [usdc])
    const wallets = [...Array.from({ length: 100 }, newAddress), holder.address]
    const read = await readBalances(network, wallets, network.assets)
    expect(node.asked.filter((method) => method === 'eth_call')).toHaveLength(2)
    expect(atomicOf(read, holder.address, usdc)).toBe(123_456_789n)
  })

  test.each([
    ['has no code', '0x'],
    ['reverts', '0x60006000fd'],
    ['loops', '0x5b600056'],
    ['runs an invalid instruction', '0xfe'],
    ['returns 31 bytes', '0x601f6000f3'],
  ] as const)('a token that %s has no figure, and the others have theirs', async (_, code) => {
    const odd = { ...usdc, address: newAddress() }
    await hosted.evm.setCode(odd.address, code)
    const network = evmOf(hosted.evm.rpcUrl, [odd, usdc])
    const read = await readBalances(network, [holder.address], network.assets)
    expect(atomicOf(read, holder.address, odd)).toBeUndefined()
    expect(atomicOf(read, holder.address, usdc)).toBe(123_456_789n)
  })
})

test('balances on Solana equal the chain, tokens of both programs too, 100 accounts a call', async () => {
  const node = await nodeBefore(solana.rpcUrl)
  const [old, extended] = [
    await createMint(solana),
    await createMint(solana, { program: TOKEN_2022 }),
  ]
  const [rich, other] = [Keypair.generate().publicKey, Keypair.generate().publicKey]
  await solana.setAccount(rich.toBase58(), { lamports: 7n * SOL + 1n })
  await give(solana, old, { owner: rich, amount: 2n ** 63n + 1n })
  await give(solana, extended, { owner: rich, amount: 5n, program: TOKEN_2022 })
  // An account that was given away is no longer the wallet's.
  await give(solana, old, { owner: other, amount: 9n, given: rich })
  const network = { ...solana.network, rpcUrls: [node.url], assets: [NATIVE_SOL, old, extended] }
  const more = Array.from({ length: 38 }, () => Keypair.generate().publicKey.toBase58())
  const wallets = [rich.toBase58(), other.toBase58(), ...more]
  const read = await readBalances(network, wallets, network.assets)
  expect(wallets.length * 5).toBe(200)
  expect(node.asked).toEqual(['getMultipleAccounts', 'getMultipleAccounts'])
  expect(atomicOf(read, rich.toBase58(), NATIVE_SOL)).toBe(7n * SOL + 1n)
  expect(atomicOf(read, rich.toBase58(), old)).toBe(2n ** 63n + 1n)
  expect(atomicOf(read, rich.toBase58(), extended)).toBe(5n)
  expect(atomicOf(read, other.toBase58(), NATIVE_SOL)).toBe(0n)
  expect(atomicOf(read, other.toBase58(), old)).toBe(0n)
})

describe('an endpoint that lies or is gone is an error, never zero', () => {
  const word = (value: number) => value.toString(16).padStart(64, '0')

  test.each([
    ['nothing', '0x'],
    ['null', null],
    ['no text', { balance: 0 }],
    ['a figure too few', `0x${word(31_337)}${word(1)}`],
    ['a figure too many', `0x${word(31_337)}${word(1)}${word(0)}${word(0)}`],
    ['the balances of another chain', `0x${word(1)}${word(1)}${word(0)}`],
  ])('on EVM: it answers %s', async (_, result) => {
    const node = await nodeBefore(hosted.evm.rpcUrl, (method) =>
      method === 'eth_call' ? result : undefined,
    )
    const network = evmOf(node.url)
    await expect(readBalances(network, [holder.address], network.assets)).rejects.toThrow(RpcError)
  })

  test.each([
    ['nothing', null],
    ['an account too few', { context: { slot: 1 }, value: [] }],
    [
      'a balance that is text',
      { context: { slot: 1 }, value: [{ lamports: '0', owner: '1', data: ['', 'base64'] }] },
    ],
  ])('on Solana: it answers %s', async (_, result) => {
    const node = await nodeBefore(solana.rpcUrl, (method) =>
      method === 'getMultipleAccounts' ? result : undefined,
    )
    const network = { ...solana.network, rpcUrls: [node.url] }
    const wallet = Keypair.generate().publicKey.toBase58()
    await expect(readBalances(network, [wallet], [NATIVE_SOL])).rejects.toThrow(RpcError)
  })

  test('one that is gone, and one of another chain; the overview warns of neither', async () => {
    const other = await nodeBefore(hosted.evm.rpcUrl, (method) =>
      method === 'eth_chainId' ? '0x1' : undefined,
    )
    for (const url of ['http://127.0.0.1:9', other.url]) {
      const network = evmOf(url)
      const wallet = newAddress()
      await expect(readBalances(network, [wallet], network.assets)).rejects.toThrow(RpcError)
      const alert = { wallet, name: 'Till', network: network.network, thresholdAtomic: '1' }
      expect(await readLow([network], [alert])).toEqual([])
    }
  })
})

test('available is the balance less what is on its way out, until its block is there', async () => {
  const { evm, managed, browser } = hosted
  const asset = evm.network.assets[0]?.address ?? ''
  const open = async () => {
    const query = `status=${OPEN_STATUSES}&type=sent&limit=500`
    return (await browser.get(`/api/payments?${query}`)).json as unknown as PaymentPage
  }
  const figure = async () => {
    const { balances } = await readBalances(evm.network, [managed], evm.network.assets)
    const pending = pendingOutflows((await open()).payments)
    return figureOf(balances, pending, { network: evm.network.network, wallet: managed, asset })
  }
  expect(await figure()).toEqual({ balance: 100n * ETH, pending: 0n, available: 100n * ETH })
  const intent = await hosted.prepared({ amount: 0.5 })
  const sent = await hosted.send(intent.nonce, await hosted.sign(intent))
  expect(sent.status, sent.text).toBe(200)
  expect(await figure()).toEqual({
    balance: 100n * ETH,
    pending: ETH / 2n,
    available: 100n * ETH - ETH / 2n,
  })
  // In a block that needs more confirmations it is in the balance, and counts no second time.
  await evm.mine(1)
  await eventually(figure, (now) => now?.pending === 0n && now.balance !== 100n * ETH)
  expect((await open()).payments).toMatchObject([{ status: 'pending' }])
  await eventually(
    async () => {
      await evm.mine()
      return (await open()).payments
    },
    (payments) => payments.length === 0,
  )
  const onChain = await evm.client.getBalance({ address: managed as `0x${string}` })
  expect(await figure()).toEqual({ balance: onChain, pending: 0n, available: onChain })
})

describe('at the proxy', () => {
  const walletsIn = ({ json }: BrowserResponse) => json as unknown as BalanceWallets
  const setAlert = (threshold: unknown, more: object = {}, browser = hosted.browser) =>
    browser.post('/api/balances/alert', {
      walletAddress: hosted.managed,
      network: hosted.evm.network.network,
      threshold,
      ...more,
    })

  async function joined(role: 'viewer' | 'operator'): Promise<TestBrowser> {
    const [wallet, browser] = [evmWallet(), hosted.fixture.browser()]
    await browser.signIn(wallet)
    const approval = await hosted.browser.approve(hosted.operator, { kind: 'invite', role })
    const invited = await hosted.browser.post('/api/people/invite', { role }, approval)
    const { code } = invited.json as unknown as { code: string }
    const answer = await browser.post('/api/people/join', { code, walletAddress: wallet.address })
    expect(answer.status, answer.text).toBe(200)
    return browser
  }

  test('the wallets of the account are listed, and never those of another one', async () => {
    const { db, signer } = hosted.fixture.service.context
    const other = await openAccount(hosted.fixture.service.context)
    const now = new Date()
    const theirs = await createWallet(
      { db, signer, now },
      { accountId: other.accountId, family: 'evm', name: 'theirs' },
    )
    const [ours, foreign] = [newAddress(), newAddress()]
    for (const [accountId, address] of [
      [hosted.fixture.accountId, ours],
      [other.accountId, foreign],
    ] as const)
      await registerWallet({ db, now }, { accountId, address, network: null, proof: 'operator' })
    const { wallets, complete } = walletsIn(await hosted.browser.get('/api/balances'))
    const shown = wallets.map(({ wallet }) => wallet)
    expect(complete).toBe(true)
    expect(wallets).toContainEqual({
      wallet: hosted.managed,
      family: 'evm',
      managed: true,
      name: 'till',
      network: null,
      stopped: [],
    })
    expect(wallets.find(({ wallet }) => wallet === ours)?.managed).toBe(false)
    expect(new Set(shown).size).toBe(shown.length)
    expect(shown).not.toContain(theirs.address)
    expect(shown).not.toContain(foreign)
    for (const walletAddress of [theirs.address, ours])
      expect(await setAlert(1, { walletAddress })).toMatchObject({
        status: 400,
        json: { error: { details: { walletAddress: expect.stringContaining('managed wallet') } } },
      })
  })

  test('a viewer sees the wallets and their alerts, and changes none; a stranger sees nothing', async () => {
    expect((await setAlert(2)).status).toBe(200)
    const viewer = await joined('viewer')
    const { alerts } = walletsIn(await viewer.get('/api/balances'))
    expect(alerts).toContainEqual({
      wallet: hosted.managed,
      network: hosted.evm.network.network,
      thresholdAtomic: (2n * ETH).toString(),
    })
    expect((await setAlert(null, {}, viewer)).status).toBe(403)
    expect(walletsIn(await viewer.get('/api/balances')).alerts).toEqual(alerts)
    const stranger = hosted.fixture.browser()
    expect((await stranger.get('/api/balances')).status).toBe(401)
    await stranger.signIn(evmWallet())
    expect((await stranger.get('/api/balances')).status).toBe(403)
    expect((await stranger.get('/api/balances/alerts')).status).toBe(403)
  })

  test('an operator sets, changes and removes an alert, and the audit log says so', async () => {
    const operator = await joined('operator')
    expect((await setAlert(2, {}, operator)).status).toBe(200)
    expect((await setAlert(0.000000000000000001, {}, operator)).status).toBe(200)
    const own = async () =>
      (await operator.get('/api/balances/alerts')).json as unknown as {
        alerts: { wallet: string; thresholdAtomic: string; name: string }[]
      }
    const ofTill = async () =>
      (await own()).alerts.filter(({ wallet }) => wallet === hosted.managed)
    expect(await ofTill()).toMatchObject([{ thresholdAtomic: '1', name: 'till' }])
    expect((await setAlert(null, {}, operator)).status).toBe(200)
    expect(await ofTill()).toEqual([])
    const log = await hosted.browser.post('/api/audit-log/read', {})
    const { entries } = log.json as unknown as { entries: AuditEntry[] }
    const changes = entries.filter(({ subject }) => subject === hosted.managed)
    expect(changes.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual(
      Array(3).fill('balanceAlert done'),
    )
  })

  test.each([
    [{ threshold: 0 }, 'threshold', 'Expected an amount above 0'],
    [{ threshold: -1 }, 'threshold', 'Expected'],
    [{ threshold: 'x' }, 'threshold', 'Expected a number'],
    [{ network: 'eip155:1' }, 'network', 'Expected a configured network'],
  ])('an alert with %j is refused by name', async (wrong, field, problem) => {
    expect(await setAlert(1, wrong)).toMatchObject({
      status: 400,
      json: { error: { details: { [field]: expect.stringContaining(problem) } } },
    })
  })

  test('the overview warns below the threshold, with one call, and not at it', async () => {
    const node = await nodeBefore(hosted.evm.rpcUrl)
    const network = evmOf(node.url)
    const alert = { wallet: hosted.managed, name: 'Till', network: network.network }
    const at = { ...alert, thresholdAtomic: (100n * ETH).toString() }
    const above = { ...alert, thresholdAtomic: (100n * ETH + 1n).toString() }
    expect(await readLow([network], [])).toEqual([])
    expect(node.asked).toEqual([])
    expect(await readLow([network], [at])).toEqual([])
    expect(await readLow([network], [above])).toMatchObject([
      { wallet: hosted.managed, balanceAtomic: 100n * ETH, thresholdAtomic: 100n * ETH + 1n },
    ])
    expect(node.asked.toSorted()).toEqual(['eth_call', 'eth_chainId'])
  })

  test('a key that may not list the wallets shows those of the configuration, and says so', async () => {
    const { key } = await createTestKey(hosted.fixture.service.context.db, {
      scopes: ['payment:read'],
    })
    const { config } = hosted.fixture.bff.context
    const before = config.serviceApiKey
    config.serviceApiKey = key
    try {
      const { wallets, complete } = walletsIn(await hosted.browser.get('/api/balances'))
      expect(complete).toBe(false)
      expect(wallets.map(({ wallet, managed }) => [wallet, managed])).toEqual([
        [hosted.managed, true],
        [hosted.operator.address, false],
      ])
    } finally {
      config.serviceApiKey = before
    }
  })
})
