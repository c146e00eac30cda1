import type { GetFeeHistoryReturnType, Hex, PublicClient } from 'viem'
import { buildPayment, targetOf } from '#chains/evm/build.ts'
import {
  addFingerprint,
  randomBelow,
  maxFeeAtomic,
  MIN_GAS,
  priorityFeeOfPrice,
} from '#chains/evm/fee.ts'
import type { PaymentIntent } from '#chains/match.ts'
import { chainIdOf, type Network } from '#contract/network.ts'
import { senderProblem } from '#contract/reason-problems.ts'
import type { RecipientReason } from '#contract/reasons.ts'
import type { BuildOptions, BuiltTransaction } from '../chain.ts'
import type { GasPrice } from '../contracts.ts'
import { nativeShortage } from '../shortage.ts'
import type { EvmEndpoints } from './client.ts'
import { readDataFee } from './data-fee.ts'
import { priceWithin, readFees, type CappedPrice } from './fees.ts'
import { simulateNativeTransfer } from './simulate.ts'
import { simulateToken } from './simulate-token.ts'

/** How long the service accepts what it built; EVM itself knows no such limit. */
const VALID_MS = 60_000

export type EvmBuildRequest = { intent: Omit<PaymentIntent, 'maxFeeAtomic'> } & BuildOptions

/**
 * Builds the payment for the sender's next nonce, at the fees of this moment, after simulating it. All that
 * decides about it is asked in one request: a node far away is waited for once.
 */
export function build(
  endpoints: EvmEndpoints,
  network: Network,
  request: EvmBuildRequest,
): Promise<BuiltTransaction> {
  return endpoints.request(async (client): Promise<BuiltTransaction> => {
    const { intent, priorityFeeAtomic } = request
    const sender = intent.sender as Hex
    const refused = refuseRecipient(network, intent.recipient)
    const together = client.together()
    const [read, simulation] = await Promise.allSettled([
      Promise.all([
        together.getBalance({ address: sender }),
        together.getCode({ address: sender }),
        together.getTransactionCount({ address: sender, blockTag: 'pending' }),
        together.getBlockNumber(),
        readFees(together),
      ]),
      refused ? undefined : simulate(together, intent),
    ])
    if (read.status === 'rejected') throw read.reason
    const [balance, code, nonce, height, fees] = read.value
    if (code !== undefined && !code.startsWith(DELEGATED))
      throw senderProblem({ code: 'sender_is_contract', params: {} })
    if (refused) return refused
    const short = (availableAtomic: bigint) =>
      shortOfNative(client, network, { ...request, fees, availableAtomic })
    // Nodes refuse to simulate what the sender cannot pay.
    if (intent.asset.native && balance < intent.amountAtomic) return short(balance)
    if (simulation.status === 'rejected') throw simulation.reason
    const simulated = simulation.value
    if (!simulated?.ok)
      return simulated?.refused ?? short(await client.getBalance({ address: sender }))

    const { gas } = simulated
    const capped = priceWithin(client, fees, {
      gas,
      priorityFeeAtomic,
      capAtomic: maxFeeAtomic(priorityFeeAtomic, intent.asset),
    })
    const { fingerprint, ...price } = choosePrice(capped, request)
    const bytes = buildPayment({ ...intent, nonce, gas, ...price })
    const dataFeeAtomic = await readDataFee(client, bytes, gas)
    const feeAtomic = gas * price.maxFeePerGas + dataFeeAtomic
    const amountAtomic = intent.asset.native ? intent.amountAtomic : 0n
    // anvil's and some nodes' estimates overlook the fee: the balance is compared here.
    if (balance < amountAtomic + feeAtomic)
      return nativeShortage(network, { amountAtomic, availableAtomic: balance, feeAtomic })
    return {
      ok: true,
      bytes,
      encoding: 'evm-rlp-unsigned',
      nonce,
      builtHeight: Number(height),
      lastValidBlockHeight: Number(height) + Math.ceil(VALID_MS / network.blockTimeMs),
      feeAtomic,
      priorityFeeAtomic: priorityFeeOfPrice(price.maxPriorityFeePerGas, gas),
      fingerprint,
      decoded: {
        ...describe(intent, { nonce, gas, price }),
        ...(dataFeeAtomic > 0n && { dataFee: dataFeeAtomic.toString() }),
      },
    }
  })
}

