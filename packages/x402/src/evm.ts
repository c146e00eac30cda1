import {
  createPublicClient,
  createWalletClient,
  defineChain,
  http,
  keccak256,
  TransactionReceiptNotFoundError,
  WaitForTransactionReceiptTimeoutError,
  type Hex,
  type LocalAccount,
} from 'viem'
import {
  feeBoundAtomic,
  maxFeeAtomic as defaultMaxFee,
  MAX_GAS,
} from '../../../src/chains/evm/fee.ts'
import { createEvmClient, type EvmPayer } from '../../../src/x402/client/evm.ts'
import type { ExactClient } from '../../../src/x402/client/exact-client.ts'
import { ClientPaymentError, type ClientPayment } from '../../../src/x402/client/order.ts'

export { EVM_NATIVE } from '../../../src/contract/known-address.ts'
export { createEvmClient, type EvmPayer } from '../../../src/x402/client/evm.ts'
export { ClientPaymentError, type ClientPayment } from '../../../src/x402/client/order.ts'

export type ViemPayerOptions = {
  /** Holds the key in this process, for example `privateKeyToAccount(key)`. */
  account: LocalAccount
  /** The RPC endpoint of the network that payments are sent on. */
  rpcUrl: string
  /** How many blocks must hold a payment before it is presented to the seller; 1 without it. Where the seller asks for more, those are waited for while there is time. */
  confirmations?: number
  /** How long to wait for them, in milliseconds; 120,000 without it. */
  confirmedWithinMs?: number
  /**
   * The most network fee of one payment, in wei, on top of its amount; 5,000,000,000,000,000 (0.005 of the native currency) without it. A payment that may
   * cost more is refused before it is signed. What a rollup charges for data is not contained.
   */
  maxFeeAtomic?: bigint
  /**
   * Called with the hash of each signed payment before it is broadcast. Keep it where it outlives this process: after a crash it says whether
   * something was paid. Where this rejects, nothing is sent.
   */
  onSigned?: (payment: { hash: Hex; order: ClientPayment }) => void | Promise<void>
}

type Signed = { hash: Hex; raw: Hex }
/** What viem fills in: `gasPrice` on a network without a base fee. */
type Costs = { gas?: bigint; maxFeePerGas?: bigint; gasPrice?: bigint }

const REPEAT_MS = 4_000

/**
 * The scheme `exact` for an account of viem: ETH by `txid`, tokens by EIP-3009 or Permit2.
 * @throws ClientPaymentError while a payment is made. Its message says whether something was sent.
 */
export function createViemClient(options: ViemPayerOptions): ExactClient {
  return createEvmClient(createViemPayer(options))
}

/**
 * Payments of one payer are signed one after the other, each with the next nonce.
 * @throws TypeError where `maxFeeAtomic` is no amount
 */
