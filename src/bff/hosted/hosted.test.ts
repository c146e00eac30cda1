import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hashTypedData } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { intentText, intentTypedData, type HostedIntent } from '#contract/hosted-intent.ts'
import { SOLANA_DEVNET } from '#contract/network.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { Desk } from '#testing/desk.ts'
import { evmWallet, solanaWallet, type Answer, type Browser } from '#testing/desk-browser.ts'
import { intentHash, isIntentSigned } from './is-signed.ts'
import type { HostedRule } from './rules.ts'

const ETH = 10n ** 18n
const key = generatePrivateKey()
const account = privateKeyToAccount(key)
const operator = { address: account.address, network: 'eip155:31337', sign: (message: string) => account.signMessage({ message }) }
const stranger = evmWallet()
const payee = evmWallet().address
let evm: EvmFixture
let desk: Desk
let managed = ''
let shop: Browser
let offset = 0

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 1 })
  await evm.mine()
  desk = await Desk.open({
    networks: [evm.network],
    bff: { sellerWallets: [operator.address], operatorWallets: [operator.address] },
    overrides: { now: () => new Date(Date.now() + offset) },
  })
  shop = desk.browser()
  await shop.signIn(operator)
})
beforeEach(async () => {
  // A minute between two tests: what one visitor may ask in a minute is not what is tried here.
  offset += 61_000
  const { db, vault } = desk.service.context
  managed = (await createWallet({ db, vault, now: new Date() }, { accountId: desk.accountId, family: 'evm', name: 'till' })).address
  await evm.client.setBalance({ address: managed as `0x${string}`, value: 100n * ETH })
  allow({})
})
afterAll(async () => {
  await desk?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

function allow(rule: Partial<HostedRule>): void {
  const [asset] = evm.network.assets
  if (!asset) throw new Error('no asset')
  desk.bff.context.config.hosted = [{ name: 'Till', wallet: managed, network: evm.network, asset, maxPerPayment: ETH, maxPerDay: 3n * ETH, ...rule }]
}

type Json = { nonce: string; amountAtomic: string; expiresAt: number; state: string; paymentId: string | null; wallets: { spentAtomic: string }[] }
const jsonOf = (answer: Answer) => answer.json as unknown as Json
const reasonOf = (answer: Answer) => answer.json.error?.details?.['reason']

const wish = (more: Record<string, unknown> = {}) => ({
  network: evm.network.network,
  from: managed,
  to: payee,
  asset: 'native',
  amount: 0.5,
  signer: operator.address,
  ...more,
})
const prepare = (more: Record<string, unknown> = {}, browser = shop) => browser.post('/api/hosted/intent', wish(more))

async function prepared(more: Record<string, unknown> = {}): Promise<HostedIntent> {
  const answer = await prepare(more)
  if (answer.status !== 200) throw new Error(answer.text)
  const { nonce, amountAtomic, expiresAt } = jsonOf(answer)
  const [asset] = evm.network.assets
  const words = { resource: '', description: '', reference: '', ...(more as Partial<HostedIntent>) }
  const { resource, description, reference } = words
  return {
    nonce,
    network: evm.network.network,
    from: managed,
    to: payee,
    asset: asset?.address ?? '',
    symbol: 'ETH',
    decimals: 18,
    amountAtomic,
    resource,
    description,
    reference,
    expiresAt,
  }
}

const sign = (intent: HostedIntent, by = account) => by.signTypedData(typedData(intent))
/** viem takes numbers as bigint. */
function typedData(intent: HostedIntent) {
  const { message, ...data } = intentTypedData(intent)
  return { ...data, message: { ...message, amount: BigInt(message.amount), expiresAt: BigInt(message.expiresAt) } } as never
}

const send = (nonce: string, signature: string, browser = shop) => browser.post('/api/hosted/send', { nonce, signature })

async function paidOut(): Promise<number> {
  const answer = await shop.get(`/api/payments?wallets=${managed}&type=sent`)
  return answer.json.payments.length
}

describe('the words that are signed', () => {
  const intent: HostedIntent = {
    nonce: 'a'.repeat(32),
    network: 'eip155:8453',
    from: operator.address,
    to: payee,
    asset: '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
    symbol: 'ETH',
    decimals: 18,
    amountAtomic: '500000000000000000',
    resource: '',
    description: 'Téa',
    reference: '',
    expiresAt: 1_800_000_000,
  }

  test('are hashed as every wallet hashes them', () => {
    expect(`0x${Buffer.from(intentHash(intent)).toString('hex')}`).toBe(hashTypedData(typedData(intent)))
  })

  test('count only whole: a signature over one is none over any that differs in a field', async () => {
    const signature = await sign(intent)
    expect(isIntentSigned(operator.address, intent, signature)).toBe(true)
    const others: Partial<HostedIntent>[] = [
      { nonce: 'b'.repeat(32) },
      { from: payee },
      { to: operator.address },
      { asset: payee },
      { amountAtomic: '500000000000000001' },
      { network: 'eip155:1' },
      { resource: 'https://a.example' },
      { description: 'Tea' },
      { reference: 'x' },
      { expiresAt: 1_800_000_001 },
    ]
    for (const other of others) expect(isIntentSigned(operator.address, { ...intent, ...other }, signature), JSON.stringify(other)).toBe(false)
    expect(isIntentSigned(payee, intent, signature)).toBe(false)
  })

  test('are one line a field on Solana, whatever somebody writes into one', async () => {
    const wallet = solanaWallet()
    const solana = { ...intent, network: SOLANA_DEVNET, from: wallet.address, to: solanaWallet().address, decimals: 9, symbol: 'SOL', description: 'x\nTo: me' }
    expect(intentText(solana)).toContain('Description: "x\\nTo: me"')
    const signature = await wallet.sign(intentText(solana))
    expect(isIntentSigned(wallet.address, solana, signature)).toBe(true)
    expect(isIntentSigned(wallet.address, { ...solana, amountAtomic: '1' }, signature)).toBe(false)
  })
})

describe('a payment from a managed wallet', () => {
  test('is made once its operator signed exactly it, and the same request again is the same payment', async () => {
    const intent = await prepared({ description: 'Rent', reference: 'R-1' })
    const signature = await sign(intent)
    const sent = await send(intent.nonce, signature)
    expect(sent).toMatchObject({ status: 200, json: { state: 'sent' } })
    const again = await send(intent.nonce, signature)
    expect(jsonOf(again)).toEqual(jsonOf(sent))
    expect(await paidOut()).toBe(1)
    const status = await shop.get(`/api/payment/status/${sent.json.paymentId}`)
    expect(status.json).toMatchObject({
      mode: 'hosted',
      amountAtomic: (ETH / 2n).toString(),
      recipient: payee,
      metadata: { description: 'Rent', referenceId: 'R-1' },
    })
    expect(jsonOf(await shop.get('/api/hosted')).wallets[0]?.spentAtomic).toBe((ETH / 2n).toString())
  })

  test('is one payment, however often and at once it is asked for', async () => {
    const intent = await prepared()
    const signature = await sign(intent)
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(intent.nonce, signature)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(await paidOut()).toBe(1)
  })

  test('is off unless it is configured', async () => {
    const intent = await prepared()
    desk.bff.context.config.hosted = []
    expect(jsonOf(await shop.get('/api/hosted')).wallets).toEqual([])
    expect(reasonOf(await prepare())).toBe('hosted_off')
    expect(reasonOf(await send(intent.nonce, await sign(intent)))).toBe('hosted_off')
  })

  test.each([
    ['nobody', undefined, 401],
    ['a stranger', stranger, 403],
  ] as const)('is not for %s', async (_, wallet, status) => {
    const intent = await prepared()
    const browser = desk.browser()
    if (wallet) await browser.signIn(wallet)
    expect((await browser.get('/api/hosted')).status).toBe(status)
    expect((await prepare({}, browser)).status).toBe(status)
    expect((await send(intent.nonce, await sign(intent), browser)).status).toBe(status)
    expect(await paidOut()).toBe(0)
  })

  test('is not made with the session alone: without a signature, or with one of another kind or of another wallet', async () => {
    const intent = await prepared()
    const other = privateKeyToAccount(generatePrivateKey())
    const signatures = ['', '0x', await account.signMessage({ message: 'Sign in' }), await sign(intent, other), (await sign(intent)).replace(/.$/, 'x')]
    for (const signature of signatures) expect(reasonOf(await send(intent.nonce, signature)), signature).toBe('hosted_signature')
    expect(await paidOut()).toBe(0)
  })

  test('is not made by a signature over another payment', async () => {
    const [one, other] = [await prepared({ amount: 0.1 }), await prepared({ amount: 0.9 })]
    expect(reasonOf(await send(other.nonce, await sign(one)))).toBe('hosted_signature')
    expect(reasonOf(await send(one.nonce, await sign({ ...one, to: operator.address })))).toBe('hosted_signature')
    expect(await paidOut()).toBe(0)
  })

  test('is not made again by another signature over it', async () => {
    const intent = await prepared()
    const signature = await sign(intent)
    await send(intent.nonce, signature)
    // The same two numbers with the other spelling of the last byte.
    const twin = signature.slice(0, -2) + (signature.endsWith('1b') ? '00' : '01')
    expect(reasonOf(await send(intent.nonce, twin))).toBe('hosted_used')
    expect(await paidOut()).toBe(1)
  })

  test('is of one session: another one of the same operator cannot use what was prepared there', async () => {
    const intent = await prepared()
    const thief = desk.browser()
    await thief.signIn(operator)
    expect(reasonOf(await send(intent.nonce, await sign(intent), thief))).toBe('hosted_intent')
  })

  test('is not made after its five minutes', async () => {
    const intent = await prepared()
    const signature = await sign(intent)
    const expiresAt = desk.bff.context.now
    Object.assign(desk.bff.context, { now: () => new Date(intent.expiresAt * 1000) })
    const answer = await send(intent.nonce, signature)
    Object.assign(desk.bff.context, { now: expiresAt })
    expect(reasonOf(answer)).toBe('hosted_expired')
    expect(await paidOut()).toBe(0)
  })

  test('is not above the cap of one payment, when it is prepared and when it is signed', async () => {
    expect((await prepare({ amount: 1 })).status).toBe(200)
    expect(reasonOf(await prepare({ amount: 1.1 }))).toBe('hosted_over_payment')
    const intent = await prepared({ amount: 0.5 })
    allow({ maxPerPayment: ETH / 4n })
    expect(reasonOf(await send(intent.nonce, await sign(intent)))).toBe('hosted_over_payment')
  })

  test('is not above the cap of a day: of five that were prepared for what three may take, three are made', async () => {
    const intents = []
    for (let index = 0; index < 5; index++) intents.push(await prepared({ amount: 1 }))
    const answers = await Promise.all(intents.map(async (intent) => send(intent.nonce, await sign(intent))))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(answers.map(reasonOf).filter((reason) => reason === 'hosted_over_day')).toHaveLength(2)
    expect(reasonOf(await prepare({ amount: 0.001 }))).toBe('hosted_over_day')
    expect(await paidOut()).toBe(3)
  })

  test.each([
    ['from a wallet that is not allowed', { from: payee }, 'hosted_wallet'],
    ['in an asset that is not allowed', { asset: payee }, 'hosted_wallet'],
    ['signed by a wallet that is not the session’s', { signer: stranger.address }, 'hosted_signer'],
  ])('is not prepared %s', async (_, more, reason) => {
    expect(reasonOf(await prepare(more))).toBe(reason)
  })

  test('that the service refuses leaves the cap as it was, and cannot be asked for again', async () => {
    await evm.client.setBalance({ address: managed as `0x${string}`, value: 0n })
    const intent = await prepared()
    const signature = await sign(intent)
    expect((await send(intent.nonce, signature)).json.error.code).toBe('INSUFFICIENT_BALANCE')
    expect(reasonOf(await send(intent.nonce, signature))).toBe('hosted_not_sent')
    expect(jsonOf(await shop.get('/api/hosted')).wallets[0]?.spentAtomic).toBe('0')
  })

  test('whose answer got lost is unknown until the service tells; then it is one payment', async () => {
    const intent = await prepared()
    const signature = await sign(intent)
    await desk.stopService()
    const lost = await send(intent.nonce, signature)
    expect(jsonOf(lost)).toEqual({ state: 'unknown', paymentId: null })
    expect(jsonOf(await shop.get('/api/hosted')).wallets[0]?.spentAtomic).toBe((ETH / 2n).toString())
    await desk.startService()
    const found = await send(intent.nonce, signature)
    expect(jsonOf(found).state).toBe('sent')
    expect(await paidOut()).toBe(1)
  })

  test('that never reached the service is, when its time is long over, certainly not made, and its cap is free', async () => {
    const intent = await prepared()
    const signature = await sign(intent)
    await desk.stopService()
    await send(intent.nonce, signature)
    await desk.startService()
    offset += 6 * 60_000
    const open = await send(intent.nonce, signature)
    expect(jsonOf(open)).toEqual({ state: 'unknown', paymentId: null })
    offset += 2 * 60_000
    expect(reasonOf(await send(intent.nonce, signature))).toBe('hosted_not_sent')
    expect(jsonOf(await shop.get('/api/hosted')).wallets[0]?.spentAtomic).toBe('0')
    expect(await paidOut()).toBe(0)
  })

  test('that was kept by a service which died before it answered is unknown, whatever is said to whoever asks again', async () => {
    const intent = await prepared()
    const signature = await sign(intent)
    await using lossy = await openLossy(desk.service.url)
    await desk.stopBff()
    await desk.startBff({ serviceUrl: lossy.url })
    allow({})
    // A connection that stays open, as the one before it did.
    expect(await paidOut()).toBe(0)
    expect(jsonOf(await send(intent.nonce, signature))).toEqual({ state: 'unknown', paymentId: null })
    expect(lossy.asked()).toBe(1)
    await desk.stopBff()
    await desk.startBff()
    allow({})
    expect(jsonOf(await send(intent.nonce, signature)).state).toBe('sent')
    expect(await paidOut()).toBe(1)
  })
})

/** Loses the answer to the first payment together with its connection, and refuses every later one. */
async function openLossy(upstream: string) {
  let sends = 0
  const server = createServer((request, response) => {
    if (request.url === '/payment/send' && ++sends > 1) {
      response.writeHead(429, { 'Content-Type': 'application/json', 'Retry-After': '1' })
      response.end(JSON.stringify({ success: false, error: { code: 'RATE_LIMIT', message: 'Too many requests.', requestId: 'x' }, timestamp: 0 }))
      return
    }
    const lose = request.url === '/payment/send'
    const onward = httpRequest(upstream + request.url, { method: request.method, headers: request.headers }, (answer) => {
      if (lose) return answer.resume().on('end', () => request.socket.destroy())
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      return answer.pipe(response)
    })
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
