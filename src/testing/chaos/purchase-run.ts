import { createKeyPairSignerFromBytes } from '@solana/kit'
import { PublicKey, VersionedTransaction } from '@solana/web3.js'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import bs58 from 'bs58'
import * as v from 'valibot'
import { erc20Abi, getAddress, parseAbi, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { createSigner, wrapFetchWithPayment as wrapFetchV1 } from 'x402-fetch'
import { PERMIT2 } from '#chains/evm/signed-types.ts'
import { associatedTokenAccount } from '#devnet/tokens/solana.ts'
import { inParallel } from '#service/chains/endpoints.ts'
import { Eip3009Payload, Permit2Payload } from '#x402/authorization.ts'
import { approvePermit2, evmPayer } from '../token-payers.ts'
import { PRICES, type PurchaseShop } from './purchase-shop.ts'

export const CLIENTS = {
  '@x402/fetch': ['eip3009', 'permit2', 'solana', 'eth'],
  'x402-fetch': ['v1'],
} as const
export type ClientName = keyof typeof CLIENTS
type Method = (typeof CLIENTS)[ClientName][number]

/** What the purchases of one client came to. */
export type PurchaseReport = {
  purchases: number
  charged: number
  delivered: number
  /** Of the delivered: the first answer was a refusal, and the same payment was presented again. */
  deliveredLater: number
  /** Charged and not delivered, in `GET /undelivered` with the payer. */
  refundable: number
  chargedTwice: number
  /** Charged, not delivered and not listed. */
  lost: number
  /** Delivered without a charge. */
  unpaid: number
  /** Delivered and listed as undelivered all the same. */
  listedWrongly: number
  /** Resources of the lost ones, with the last answers. */
  losses: string[]
}

type Purchase = {
  method: Method
  url: string
  /** Every payment that the client made for it, as its header says. */
  payments: Set<string>
  delivered: boolean
  deliveredLater: boolean
  answers: string[]
}

type Payers = { evm: PrivateKeyAccount; secret: Hex; solanaScheme: ExactSvmScheme }

const AT_ONCE = 32
/** A purchase takes about fifteen calls: at this rate about half of all attempts meet a fault. */
const FAULT_RATE = 0.05
/** How often a buyer who presents a refused payment again does so while the faults last. */
const PRESENTED = 3
const SETTLED_WITHIN_MS = 120_000

export async function preparePayers({ world }: PurchaseShop): Promise<Payers> {
  const secret = generatePrivateKey()
  const evm = privateKeyToAccount(secret)
  await world.evm.client.setBalance({ address: evm.address, value: 10n ** 21n })
  await world.tokens.fund(evm.address)
  await approvePermit2(world.evm, evm, world.tokens.weth)
  const signer = await createKeyPairSignerFromBytes(world.takeHolder().secretKey)
  const solanaScheme = new ExactSvmScheme(signer, { rpcUrl: world.solana.rpcUrl })
  return { evm, secret, solanaScheme }
}

/**
 * Has an official client buy so often while the service's endpoints fail. Every second buyer who is
 * refused presents the same payment again, three times; the others go away. Then the faults end, and
 * the chains, the answers and the ledger are compared.
 */
export async function runPurchases(
  shop: PurchaseShop,
  { client, count, payers }: { client: ClientName; count: number; payers: Payers },
): Promise<PurchaseReport> {
  const methods = CLIENTS[client]
  const purchases = Array.from({ length: count }, (_, index): Purchase => {
    const method = methods[index % methods.length] ?? 'eip3009'
    const url = `${shop.url}/${method}?${client.replaceAll(/\W/g, '')}=${index}`
    return {
      method,
      url,
      payments: new Set(),
      delivered: false,
      deliveredLater: false,
      answers: [],
    }
  })
  const before = await received(shop)
  shop.setFaults(FAULT_RATE)
  await inParallel(purchases, AT_ONCE, async (purchase) => {
    await buy(shop, payers, purchase)
    // Native currency is sent by the buyer, who alone can name the transaction.
    const index = purchases.indexOf(purchase)
    const stays = purchase.method === 'eth' || Math.floor(index / methods.length) % 2 === 0
    for (let time = 0; stays && !purchase.delivered && time < PRESENTED; time++)
      await presentAgain(purchase)
  })
  shop.setFaults(0)
  for (const purchase of purchases)
    if (purchase.method === 'eth')
      for (let time = 0; !purchase.delivered && time < PRESENTED; time++)
        await presentAgain(purchase)
  return compare(shop, { purchases, before })
}

async function buy(shop: PurchaseShop, payers: Payers, purchase: Purchase): Promise<void> {
  const note: typeof fetch = (input, init) => {
    // The server replaces the global class Request, so that a request is known by its fields.
    const all = typeof input === 'object' && 'headers' in input ? input.headers : init?.headers
    const payment = new Headers(all).get(headerOf(purchase))
    if (payment !== null) purchase.payments.add(payment)
    return fetch(input, init)
  }
  const pay = await openClient(shop, payers, { purchase, note })
  await settle(purchase, () => pay(purchase.url, {}))
}

const headerOf = ({ method }: Purchase) => (method === 'v1' ? 'x-payment' : 'payment-signature')

async function presentAgain(purchase: Purchase): Promise<void> {
  const [payment] = purchase.payments
  if (payment === undefined) return
  await settle(purchase, () => fetch(purchase.url, { headers: { [headerOf(purchase)]: payment } }))
  purchase.deliveredLater = purchase.delivered
}

async function settle(purchase: Purchase, ask: () => Promise<Response>): Promise<void> {
  try {
    const response = await ask()
    const text = await response.text()
    const refusal = response.headers.get('payment-response') ?? text
    purchase.answers.push(`${response.status} ${readable(refusal)}`)
    purchase.delivered = response.ok && text.startsWith('The article')
  } catch (error) {
    purchase.answers.push(String(error))
  }
}

const readable = (text: string) =>
  text.startsWith('ey') ? Buffer.from(text, 'base64').toString() : text

type Opened = { purchase: Purchase; note: typeof fetch }

async function openClient({ world }: PurchaseShop, payers: Payers, { purchase, note }: Opened) {
  const [evm, solana] = world.networks.map(({ network }) => network as `${string}:${string}`)
  if (!evm || !solana) throw new Error('The chains have no names.')
  if (purchase.method === 'v1')
    return wrapFetchV1(note, await createSigner('base-sepolia', payers.secret), PRICES.usdc)
  if (purchase.method === 'eth')
    return wrapFetchWithPayment(note, evmPayer(world.evm, await world.evm.wallet(10n ** 18n)))
  return wrapFetchWithPayment(
    note,
    new x402Client()
      .register(evm, new ExactEvmScheme(payers.evm))
      .register(solana, payers.solanaScheme)
      .setSpendControls(false),
  )
}

type Charges = { purchases: readonly Purchase[]; before: bigint }

async function compare(
  shop: PurchaseShop,
  { purchases, before }: Charges,
): Promise<PurchaseReport> {
  const deadline = Date.now() + SETTLED_WITHIN_MS
  for (;;) {
    const landed = await landedOnSolana(shop)
    const counted = await inParallel(purchases, AT_ONCE, async (purchase) => {
      const charges = await Promise.all(
        [...purchase.payments].map((payment) => isCharged(shop, { payment, purchase, landed })),
      )
      return { purchase, charges: charges.filter(Boolean).length }
    })
    const listed = new Set((await shop.undelivered()).map(({ resource }) => resource))
    const isListed = ({ url }: Purchase) => listed.has(url)
    const count = (holds: (each: (typeof counted)[number]) => boolean) =>
      counted.filter(holds).length
    const lost = counted.filter(
      ({ purchase, charges }) => charges > 0 && !purchase.delivered && !isListed(purchase),
    )
    const charges = counted.reduce((sum, each) => sum + each.charges, 0)
    const report: PurchaseReport = {
      purchases: purchases.length,
      charged: count((each) => each.charges > 0),
      delivered: count(({ purchase }) => purchase.delivered),
      deliveredLater: count(({ purchase }) => purchase.deliveredLater),
      refundable: count(
        ({ purchase, charges }) => charges > 0 && !purchase.delivered && isListed(purchase),
      ),
      chargedTwice: count((each) => each.charges > 1),
      lost: lost.length,
      unpaid: count((each) => each.charges === 0 && each.purchase.delivered),
      listedWrongly: count(({ purchase }) => purchase.delivered && isListed(purchase)),
      losses: lost.map(({ purchase }) => `${purchase.url}: ${purchase.answers.join(' | ')}`),
    }
    // A purchase of native currency is charged by its sender; what arrived is all that was charged.
    const arrived = (await received(shop)) - before
    const open = report.lost > 0 || report.unpaid > 0 || BigInt(charges) !== arrived
    if (!open) return report
    if (Date.now() > deadline)
      return {
        ...report,
        chargedTwice: report.chargedTwice + Math.max(0, Number(arrived) - charges),
      }
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
}

/** How many prices the seller has received, in all assets. */
async function received({ world, payTo }: PurchaseShop): Promise<bigint> {
  const { evm, tokens, solana } = world
  const balanceOf = (token: string) =>
    evm.client.readContract({
      address: getAddress(token),
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [payTo.evm],
    })
  const account = associatedTokenAccount(new PublicKey(payTo.solana))
  const [usdc, weth, eth, spl] = await Promise.all([
    balanceOf(tokens.usdc.address),
    balanceOf(tokens.weth.address),
    evm.client.getBalance({ address: payTo.evm }),
    solana.connection.getTokenAccountBalance(account, 'confirmed'),
  ])
  return (
    usdc / PRICES.usdc +
    weth / PRICES.weth +
    eth / PRICES.eth +
    BigInt(spl.value.amount) / PRICES.solana
  )
}

/** The signatures of buyers on transactions that reached the seller's token account. */
async function landedOnSolana({ world, payTo }: PurchaseShop): Promise<Set<string>> {
  const { connection } = world.solana
  const account = associatedTokenAccount(new PublicKey(payTo.solana))
  const found = []
  for (let before: string | undefined; ;) {
    const page = await connection.getSignaturesForAddress(
      account,
      before === undefined ? {} : { before },
      'confirmed',
    )
    found.push(...page.filter(({ err }) => err === null))
    const oldest = page.at(-1)?.signature
    if (oldest === undefined || page.length < 1_000) break
    before = oldest
  }
  const landed = await inParallel(found, AT_ONCE, ({ signature }) =>
    connection.getTransaction(signature, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 0,
    }),
  )
  return new Set(landed.flatMap((each) => each?.transaction.signatures ?? []))
}

const stateAbi = parseAbi([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function nonceBitmap(address owner, uint256 word) view returns (uint256)',
])

const Header = v.object({ payload: v.record(v.string(), v.unknown()) })

type Charge = { payment: string; purchase: Purchase; landed: Set<string> }

/** Whether the chain has executed a payment. */
async function isCharged(
  { world: { evm, tokens } }: PurchaseShop,
  { payment, purchase, landed }: Charge,
): Promise<boolean> {
  const { payload } = v.parse(Header, JSON.parse(Buffer.from(payment, 'base64').toString()))
  const { method } = purchase
  if (method === 'solana') {
    const bytes = Buffer.from(String(payload.transaction), 'base64')
    return VersionedTransaction.deserialize(bytes).signatures.some((signature) =>
      landed.has(bs58.encode(signature)),
    )
  }
  if (method === 'eth') {
    const hash = String(payload.txRef) as Hex
    return (await evm.client.getTransactionReceipt({ hash })).status === 'success'
  }
  if (method === 'permit2') {
    const { permit2Authorization } = v.parse(Permit2Payload, payload)
    const nonce = permit2Authorization.nonce
    const word = await evm.client.readContract({
      address: PERMIT2,
      abi: stateAbi,
      functionName: 'nonceBitmap',
      args: [getAddress(permit2Authorization.from), nonce >> 8n],
    })
    return ((word >> (nonce & 255n)) & 1n) === 1n
  }
  const { authorization } = v.parse(Eip3009Payload, payload)
  return evm.client.readContract({
    address: getAddress(tokens.usdc.address),
    abi: stateAbi,
    functionName: 'authorizationState',
    args: [getAddress(authorization.from), authorization.nonce],
  })
}
