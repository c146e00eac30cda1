import { keccak256, type Hex } from 'viem'
import { buildPayment } from '#chains/evm/build.ts'
import { addFingerprint, randomBelow, formatFingerprint, type FeesPerGas } from '#chains/evm/fee.ts'
import { NATIVE_ETH, type Network } from '#contract/network.ts'
import type {
  Chain,
  ChainClock,
  Head,
  Observation,
  ObservedTransfer,
  MonitoredTransaction,
} from '#service/chains/chain.ts'

/**
 * An EVM chain in memory, behind the service's port to chains: blocks when the test says so. For searches over thousands of orders of events, in which a
 * node would take minutes; what the adapter of real nodes does is tested against nodes.
 */

export const SIMULATED: Network = {
  network: 'eip155:31337',
  name: 'Simulated',
  rpcUrls: ['http://127.0.0.1:9'],
  testnet: true,
  blockTimeMs: 1_000,
  confirmations: 2,
  assets: [NATIVE_ETH],
}

const BASE_FEE = 10n ** 9n
const TIP = 10n ** 9n
const FINAL_AFTER = 3
const GAS = 21_000n

type Sent = {
  hash: Hex
  transfer: ObservedTransfer
  height: number | null
  blockTime: Date | null
}
export type Sending = {
  sender: string
  recipient: string
  amountAtomic: bigint
  nonce: number
  fees: FeesPerGas
}

export class SimulatedChain implements Chain {
  readonly network = SIMULATED
  readonly scansBlocks = true
  readonly graceBlocks: number | null = 2
  readonly contracts = null
  #height = 100
  #sent: Sent[] = []
  #salt = 0