export function createViemPayer({
  account,
  rpcUrl,
  confirmations = 1,
  confirmedWithinMs = 120_000,
  maxFeeAtomic = defaultMaxFee(),
  onSigned,
}: ViemPayerOptions): EvmPayer {
  // Of what is no amount, nothing would be more.
  if (typeof maxFeeAtomic !== 'bigint' || maxFeeAtomic < 0n)
    throw new TypeError(
      `maxFeeAtomic: expected wei as a bigint of 0 or more, for example 5_000_000_000_000_000n. Received ${String(maxFeeAtomic)} (${typeof maxFeeAtomic}).`,
    )
  const transport = http(rpcUrl)
  const reader = createPublicClient({ transport })
  let last: Promise<unknown> = Promise.resolve()
  // While payments are open, a node that has lost one counts too few.
  let open = 0
  let nextNonce = 0

  async function sign(order: ClientPayment): Promise<Signed> {
    try {
      const id = await reader.getChainId()
      if (order.network !== `eip155:${id}`)
        throw new ClientPaymentError(
          `The seller asks for a payment on ${order.network}; the RPC endpoint serves eip155:${id}. Nothing was sent.`,
        )
      const counted = await reader.getTransactionCount({
        address: account.address,
        blockTag: 'pending',
      })
      const nonce = Math.max(counted, nextNonce)
      const wallet = createWalletClient({ account, transport, chain: chainOf(id, rpcUrl) })
      const request = await wallet.prepareTransactionRequest({
        to: order.payTo as Hex,
        value: order.amountAtomic,
        nonce,
      })
      refuseCostly(order, request)
      const raw = await wallet.signTransaction(request)
      const hash = keccak256(raw)
      await onSigned?.({ hash, order })
      nextNonce = nonce + 1
      return { hash, raw }
    } catch (cause) {
      if (cause instanceof ClientPaymentError) throw cause
      throw new ClientPaymentError('The payment could not be prepared. Nothing was sent.', {
        cause,
      })
    }
  }

  /** The seller chooses the recipient, and a contract as much gas as it likes. */
  function refuseCostly({ payTo }: ClientPayment, { gas, maxFeePerGas, gasPrice }: Costs): void {
    const price = maxFeePerGas ?? gasPrice
    if (gas === undefined || price === undefined)
      throw new ClientPaymentError(
        'The RPC endpoint did not say what the payment costs. Nothing was sent. Use another endpoint.',
      )
    if (gas > MAX_GAS)
      throw new ClientPaymentError(
        `The payment to ${payTo} needs ${gas} gas, and the limit is ${MAX_GAS}. Nothing was sent. The recipient is a contract: ask the seller for another address.`,
      )
    const fee = feeBoundAtomic({ gas, maxFeePerGas: price })
    if (fee > maxFeeAtomic)
      throw new ClientPaymentError(
        `The network fee of the payment to ${payTo} can be ${fee} wei (${gas} gas at ${price} wei), and maxFeeAtomic is ${maxFeeAtomic}. Nothing was sent. Pay when fees are lower, or raise maxFeeAtomic.`,
      )
  }

  /** The same bytes are sent until they are in a block: they can be executed once only. */
  async function broadcast(order: ClientPayment): Promise<Signed> {
    const signed = await sign(order)
    // A node that has them already refuses them; whether they landed is read from the chain.
    await reader.sendRawTransaction({ serializedTransaction: signed.raw }).catch(() => undefined)
    return signed
  }

  return {
    address: account.address,
    signTypedData: (data) => account.signTypedData(data),
    async sendPayment(order) {
      open++
      try {
        const sent = last.then(() => broadcast(order))
        last = sent.catch(() => undefined)
        return await confirmed(await sent, confirmationsOf(order))
      } finally {
        if (--open === 0) nextNonce = 0
      }
    },
  }

  async function confirmed(signed: Signed, required: number): Promise<Hex> {
    const until = performance.now() + confirmedWithinMs
    if (!(await isConfirmed(signed, { blocks: confirmations, until })))
      throw new ClientPaymentError(
        `The payment ${signed.hash} was sent and is not confirmed yet. It may still be executed, so do not pay again. Present it once it is confirmed: createEvmClient({ ...payer, sendPayment: async () => '${signed.hash}' }).`,
      )
    // A seller who is asked too early refuses. One that asks for too much is not waited for longer.
    if (required > confirmations) await isConfirmed(signed, { blocks: required, until })
    return signed.hash
  }

  /** Whether so many blocks hold the payment before the time is over. */
  async function isConfirmed(
    { hash, raw }: Signed,
    { blocks, until }: { blocks: number; until: number },
  ): Promise<boolean> {
    while (performance.now() < until) {
      try {
        const { status } = await reader.waitForTransactionReceipt({
          hash,
          confirmations: blocks,
          checkReplacement: false,
          timeout: Math.min(REPEAT_MS, until - performance.now()),
        })
        if (status === 'success') return true
        throw new ClientPaymentError(
          `The payment ${hash} was reverted. It moved no money; its network fee is spent.`,
        )
      } catch (error) {
        if (error instanceof ClientPaymentError) throw error
        if (
          !(error instanceof WaitForTransactionReceiptTimeoutError) &&
          !(error instanceof TransactionReceiptNotFoundError)
        )
          await new Promise((resolve) => setTimeout(resolve, REPEAT_MS / 4))
        await reader.sendRawTransaction({ serializedTransaction: raw }).catch(() => undefined)
      }
    }
    return false
  }
}

/** How many blocks the seller wants to hold a payment: untrusted, 0 where it says none. */
function confirmationsOf({ extra: { confirmations } }: ClientPayment): number {
  return typeof confirmations === 'number' && Number.isSafeInteger(confirmations)
    ? confirmations
    : 0
}

function chainOf(id: number, rpcUrl: string) {
  return defineChain({
    id,
    name: `eip155:${id}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
}
