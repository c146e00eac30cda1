import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { filePurchase } from '#bff/db/schema.ts'
import { buildPayment } from '#chains/solana/build.ts'
import type { FileBody } from '#contract/file-endpoints.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import { Fixture } from '#testing/fixture.ts'
import { startGate, startSolana, type SolanaFixture } from '#testing/local-chains.ts'
import { eventually } from '#testing/service-context.ts'
import { solanaWallet, type BrowserResponse, type TestBrowser } from '#testing/test-browser.ts'
import { createTokens, payInvoice, solanaPayer } from '#testing/token-payers.ts'
import { encodeBase64, encodeHeader } from '#x402/header.ts'
import type { Requirements } from '#x402/requirements.ts'

/** Files that are sold for SOL and for tokens on Solana, where everybody can read a payment before it is presented. */

const PUBLIC_URL = 'https://files.example'
const CONTENT = 'The first page of the guide.'

const seller = solanaWallet()
const feePayer = Keypair.generate()
const payer = Keypair.generate()
const folder = mkdtempSync(join(tmpdir(), 'paydesk-files-'))
let solana: SolanaFixture
let fixture: Fixture
let shop: TestBrowser
let gate: Awaited<ReturnType<typeof startGate>>

beforeAll(async () => {
  solana = await startSolana({ slotTimeMs: 100 })
  gate = await startGate(solana.rpcUrl)
  gate.lie = (_, answer) => withBlockTime(answer)
  const network = await createTokens(solana, [
    payer.publicKey.toBase58(),
    feePayer.publicKey.toBase58(),
    seller.address,
  ])
  for (const { publicKey } of [payer, feePayer])
    await solana.setAccount(publicKey.toBase58(), { lamports: 10n ** 10n })
  fixture = await Fixture.open({
    plan: 'premium',
    networks: [{ ...network, rpcUrls: [gate.url] }],
    service: {
      facilitators: { allowed: [], loopback: true, wallets: [feePayer.publicKey.toBase58()] },
    },
    bff: {
      sellerWallets: [seller.address],
      operatorWallets: [seller.address],
      files: {
        publicUrl: PUBLIC_URL,
        keyFile: join(folder, 'source.key'),
        lostKeys: [],
        maxBytes: 10_000,
        loopback: true,
      },
    },
  })
  await createWallet(
    { ...fixture.service.context, now: new Date() },
    {
      accountId: fixture.accountId,
      family: 'solana',
      name: 'Settlements',
      secret: feePayer.secretKey.slice(0, 32),
    },
  )
  await fixture.registerPayee(seller.address)
})
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await gate?.[Symbol.asyncDispose]()
  await solana?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})
beforeEach(async () => {
  shop = fixture.browser()
  await shop.signIn(seller)
})

/** The block times of this node are a thousandth of what they should be. */
const withBlockTime = (answer: string) =>
  answer.replace(/"blockTime":(\d{7})\b/, () => `"blockTime":${Math.floor(Date.now() / 1000)}`)

const bodyOf = <Body>({ status, json, text }: BrowserResponse): Body => {
  if (status !== 200) throw new Error(text)
  return json as unknown as Body
}
const create = async (): Promise<FileBody> =>
  bodyOf<{ file: FileBody }>(
    await shop.post('/api/files', {
      name: 'The guide',
      prices: [
        { currency: 'USDC', amount: '1.5' },
        { currency: 'SOL', amount: '0.01' },
      ],
      source: { kind: 'text', text: CONTENT },
      page: 'http://localhost:4173/file',
    }),
  ).file
const addressOf = ({ code }: FileBody) => `${fixture.bff.url}/api/file/${code}`
const present = (file: FileBody, header: string) =>
  fetch(addressOf(file), { headers: { 'payment-signature': header } })

async function offersFor(file: FileBody): Promise<Requirements[]> {
  const { headers } = await fetch(addressOf(file))
  const header = headers.get('payment-required') ?? ''
  return JSON.parse(Buffer.from(header, 'base64').toString()).accepts
}
const inSol = (offers: readonly Requirements[]) => {
  const offer = offers.find(({ asset }) => asset === NATIVE_SOL.address)
  if (!offer) throw new Error('The file is not sold for SOL.')
  return offer
}

/** A transfer with a memo, signed by the payer. */
async function signSol(amountAtomic: bigint, memo: string): Promise<Uint8Array> {
  const { blockhash } = await solana.connection.getLatestBlockhash()
  const transaction = VersionedTransaction.deserialize(
    buildPayment({
      paymentId: memo,
      network: solana.network.network,
      asset: NATIVE_SOL,
      sender: payer.publicKey.toBase58(),
      recipient: seller.address,
      amountAtomic,
      blockhash,
      unitLimit: 30_000,
      unitPriceMicroLamports: 1_000n,
    }),
  )
  transaction.sign([payer])
  return transaction.serialize()
}

