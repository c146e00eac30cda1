import * as v from 'valibot'
import { buildApproval, encodeApprove } from '#chains/evm/approval.ts'
import { buildPayment as buildOnEvm } from '#chains/evm/build.ts'
import { automaticTip, maxFeeAtomic, MAX_GAS, MIN_GAS } from '#chains/evm/fee.ts'
import { buildPayment as buildOnSolana } from '#chains/solana/build.ts'
import { MAX_AUTOMATIC_UNIT_PRICE } from '#chains/solana/fee.ts'
import { TOKEN_PROGRAMS } from '#chains/solana/programs.ts'
import { associatedTokenAccount } from '#chains/solana/token-account.ts'
import { familyOf, type Network } from '#contract/network.ts'
import { serverNow } from '../../../api/clock.ts'
import type { WalletPaymentIntent, UserError } from '../../../payment-intent/intent.ts'
import type { PaymentService } from '../../../payment-intent/ports.ts'
import { describeUserError } from '../../../errors/error-messages.ts'
import { callNetwork, RpcError } from '../../../rpc/call.ts'

/** How long a built transaction is offered for signing. */
const VALID_MS = 60_000
/** A transfer with its memo uses about a third; the rest is room for the guards a wallet adds. */
const UNIT_LIMIT = 40_000
/** What the official client offers for a transfer with another fee payer, in micro-lamports. */
const SPONSORED_UNIT_PRICE = 1n

const quantity = v.pipe(
  v.string(),
  v.regex(/^0x[0-9a-f]+$/i),
  v.transform((text) => BigInt(text)),
)
const FeeHistory = v.object({
  baseFeePerGas: v.pipe(v.array(quantity), v.minLength(1)),
  reward: v.optional(v.array(v.array(quantity)), []),
})
const Blockhash = v.object({
  value: v.object({ blockhash: v.string(), lastValidBlockHeight: v.number() }),
})
const Fees = v.array(v.object({ prioritizationFee: v.number() }))

type Reply = Awaited<ReturnType<PaymentService['build']>>

/** A problem that blocks a payment before there is anything to review. */
class NotBuiltError extends Error {
  override name = 'NotBuiltError'
  readonly userError: UserError

  constructor(userError: UserError) {
    super(userError.title)
    this.userError = userError
  }
}

/**
 * Builds payments to any recipient in this browser, through the reader's own node: no service is
 * asked, and none learns of it. `memo`: on Solana, the seller's name for the payment.
 */
export function buildHere(network: Network, memo: string | null): PaymentService {
  return {
    build: (order) =>
      familyOf(network.network) === 'evm' ? onEvm(network, order) : onSolana(network, order, memo),
    report: () => Promise.resolve(),
    explain: explainHere,
  }
}

/** A build error, in words. */
export function explainHere(error: unknown): UserError {
  if (error instanceof NotBuiltError) return error.userError
  return describeUserError('rpc_silent', '', error instanceof RpcError ? error.message : undefined)
}

async function onEvm(network: Network, order: WalletPaymentIntent): Promise<Reply> {
  const readChain = async <S extends v.GenericSchema>(
    schema: S,
    method: string,
    params: readonly unknown[],
  ) => v.parse(schema, await callNetwork(network, method, params))
  const [nonce, height, code, history] = await Promise.all([
    readChain(quantity, 'eth_getTransactionCount', [order.sender, 'pending']),
    readChain(quantity, 'eth_blockNumber', []),
    readChain(v.string(), 'eth_getCode', [order.recipient, 'latest']),
    readChain(FeeHistory, 'eth_feeHistory', ['0x5', 'latest', [50]]),
  ])
  const allows = order.operation?.kind === 'approve'
  const gas = code === '0x' && !allows ? MIN_GAS : await estimate(network, order)
  const input = {
    ...order,
    paymentId: order.id,
    nonce: Number(nonce),
    gas,
    ...priceOf(history, order, gas),
  }
  const bytes = allows ? buildApproval(input) : buildOnEvm(input)
  const blocks = Math.ceil(VALID_MS / network.blockTimeMs)
  return {
    paymentId: order.id,
    bytes,
    lastValidBlockHeight: Number(height) + blocks,
    expiresAt: serverNow() + VALID_MS,
  }
}

