import {
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import * as v from 'valibot'
import { erc20Abi, getAddress, numberToHex, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { AUTHORIZATION_TYPES } from '#chains/evm/signed-types.ts'
import type { Network } from '#contract/network.ts'
import { associatedTokenAccount, SOLANA_TOKENS } from '#devnet/tokens/solana.ts'
import { encodeHeader } from '#x402/header.ts'
import { Requirements } from '#x402/requirements.ts'
import { alter } from '../proofs.ts'
import { startEvm, startSolana, type EvmFixture, type SolanaFixture } from '../local-chains.ts'
import {
  approvePermit2,
  createTokens,
  deployTokens,
  evmPayer,
  payInvoice,
  solanaPayer,
  type EvmTokens,
} from '../token-payers.ts'

/** Runs one attack against one implementation and counts what it got for what it paid. */

/** What every resource costs, in atomic units; a new payer holds exactly one price of each token. */
export const PRICES = { usdc: 10n ** 9n, weth: 10n ** 19n, solana: 10n ** 9n } as const

const ETHER = 10n ** 18n
const BLOCK_MS = 150

export type World = AsyncDisposable & {
  evm: EvmFixture
  tokens: EvmTokens
  solana: SolanaFixture
  networks: readonly [evm: Network, solana: Network]
  /** Holders of the Solana token, each to be taken once. */
  takeHolder: () => Keypair
  stopBlocks: () => void
  startBlocks: () => void
}

/** Both implementations use the same chains. */
export async function openWorld(chainId = 31_337): Promise<World> {
  await using stack = new AsyncDisposableStack()
  const evm = stack.use(await startEvm({ slotsInEpoch: 4, chainId }))
  const tokens = await deployTokens(evm)
  const solana = stack.use(await startSolana({ slotTimeMs: 150 }))
  const holders = Array.from({ length: 32 }, () => Keypair.generate())
  const solanaNetwork = await createTokens(
    solana,
    holders.map(({ publicKey }) => publicKey.toBase58()),
  )
  let miner: NodeJS.Timeout | undefined
  const stopBlocks = () => clearInterval(miner)
  const startBlocks = () => {
    stopBlocks()
    miner = setInterval(() => void evm.mine().catch(() => undefined), BLOCK_MS)
  }
  startBlocks()
  stack.defer(stopBlocks)
  const running = stack.move()
  return {
    evm,
    tokens,
    solana,
    networks: [tokens.network, solanaNetwork],
    takeHolder: () => {
      const holder = holders.pop()
      if (!holder) throw new Error('Every holder of the Solana token is taken.')
      return holder
    },
    stopBlocks,
    startBlocks,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** What the resource servers of a target share with its attacks. */
export type ShopState = {
  /** How often a handler of a paid resource ran. */
  runs: number
  /** Runs inside each handler, before it answers. */
  during: (() => Promise<void>) | undefined
  /** The facilitator of the shops says yes to everything, settles nothing and names this hash. */
  facilitatorLies: Hex | undefined
}

export const newShopState = (): ShopState => ({
  runs: 0,
  during: undefined,
  facilitatorLies: undefined,
})

/** The body of a paid resource. */
export const contentOf = (path: string) => `The paid content of ${path}`

/** An implementation under attack. */
export type Target = AsyncDisposable & {
  name: string
  kind: 'official' | 'facilitator' | 'receive'
  /** Two resource servers of one merchant; each has its own facilitator. */
  shops: readonly [string, string]
  payTo: { evm: Hex; solana: Keypair }
  /** Who pays the network fees of its settlements on the EVM chain. */
  feePayers: readonly Hex[]
  state: ShopState
  /** How many payments the seller's ledger lists as undelivered or unmatched; absent where there is no ledger. */
  listed?: () => Promise<number>
}

export type ResourcePrice = { resource: string; accepted: Requirements }
export type ShopResponse = { status: number; delivered: boolean }

/** What an attack can do. Amounts and times are those of the tokens' contracts. */
export type AttackHarness = World & {
  target: Target
  /** How many requests a parallel attack sends. */
  parallel: number
  /** What a shop asks for a path, by its answer 402. */
  ask: (path: string, shop?: 0 | 1) => Promise<ResourcePrice>
  /** A new payer who can pay once. */
  payer: () => Promise<PrivateKeyAccount>
  /** Presents a payment. `paidFor: false`: no payment for this very resource was ever made. */
  present: (
    path: string,
    header: string | undefined,
    options?: {
      shop?: 0 | 1
      headers?: Record<string, string>
      paidFor?: boolean
      /** What the request goes through on its way to the shop. */
      through?: typeof fetch
    },
  ) => Promise<ShopResponse>
  /** Pays a path by Permit2, with the client of the x402 packages. */
  payByPermit2: (payer: PrivateKeyAccount, asked: ResourcePrice) => Promise<string>
  /** `rentFor`: the fee payer is to create a token account of this owner too. */
  payOnSolana: (asked: ResourcePrice, options?: { rentFor?: Keypair }) => Promise<string>
}

export type PublishedAttack = {
  id: string
  name: string
  /** Where it is published. */
  source: string
  /** What the attacker does here. */
  does: string
  /** What must hold. */
  invariant: string
  /** A shop that accepts payments before finality takes this risk, so it fails nobody. */
  accepted?: true
  /** Runs against sellers who wait for this many confirmations; without it, for those of the chain of the tests (2). */
  confirmations?: number
  /** Waits for a deadline that a signature names. */
  slow?: true
  /** Decides itself when blocks come, so no other attack may run beside it. */
  ownsBlocks?: true
  /** Of which implementations the attack has no counterpart. */
  without?: readonly Target['kind'][]
  run: (stage: AttackHarness) => Promise<void>
}

/** What an attack got. */
export type Measured = {
  /** Delivered resources. */
  grants: number
  /** Payments of the full price that arrived on the chain. */
  payments: number
  /** Handler runs: work that the seller did. */
  runs: number
  /** Grants of resources that nobody paid for, though something else was paid. */
  misplaced: number
  /** Settlements that failed on the EVM chain, whose network fees the target paid; 0 without details. */
  reverted: number
  /** Answers of status 500 and above, and requests that were not answered. */
  errors: number
  requests: number
  /** Payments that the seller's ledger lists as undelivered or unmatched; undefined where there is no ledger, and without details. */
  listed: number | undefined
}

/** Resources delivered for nothing, the figure that must be 0. */
export const stolenGrants = ({ grants, payments, misplaced }: Measured) =>
  Math.max(0, grants - payments, misplaced)
/** Handler runs that nobody paid for. */
export const stolenRuns = ({ runs, payments }: Measured) => Math.max(0, runs - payments)

/** How long a client waits for an answer. */
const ANSWERED_MS = 25_000
/** How long the chain takes at most for what was sent. */
const DECIDED_MS = 30_000

type Setting = {
  world: World
  targets: readonly Target[]
  parallel: number
  /** Whether what says nothing of a theft is measured too. */
  details?: boolean
}

/** An attack against every target, in their order; undefined where it has no counterpart. */
export async function measureAttack(
  attack: PublishedAttack,
  { world, targets, parallel, details = false }: Setting,
): Promise<(Measured | undefined)[]> {
  const measure = async (target: Target) =>
    attack.without?.includes(target.kind)
      ? undefined
      : await runAttack(attack, { world, target, parallel, details })
  if (!attack.ownsBlocks) return Promise.all(targets.map(measure))
  const measured: (Measured | undefined)[] = []
  for (const target of targets) measured.push(await measure(target))
  return measured
}

/** Whether an attack on this service succeeded. The official packages fail nothing here. */
export function isBroken(attack: PublishedAttack, { kind }: Target, measured: Measured): boolean {
  if (kind === 'official' || attack.accepted) return false
  return stolenGrants(measured) > 0 || stolenRuns(measured) > 0 || measured.errors > 0
}

const Challenge = v.object({
  resource: v.object({ url: v.string() }),
  accepts: v.pipe(v.array(Requirements), v.minLength(1)),
})

/** Executes an attack and waits until its last transaction is decided. */
async function runAttack(
  { run, ownsBlocks }: PublishedAttack,
  {
    world,
    target,
    parallel,
    details,
  }: { world: World; target: Target; parallel: number; details: boolean },
): Promise<Measured> {
  const { state } = target
  const counted = { grants: 0, misplaced: 0, errors: 0, requests: 0 }
  const readListed = details ? target.listed : undefined
  const before = {
    received: await receivedBy(world, target),
    runs: state.runs,
    height: await world.evm.client.getBlockNumber(),
    listed: await readListed?.(),
  }
  async function visit(
    url: string,
    headers: Record<string, string>,
    through = fetch,
  ): Promise<ShopResponse & { response: Response }> {
    counted.requests++
    const signal = AbortSignal.timeout(ANSWERED_MS)
    const response = await through(url, { headers, signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error
      // Two settlements of one account can take one nonce: the official facilitator then waits minutes for the one that is never mined.
      return new Response(null, { status: 504 })
    })
    if (response.status >= 500) counted.errors++
    const delivered = response.ok && (await response.text()).startsWith(contentOf(''))
    if (delivered) counted.grants++
    return { status: response.status, delivered, response }
  }
  const stage: AttackHarness = {
    ...world,
    target,
    parallel,
    async ask(path, shop = 0) {
      const { response } = await visit(`${target.shops[shop]}${path}`, {})
      const header = response.headers.get('payment-required') ?? ''
      const { resource, accepts } = v.parse(
        Challenge,
        JSON.parse(Buffer.from(header, 'base64').toString()),
      )
      const [accepted] = accepts
      if (!accepted) throw new Error(`${target.name} offers nothing for ${path}.`)
      return { resource: resource.url, accepted }
    },
    async payer() {
      const account = await world.evm.wallet(ETHER)
      await world.tokens.fund(account.address)
      return account
    },
    async present(path, header, { shop = 0, headers = {}, paidFor = true, through } = {}) {
      const all = { ...(header !== undefined && { 'payment-signature': header }), ...headers }
      const { status, delivered } = await visit(`${target.shops[shop]}${path}`, all, through)
      if (delivered && !paidFor) counted.misplaced++
      return { status, delivered }
    },
    async payByPermit2(payer, { resource, accepted }) {
      await approvePermit2(world.evm, payer, world.tokens.weth)
      return payInvoice(evmPayer(world.evm, payer), accepted, { url: resource })
    },
    async payOnSolana({ resource, accepted }, { rentFor } = {}) {
      const holder = world.takeHolder()
      const header = await payInvoice(solanaPayer(world.solana, holder), accepted, {
        url: resource,
      })
      return rentFor ? addRent(header, { holder, rentFor }) : header
    },
  }
  try {
    await run(stage)
  } finally {
    state.during = undefined
    state.facilitatorLies = undefined
    if (ownsBlocks) world.startBlocks()
  }
  await untilDecided(world)
  return {
    ...counted,
    payments: (await receivedBy(world, target)) - before.received,
    runs: state.runs - before.runs,
    reverted: details ? await countReverted(world, target, before.height) : 0,
    listed: before.listed === undefined ? undefined : ((await readListed?.()) ?? 0) - before.listed,
  }
}

/** A payment on Solana with an instruction that makes its fee payer create a token account. */
function addRent(
  header: string,
  { holder, rentFor }: { holder: Keypair; rentFor: Keypair },
): string {
  return alter(header, ({ payload, ...rest }) => {
    const signed = VersionedTransaction.deserialize(
      Buffer.from(String(payload.transaction), 'base64'),
    )
    const message = TransactionMessage.decompile(signed.message)
    message.instructions.push(
      new TransactionInstruction({
        programId: new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'),
        keys: [
          { pubkey: message.payerKey, isSigner: true, isWritable: true },
          {
            pubkey: associatedTokenAccount(rentFor.publicKey),
            isSigner: false,
            isWritable: true,
          },
          { pubkey: rentFor.publicKey, isSigner: false, isWritable: false },
          { pubkey: new PublicKey(SOLANA_USDC), isSigner: false, isWritable: false },
          { pubkey: SystemProgram.programId, isSigner: false, isWritable: false },
          {
            pubkey: new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'),
            isSigner: false,
            isWritable: false,
          },
        ],
        data: Buffer.from([1]),
      }),
    )
    const changed = new VersionedTransaction(message.compileToV0Message())
    changed.sign([holder])
    const transaction = Buffer.from(changed.serialize()).toString('base64')
    return { ...rest, payload: { ...payload, transaction } }
  })
}

async function countReverted(
  { evm }: World,
  { feePayers }: Target,
  since: bigint,
): Promise<number> {
  const paying = new Set(feePayers.map((address) => address.toLowerCase()))
  const head = await evm.client.getBlockNumber()
  let reverted = 0
  for (let blockNumber = since + 1n; blockNumber <= head; blockNumber++) {
    const { transactions } = await evm.client.getBlock({ blockNumber, includeTransactions: true })
    for (const { hash, from } of transactions) {
      if (!paying.has(from.toLowerCase())) continue
      const { status } = await evm.client.getTransactionReceipt({ hash })
      if (status === 'reverted') reverted++
    }
  }
  return reverted
}

/** How often a target's payee was paid, in all tokens. */
async function receivedBy({ evm, tokens, solana }: World, { payTo }: Target): Promise<number> {
  const balance = (token: string) =>
    evm.client.readContract({
      address: getAddress(token),
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [payTo.evm],
    })
  const [usdc, weth, { value }] = await Promise.all([
    balance(tokens.usdc.address),
    balance(tokens.weth.address),
    solana.connection.getTokenAccountBalance(
      associatedTokenAccount(payTo.solana.publicKey),
      'confirmed',
    ),
  ])
  return Number(usdc / PRICES.usdc + weth / PRICES.weth + BigInt(value.amount) / PRICES.solana)
}

async function untilDecided({ evm }: World): Promise<void> {
  const until = performance.now() + DECIDED_MS
  const wanted = (await evm.client.getBlockNumber()) + 4n
  for (;;) {
    const [{ pending }, height] = await Promise.all([
      evm.client.getTxpoolStatus(),
      evm.client.getBlockNumber(),
    ])
    // Behind a block that was removed, transactions with a gap before them stay queued.
    if (height >= wanted && pending === 0) return
    if (performance.now() > until) {
      const { pending: left } = await evm.client.getTxpoolContent()
      throw new Error(
        `At block ${height} (wanted: ${wanted}) these transactions are not decided: ${Object.entries(
          left,
        )
          .flatMap(([from, byNonce]) => Object.keys(byNonce).map((nonce) => `${from} ${nonce}`))
          .join(', ')}.`,
      )
    }
    await new Promise((resolve) => setTimeout(resolve, BLOCK_MS))
  }
}

export const SOLANA_USDC = SOLANA_TOKENS.USDC.address

type Authorization = {
  from: Hex
  to: Hex
  value: bigint
  validAfter: bigint
  validBefore: bigint
  nonce: Hex
}

export const nowSeconds = () => Math.floor(Date.now() / 1000)

/** A payment by EIP-3009 as its payer signs it. */
export async function authorize(
  payer: PrivateKeyAccount,
  { resource, accepted }: ResourcePrice,
  changes: Partial<Authorization> = {},
): Promise<string> {
  const { authorization, signature } = await signAuthorization(
    payer,
    { resource, accepted },
    changes,
  )
  return authorizationHeader({ resource, accepted }, authorization, signature)
}

export async function signAuthorization(
  payer: Pick<PrivateKeyAccount, 'address' | 'signTypedData'>,
  { accepted }: ResourcePrice,
  changes: Partial<Authorization> = {},
): Promise<{ authorization: Authorization; signature: Hex }> {
  const authorization: Authorization = {
    from: payer.address,
    to: getAddress(accepted.payTo),
    value: BigInt(accepted.amount),
    validAfter: 0n,
    validBefore: BigInt(nowSeconds() + 60),
    nonce: newNonce(),
    ...changes,
  }
  const signature = await payer.signTypedData({
    domain: {
      name: 'USD Coin',
      version: '2',
      chainId: Number(accepted.network.split(':')[1]),
      verifyingContract: getAddress(accepted.asset),
    },
    types: AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: authorization,
  })
  return { authorization, signature }
}

export function newNonce(): Hex {
  return numberToHex(
    BigInt(`0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')}`),
    { size: 32 },
  )
}

export function authorizationHeader(
  { resource, accepted }: ResourcePrice,
  { value, validAfter, validBefore, ...rest }: Authorization,
  signature: string,
): string {
  const authorization = {
    ...rest,
    value: value.toString(),
    validAfter: validAfter.toString(),
    validBefore: validBefore.toString(),
  }
  const payload = { signature, authorization }
  return encodeHeader({ x402Version: 2, resource: { url: resource }, accepted, payload })
}