const headerOf = (file: FileBody, accepted: Requirements, payload: Record<string, unknown>) =>
  encodeHeader({
    x402Version: 2,
    resource: { url: `${PUBLIC_URL}/api/file/${file.code}` },
    accepted,
    payload,
  })

test('a signed transfer of SOL buys the file, once', async () => {
  const file = await create()
  const offer = inSol(await offersFor(file))
  const transaction = await signSol(BigInt(offer.amount), String(offer.extra.memo))
  const header = headerOf(file, offer, { transaction: encodeBase64(transaction) })
  const served = await eventually(
    () => present(file, header),
    ({ status }) => status !== 202,
  )
  expect([served.status, await served.text()]).toEqual([200, CONTENT])
  await eventually(
    () =>
      fixture.bff.context.db.select().from(filePurchase).where(eq(filePurchase.fileId, file.id)),
    ([row]) => row?.deliveredAt !== null && row !== undefined,
  )
  expect((await present(file, header)).status).toBe(409)
})

test('a token buys the file with the official client', async () => {
  const file = await create()
  const [offer] = await offersFor(file)
  if (!offer) throw new Error('The file has no price.')
  const header = await payInvoice(solanaPayer(solana, payer), offer, {
    url: `${PUBLIC_URL}/api/file/${file.code}`,
  })
  const served = await eventually(
    () => present(file, header),
    ({ status }) => status !== 202,
  )
  expect([served.status, await served.text()]).toEqual([200, CONTENT])
})

test('what a checkout had a payer send buys nothing for who reads it on the chain', async () => {
  const file = await create()
  const [, price] = file.prices
  const order = bodyOf<{ paymentId: string; transaction: string }>(
    await fixture.browser().post('/api/link/pay', {
      link: price?.link,
      walletAddress: payer.publicKey.toBase58(),
      option: { network: solana.network.network, asset: 'SOL' },
    }),
  )
  const transaction = VersionedTransaction.deserialize(Buffer.from(order.transaction, 'base64'))
  transaction.sign([payer])
  const bytes = transaction.serialize()
  const txRef = await solana.connection.sendRawTransaction(bytes)
  await eventually(
    () => solana.connection.getSignatureStatuses([txRef]),
    ({ value: [status] }) => status?.confirmationStatus === 'finalized',
  )
  const offer = inSol(await offersFor(file))
  // Without a memo of the file, the service takes the transaction for its own order.
  const own = { ...offer, extra: { ...offer.extra, memo: order.paymentId } }
  const sent = { ...own, extra: { ...own.extra, assetTransferMethod: 'txid' } }
  const pointing = { type: 'payment-proof', alg: 'Ed25519', format: 'solana-memo', txRef }
  const carrying = { transaction: encodeBase64(bytes) }
  const refused = [
    await present(file, headerOf(file, sent, pointing)),
    await eventually(
      () => present(file, headerOf(file, own, carrying)),
      ({ status }) => status !== 202,
    ),
  ]
  for (const answer of refused) {
    expect([402, 409]).toContain(answer.status)
    expect(await answer.text()).not.toContain(CONTENT)
  }
})

/** Sends what everybody can read from then on. */
async function broadcast(bytes: Uint8Array): Promise<void> {
  const txRef = await solana.connection.sendRawTransaction(bytes)
  await eventually(
    () => solana.connection.getSignatureStatuses([txRef]),
    ({ value: [status] }) => status?.confirmationStatus === 'finalized',
  )
}

test('a token transfer of another payer buys nothing, not even while it is unconfirmed', async () => {
  const file = await create()
  const [offer] = await offersFor(file)
  if (!offer) throw new Error('The file has no price.')
  const { memo: _, ...extra } = offer.extra
  const accepted = { ...offer, extra }
  // A wallet pays the merchant exactly the price, for another thing.
  const url = 'https://shop.example/another-thing'
  const feePayerOf = payer.publicKey.toBase58()
  const header = await payInvoice(
    solanaPayer(solana, payer),
    { ...accepted, extra: { ...extra, feePayer: feePayerOf } },
    { url },
  )
  const { payload } = JSON.parse(Buffer.from(header, 'base64').toString()) as {
    payload: { transaction: string }
  }
  await broadcast(Buffer.from(payload.transaction, 'base64'))
  const stolen = headerOf(file, accepted, payload)
  gate.lie = (_asked, answer) =>
    withBlockTime(answer).replaceAll(/"(?:confirmed|finalized)"/g, '"processed"')
  try {
    const answer = await present(file, stolen)
    expect([answer.status, await answer.text()]).toEqual([
      402,
      expect.stringContaining('received pending'),
    ])
  } finally {
    gate.lie = (_asked, answer) => withBlockTime(answer)
  }
})