/** A payee that is a contract may refuse the money, and the node reports that here. */
async function estimate(network: Network, order: WalletPaymentIntent): Promise<bigint> {
  const { sender, recipient, amountAtomic, asset } = order
  try {
    const transaction =
      order.operation?.kind === 'approve'
        ? {
            from: sender,
            to: asset.address,
            data: encodeApprove({ spender: recipient, amountAtomic }),
          }
        : { from: sender, to: recipient, value: `0x${amountAtomic.toString(16)}` }
    const gas =
      (v.parse(quantity, await callNetwork(network, 'eth_estimateGas', [transaction])) * 6n) / 5n
    return gas < MIN_GAS ? MIN_GAS : gas > MAX_GAS ? MAX_GAS : gas
  } catch (error) {
    if (!(error instanceof RpcError && error.refused)) throw error
    throw new NotBuiltError(describeUserError('payee_refuses', '', error.message))
  }
}

type GasPrice = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }

/**
 * Twice the next base fee and the median tip of recent blocks, within the limit a payer ever pays.
 */
function priceOf(
  { baseFeePerGas, reward }: v.InferOutput<typeof FeeHistory>,
  { asset }: WalletPaymentIntent,
  gas: bigint,
): GasPrice {
  const tip = automaticTip(reward.map(([median = 0n]) => median))
  const ceiling = maxFeeAtomic(0n, asset) / gas
  const uncapped = (baseFeePerGas.at(-1) ?? 0n) * 2n + tip
  if (uncapped > ceiling * 2n) {
    throw new NotBuiltError(describeUserError('chain_busy'))
  }
  return { maxFeePerGas: uncapped < ceiling ? uncapped : ceiling, maxPriorityFeePerGas: tip }
}

async function onSolana(
  network: Network,
  order: WalletPaymentIntent,
  memo: string | null,
): Promise<Reply> {
  const [latest, fees, token] = await Promise.all([
    callNetwork(network, 'getLatestBlockhash', [{ commitment: 'confirmed' }]),
    callNetwork(network, 'getRecentPrioritizationFees', [[order.sender, order.recipient]]),
    order.asset.native ? undefined : readToken(network, order),
  ])
  const { blockhash, lastValidBlockHeight } = v.parse(Blockhash, latest).value
  const prices = v
    .parse(Fees, fees)
    .map(({ prioritizationFee }) => BigInt(prioritizationFee))
    .toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const usual = prices[Math.floor(prices.length * 0.75)] ?? 0n
  const automatic = usual > MAX_AUTOMATIC_UNIT_PRICE ? MAX_AUTOMATIC_UNIT_PRICE : usual
  // The account that pays the network fee decides the price; fee payers refuse a high price set by
  // others.
  const unitPriceMicroLamports = order.feePayer === undefined ? automatic : SPONSORED_UNIT_PRICE
  const paymentId = memo ?? order.id
  const bytes = buildOnSolana({
    ...order,
    paymentId,
    blockhash,
    unitLimit: UNIT_LIMIT,
    unitPriceMicroLamports,
    ...(token && { token }),
  })
  return { paymentId, bytes, lastValidBlockHeight, expiresAt: serverNow() + VALID_MS }
}

const Owners = v.object({
  value: v.tuple([
    v.nullable(v.object({ owner: v.string() })),
    v.nullable(v.object({ owner: v.string() })),
    v.nullable(v.unknown()),
  ]),
})

/**
 * The program that owns the mint. A sponsored transfer opens no account, so the payee must have
 * one.
 */
async function readToken(
  network: Network,
  { asset, recipient }: WalletPaymentIntent,
): Promise<{ program: string; opensAccount: boolean }> {
  const [old, newer] = TOKEN_PROGRAMS.map(
    (program) => associatedTokenAccount({ owner: recipient, mint: asset.address, program }).address,
  )
  const accounts = [asset.address, old, newer]
  const answer = v.parse(
    Owners,
    await callNetwork(network, 'getMultipleAccounts', [
      accounts,
      { encoding: 'base64', commitment: 'confirmed' },
    ]),
  )
  const program = answer.value[0]?.owner
  const place = program === undefined ? -1 : TOKEN_PROGRAMS.indexOf(program)
  if (program === undefined || place < 0)
    throw new NotBuiltError(
      describeUserError('payee_refuses', '', `${asset.symbol} is not a token on this network.`),
    )
  if (!answer.value[place + 1])
    throw new NotBuiltError(describeUserError('payee_without_account', '', asset.symbol))
  return { program, opensAccount: false }
}