  /** Into the pool; takes the place of another one with the same sender and nonce. */
  send({ sender, recipient, amountAtomic, nonce, fees }: Sending): Hex {
    const hash = keccak256(new TextEncoder().encode(`${sender} ${nonce} ${this.#salt++}`))
    const transfer = {
      sender,
      recipient,
      asset: NATIVE_ETH.address,
      amountAtomic,
      memo: null,
      nonce,
      fingerprint: formatFingerprint(fees),
    }
    this.#sent = this.#sent.filter(
      (other) =>
        other.height !== null || other.transfer.sender !== sender || other.transfer.nonce !== nonce,
    )
    this.#sent.push({ hash, transfer, height: null, blockTime: null })
    return hash
  }

  /** The pool goes into the first of so many blocks. */
  mine(blocks = 1): void {
    for (const sent of this.#sent) {
      sent.height ??= this.#height + 1
      sent.blockTime ??= new Date()
    }
    this.#height += blocks
  }

  head(): Promise<Head> {
    const finalizedHeight = this.#height - FINAL_AFTER
    return Promise.resolve({
      height: this.#height,
      finalizedHeight,
      blockHeight: this.#height,
      finalizedBlockHeight: finalizedHeight,
    })
  }

  clock(): Promise<ChainClock> {
    return Promise.resolve({ head: new Date(), finalized: new Date() })
  }

  headSince(): Promise<Head> {
    return this.head()
  }

  recentHead(): Promise<Head> {
    return this.head()
  }

  build: Chain['build'] = (intent, options) => {
    const nonce = this.#nonceOf(intent.sender)
    const price = { maxFeePerGas: 2n * BASE_FEE + TIP, maxPriorityFeePerGas: TIP }
    const room = {
      baseFeePerGas: BASE_FEE,
      ceilingPerGas: 100n * BASE_FEE,
      namedPriorityFee: false,
      random: randomBelow,
    }
    const { fingerprint, ...fees } = options?.fingerprint
      ? addFingerprint(price, room)
      : { ...price, fingerprint: null }
    return Promise.resolve({
      ok: true,
      bytes: buildPayment({ ...intent, nonce, gas: GAS, ...fees }),
      encoding: 'evm-rlp-unsigned',
      nonce,
      builtHeight: this.#height,
      lastValidBlockHeight: this.#height + 2,
      feeAtomic: GAS * fees.maxFeePerGas,
      priorityFeeAtomic: GAS * fees.maxPriorityFeePerGas,
      fingerprint,
      decoded: {
        nonce,
        maxFeePerGas: fees.maxFeePerGas.toString(),
        maxPriorityFeePerGas: fees.maxPriorityFeePerGas.toString(),
      },
    })
  }

  history: Chain['history'] = (address) =>
    Promise.resolve({ nonce: this.#nonceOf(address), blockHash: null, unknown: [] })

  observe: Chain['observe'] = (signature, as = (seen) => seen) =>
    Promise.resolve(as(this.#observe(signature)))
  observeTwice: Chain['observeTwice'] = (signature) => this.observe(signature)

  find: Chain['find'] = async (monitored, { from, to }, expired) => {
    const landed = this.#sent.flatMap(({ hash, transfer, height, blockTime }) =>
      height !== null && height > from && height <= to
        ? [{ hash, transfer, height, blockTime }]
        : [],
    )
    const late = (await expired?.equalTo(landed.map(({ transfer }) => transfer))) ?? []
    const wanted = [...monitored, ...late]
    const found = landed.flatMap(({ hash, transfer, height, blockTime }) => {
      const paymentIds = wanted
        .filter((payment) => isOf(payment, transfer))
        .map(({ paymentId }) => paymentId)
      return paymentIds.length === 0
        ? []
        : [{ signature: hash, paymentIds, landed: { transfer, height, blockTime } }]
    })
    return { found, readTo: to }
  }

  /** As the adapter does it: another transaction that is no such payment has used the nonce, in a final block. */
  canNeverLand: Chain['canNeverLand'] = (wanted) => {
    const final = this.#height - FINAL_AFTER
    const user = this.#sent.find(
      ({ transfer, height }) =>
        transfer.sender === wanted.sender &&
        transfer.nonce === wanted.nonce &&
        height !== null &&
        height <= final,
    )
    return Promise.resolve(
      user !== undefined &&
        !(wanted.signed ? wanted.signed.includes(user.hash) : isOf(wanted, user.transfer)),
    )
  }

  skip: Chain['skip'] = (senders, { from, to }) =>
    Promise.resolve(
      !this.#sent.some(
        ({ transfer, height }) =>
          height !== null && height > from && height <= to && senders.includes(transfer.sender),
      ),
    )
  findNamed: Chain['findNamed'] = () => Promise.resolve([])
  findByMessage: Chain['findByMessage'] = () => Promise.resolve(null)
  isGone: Chain['isGone'] = () => Promise.resolve(false)
  simulateSigned: Chain['simulateSigned'] = () => Promise.resolve({ ok: true })
  broadcast: Chain['broadcast'] = () =>
    Promise.resolve({ accepted: false, reason: 'Nothing is broadcast here.' })
  funds: Chain['funds'] = () => Promise.reject(new Error('There are no managed wallets here.'))
  audit: Chain['audit'] = () => Promise.resolve(undefined)
  token: Chain['token'] = () => Promise.resolve(undefined)
  note: Chain['note'] = () => Promise.reject(new Error('Nothing is acknowledged here.'))
  check: Chain['check'] = () => Promise.resolve()
  close: Chain['close'] = () => Promise.resolve()

  #nonceOf(sender: string): number {
    return this.#sent.filter(({ transfer }) => transfer.sender === sender).length
  }

  #observe(signature: string): Observation {
    const sent = this.#sent.find(({ hash }) => hash === signature)
    if (!sent) return { state: 'not_found' }
    if (sent.height === null) return { state: 'pending', transfer: sent.transfer }
    return {
      state: 'landed',
      succeeded: true,
      height: sent.height,
      blockHash: `0x${sent.height.toString(16).padStart(64, '0')}`,
      confirmed: this.#height - sent.height + 1 >= SIMULATED.confirmations,
      finalized: sent.height <= this.#height - FINAL_AFTER,
      feeAtomic: GAS * BASE_FEE,
      feePayer: sent.transfer.sender,
      blockTime: sent.blockTime,
      transfer: sent.transfer,
      failure: null,
    }
  }
}

function isOf(wanted: MonitoredTransaction, transfer: ObservedTransfer): boolean {
  return (
    wanted.sender === transfer.sender &&
    wanted.recipient === transfer.recipient &&
    wanted.amountAtomic === transfer.amountAtomic
  )
}