function choosePrice(
  price: CappedPrice,
  { priorityFeeAtomic, fingerprint }: BuildOptions,
): GasPrice & { fingerprint: string | null } {
  const { maxFeePerGas, maxPriorityFeePerGas, baseFeePerGas, ceilingPerGas } = price
  if (!fingerprint) return { maxFeePerGas, maxPriorityFeePerGas, fingerprint: null }
  return addFingerprint(price, {
    baseFeePerGas,
    ceilingPerGas,
    namedPriorityFee: priorityFeeAtomic !== undefined,
    random: randomBelow,
  })
}

/** The transaction in the fields a wallet is asked with, and what a call of a token says. */
function describe(
  intent: EvmBuildRequest['intent'],
  { nonce, gas, price }: { nonce: number; gas: bigint; price: GasPrice },
): Record<string, unknown> {
  const { to, value, data = '0x' } = targetOf(intent)
  const { address, symbol, decimals, native } = intent.asset
  return {
    type: 'eip1559',
    chainId: chainIdOf(intent.network),
    from: intent.sender,
    to,
    value: value.toString(),
    data,
    nonce,
    gas: gas.toString(),
    maxFeePerGas: price.maxFeePerGas.toString(),
    maxPriorityFeePerGas: price.maxPriorityFeePerGas.toString(),
    ...(!native && {
      call: {
        function: 'transfer(address,uint256)',
        recipient: intent.recipient,
        amount: intent.amountAtomic.toString(),
        token: { address, symbol, decimals },
      },
    }),
  }
}

/** Without `refused`: the sender does not hold the amount, or not any more. */
type Simulated = { ok: true; gas: bigint } | { ok: false; refused?: Refused }

async function simulate(
  client: PublicClient,
  intent: EvmBuildRequest['intent'],
): Promise<Simulated> {
  if (!intent.asset.native) return simulateToken(client, intent)
  const simulated = await simulateNativeTransfer(client, intent)
  if (simulated.ok) return simulated
  if (simulated.short) return { ok: false }
  return { ok: false, refused: { ok: false, code: 'INVALID_RECIPIENT', reason: simulated.reason } }
}

type Short = EvmBuildRequest & { fees: GetFeeHistoryReturnType; availableAtomic: bigint }

/** What was not simulated has the fee of a plain transfer. */
function shortOfNative(
  client: PublicClient,
  network: Network,
  { intent, priorityFeeAtomic, fees, availableAtomic }: Short,
): Refused {
  const { maxFeePerGas } = priceWithin(client, fees, {
    gas: MIN_GAS,
    priorityFeeAtomic,
    capAtomic: maxFeeAtomic(priorityFeeAtomic),
  })
  return nativeShortage(network, {
    amountAtomic: intent.amountAtomic,
    availableAtomic,
    feeAtomic: MIN_GAS * maxFeePerGas,
  })
}

type Refused = Exclude<BuiltTransaction, { ok: true }>

/** Code of an account that a key still controls (EIP-7702). */
const DELEGATED = '0xef0100'

/** The addresses below belong to precompiled contracts: what is sent there is lost. */
const FIRST_ORDINARY_ADDRESS = 0x1000n

function refuseRecipient({ assets }: Network, recipient: string): Refused | undefined {
  const refuse = (reason: RecipientReason): Refused => ({
    ok: false,
    code: 'INVALID_RECIPIENT',
    reason,
  })
  if (BigInt(recipient) < FIRST_ORDINARY_ADDRESS)
    return refuse({ code: 'precompiled_contract', params: {} })
  const token = assets.find(({ address }) => address === recipient)
  return (
    token &&
    refuse({ code: 'token_contract', params: { token: token.address, symbol: token.symbol } })
  )
}
