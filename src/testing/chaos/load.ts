import { keccak256, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Family } from '#contract/address.ts'
import { readStopped } from '#service/db/wallet-ledger.ts'
import { ApiClient, at, textAt, type ApiReply } from '../api-client.ts'
import {
  EVM_METHODS,
  facilitatorBody,
  HOLDER_METHODS,
  receiveBody,
  SOLANA_METHODS,
  type Presented,
} from '../tenant-proofs.ts'
import { buildOrder, paySolanaOrder, report, signOrder } from '../tenant-orders.ts'
import {
  newRequestedPayment,
  requestUntilDecided,
  type Acknowledged,
  type RefusedCall,
  type RequestedPayment,
} from './client.ts'
import { pause } from './command.ts'
import { untilDone, type FaultHarness } from './fault-harness.ts'
import type { SeededRng } from './rng.ts'
import { watchFinality } from './watch-finality.ts'

/** What payers and merchants do while faults happen, and what they were told. */

/** A proof that was presented until a grant or a refusal decided it. `cutOff`: calls that got no answer: one of them may have been granted. */
export type SettledProof = {
  proof: Presented
  grants: number
  cutOff: number
  refusal: string | undefined
}
/** An order in local mode whose transaction its payer broadcast. */
export type PaidOrder = {
  paymentId: string
  payee: string
  signature: string
  atomic: bigint
  /** On EVM, what the payer's wallet broadcasts again where a block was dropped. */
  sent?: { payer: PrivateKeyAccount; raw: Hex }
}

export type Load = {
  requested: RequestedPayment[]
  acknowledged: Acknowledged[]
  orders: PaidOrder[]
  settled: SettledProof[]
  /** What was finished while faults were still happening. */
  underFaults: number
  /** Answers from 400 on, by status, code and Retry-After. */
  refused: Map<string, number>
  cutOff: number
  /** Payments that were called final before the block of their transaction was. */
  finalEarly: string[]
  /** Payments whose finality was compared with the chain's. */
  finalSeen: number
  /** Proofs that nobody had decided three minutes after the last fault. */
  undecided: number
}

type LoadOptions = {
  target: () => string | undefined
  rng: SeededRng
  /** How many clients of each kind work at once. */
  clients: { sends: number; orders: number; proofs: number }
  families?: readonly Family[]
  /** What else than 409, 429 and 503 a client repeats. */
  alsoRepeat?: (status: number) => boolean
}

const ORDER_AMOUNT = 0.01
const PROOF_VALID_S = 1_800
const PATIENCE_MS = 40_000
const PAUSE_MS = 100
const DECIDED_WITHIN_MS = 180_000

/** Payments are made until `faults` has ended; then what was begun is finished, however long that takes. */
export async function runLoad(
  harness: FaultHarness,
  options: LoadOptions,
  faults: () => Promise<void>,
): Promise<Load> {
  const load: Load = {
    requested: [],
    acknowledged: [],
    orders: [],
    settled: [],
    underFaults: 0,
    refused: new Map(),
    cutOff: 0,
    finalEarly: [],
    finalSeen: 0,
    undecided: 0,
  }
  const finality = watchFinality(harness)
  const over: Over = { yes: false, at: 0 }
  const { clients, rng } = options
  const loop = async (name: string, once: (rng: SeededRng) => Promise<void>) => {
    const own = rng.fork(name)
    while (!over.yes) {
      await once(own)
      if (!over.yes) load.underFaults++
    }
  }
  const many = (count: number, name: string, once: (rng: SeededRng) => Promise<void>) =>
    Array.from({ length: count }, (_, index) => loop(`${name} ${index}`, once))
  const work = [
    ...many(clients.sends, 'send', (own) => send(harness, { load, options, over }, own)),
    ...many(clients.orders, 'order', (own) => payLocally(harness, { load, options, over }, own)),
    ...many(clients.proofs, 'proof', (own) => settleProof(harness, { load, options, over }, own)),
  ]
  const faulting = faults().finally(() => Object.assign(over, { yes: true, at: performance.now() }))
  // The harness may close only when nothing starts and stops its programs any more.
  await Promise.all([faulting, ...work]).catch(async (error: unknown) => {
    console.log('a client failed; the faults are waited for:', error)
    await Promise.allSettled([faulting, ...work])
    for (const { network, address, stopReason } of await readStopped(harness.db))
      console.log(`sending from ${address} on ${network} is stopped: ${stopReason}`)
    throw error
  })
  console.log('the faults have ended, and what was begun is finished')
  await finality.end()
  return Object.assign(load, { finalEarly: finality.early, finalSeen: finality.seen.size })
}

type Over = { yes: boolean; at: number }
type Running = { load: Load; options: LoadOptions; over: Over }

async function send(harness: FaultHarness, running: Running, rng: SeededRng): Promise<void> {
  const { load, options, over } = running
  const families = options.families ?? ['evm', 'solana']
  const tills = harness.tills.filter(({ family }) => families.includes(family))
  const requested = newRequestedPayment(tills, rng.int)
  load.requested.push(requested)
  const acknowledged = await requestUntilDecided(harness, requested, {
    target: options.target,
    prefer: 'respond-async',
    onCutOff: () => load.cutOff++,
    onRefused: (refused) => count(load, refused),
    faulty: () => !over.yes,
    ...(options.alsoRepeat && { alsoRepeat: options.alsoRepeat }),
  })
  load.acknowledged.push(acknowledged)
}

/** A payer has an order built, broadcasts it over an honest endpoint, and reports it. */
async function payLocally(harness: FaultHarness, running: Running, rng: SeededRng): Promise<void> {
  const { options, load } = running
  const family = rng.pick(options.families ?? (['evm', 'solana'] as const))
  const { makers } = harness
  const payee = await harness.openPayee(family)
  const api = connect(harness, running)
  const terms = { to: payee, amount: ORDER_AMOUNT }
  if (family === 'evm') {
    const payer = await harness.openPayer()
    const order = await untilDone(() =>
      buildOrder({ api: api() }, { ...terms, from: payer.address }),
    )
    const raw = await signOrder(payer, order)
    const [signature, { paymentId }] = [keccak256(raw), order]
    // A base fee that has risen refuses it: the payer's wallet broadcasts it again later.
    await makers.evm.client
      .sendRawTransaction({ serializedTransaction: raw })
      .catch(() => undefined)
    load.orders.push({ paymentId, payee, signature, atomic: 10n ** 16n, sent: { payer, raw } })
    await untilDone(() => must(report({ api: api() }, order, signature)))
    return
  }
  const payer = await makers.solana.payer()
  const order = await untilDone(() =>
    buildOrder({ api: api() }, { ...terms, from: payer.publicKey.toBase58() }),
  )
  // A stale blockhash may be over already: then nothing is paid, and the order expires.
  const signature = await paySolanaOrder(makers, payer, order).catch(() => undefined)
  if (signature === undefined) return
  load.orders.push({ paymentId: order.paymentId, payee, signature, atomic: 10_000_000n })
  await untilDone(() => must(report({ api: api() }, order, signature)))
}

/** A payer proves a payment, and its merchant presents it at either endpoint until it is decided. */
async function settleProof(harness: FaultHarness, running: Running, rng: SeededRng): Promise<void> {
  const { options, load, over } = running
  const family = rng.pick(options.families ?? (['evm', 'solana'] as const))
  const method = rng.pick<Presented['method']>(
    family === 'evm' ? [...EVM_METHODS, ...HOLDER_METHODS] : SOLANA_METHODS,
  )
  const payTo = await harness.openPayee(family)
  const proof = await harness.prove({ method, payTo, validSeconds: PROOF_VALID_S })
  const settled: SettledProof = { proof, grants: 0, cutOff: 0, refusal: undefined }
  load.settled.push(settled)
  const atFacilitator = rng.next() < 0.5
  const api = connect(harness, running)
  for (;;) {
    const decided = await present(api(), proof, atFacilitator).catch(() => {
      load.cutOff++
      settled.cutOff++
      return undefined
    })
    if (decided === 'granted') settled.grants++
    // Presented once more: what was granted may not be granted again.
    if (decided === 'granted' && settled.grants === 1) continue
    if (typeof decided === 'object' && settled.grants === 0) settled.refusal = decided.refusal
    if (decided !== undefined && decided !== 'undecided') return
    if (over.yes && performance.now() - over.at > DECIDED_WITHIN_MS) {
      load.undecided++
      const last = await api().post('/payment/receive', { ...receiveBody(proof), timeout: 5 })
      return console.log({ undecided: method, payTo, atFacilitator, last: last.text })
    }
    await pause(PAUSE_MS)
  }
}

/** Refused because an earlier call was told already, whose answer may have been cut off. */
const TOLD_BEFORE = ['already_used', 'duplicate_settlement']

/** What an answer to a proof decides. `undecided`: ask again. */
export async function present(
  api: ApiClient,
  proof: Presented,
  atFacilitator: boolean,
): Promise<'granted' | 'told before' | 'undecided' | { refusal: string }> {
  if (atFacilitator) {
    const { status, body } = await api.post('/facilitator/settle', facilitatorBody(proof))
    if (status !== 200) return repeated(status, body)
    if (at(body, 'success') === true) return 'granted'
    const reason = textAt(body, 'errorReason')
    if (reason === 'settlement_pending') return 'undecided'
    return TOLD_BEFORE.includes(reason) ? 'told before' : { refusal: reason }
  }
  const { status, body } = await api.post('/payment/receive', {
    ...receiveBody(proof),
    timeout: 15,
  })
  if (status !== 200) return repeated(status, body)
  if (at(body, 'verified') !== true) return 'undecided'
  return at(body, 'alreadyProcessed') === true ? 'told before' : 'granted'
}

function repeated(status: number, body: unknown): 'undecided' | { refusal: string } {
  if (status === 202 || status === 409 || status === 429 || status >= 500) return 'undecided'
  return { refusal: `${status} ${JSON.stringify(body)}` }
}

class RefusedError extends Error {
  override name = 'RefusedError'
}

async function must(reply: Promise<ApiReply>): Promise<void> {
  const { status, text } = await reply
  if (status >= 400) throw new RefusedError(`${status} ${text}`)
}

/** A client that counts what it is refused, at whichever process is there. */
function connect({ key }: FaultHarness, { load, options }: Running): () => ApiClient {
  return () =>
    new CountingClient(options.target() ?? 'http://127.0.0.1:1', key, (refused) =>
      count(load, refused),
    )
}

class CountingClient extends ApiClient {
  readonly #onRefused: (refused: RefusedCall) => void

  constructor(url: string, key: string, onRefused: (refused: RefusedCall) => void) {
    super(url, key)
    this.#onRefused = onRefused
  }

  override async send(request: Parameters<ApiClient['send']>[0]): Promise<ApiReply> {
    const late = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error('No answer in time.')), PATIENCE_MS).unref()
    })
    const reply = await Promise.race([super.send(request), late])
    if (reply.status >= 400)
      this.#onRefused({
        status: reply.status,
        code: String(at(reply.body, 'error.code')),
        retryAfter: reply.headers.has('retry-after'),
      })
    return reply
  }
}

function count({ refused }: Load, { status, code, retryAfter }: RefusedCall): void {
  const name = `${status} ${code}${retryAfter ? '' : ' without Retry-After'}`
  refused.set(name, (refused.get(name) ?? 0) + 1)
}
