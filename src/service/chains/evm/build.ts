import type { Hex, PublicClient } from 'viem'
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
import { readCappedPrice, readGasPrice, type CappedPrice } from './fees.ts'
import { simulateNativeTransfer } from './simulate.ts'
import { simulateToken, type TokenSimulation } from './simulate-token.ts'

/** How long the service accepts what it built; EVM itself knows no such limit. */
const VALID_MS = 60_000

export type EvmBuildRequest = { intent: Omit<PaymentIntent, 'maxFeeAtomic'> } & BuildOptions

/** Builds the payment for the sender's next nonce, at the fees of this moment, after simulating it. */
export function build(
  endpoints: EvmEndpoints,
  network: Network,
  request: EvmBuildRequest,
): Promise<BuiltTransaction> {
  return endpoints.request(async (client): Promise<BuiltTransaction> => {
    const { intent, priorityFeeAtomic } = request
    const sender = intent.sender as Hex
    const [balance, code, nonce, height] = await Promise.all([
      client.getBalance({ address: sender }),
      client.getCode({ address: sender }),
      client.getTransactionCount({ address: sender, blockTag: 'pending' }),
      client.getBlockNumber(),
    ])
    if (code !== undefined && !code.startsWith(DELEGATED))
      throw senderProblem({ code: 'sender_is_contract', params: {} })
    const refused = refuseRecipient(network, intent.recipient)
    if (refused) return refused
    const simulation = await (intent.asset.native
      ? tryNative(client, network, { ...request, balance })
      : simulateToken(client, intent))
    if (!simulation.ok) return simulation.refused

    const { gas } = simulation
    const capped = await readCappedPrice(client, {
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

async function tryNative(
  client: PublicClient,
  network: Network,
  { intent, priorityFeeAtomic, balance }: EvmBuildRequest & { balance: bigint },
): Promise<TokenSimulation> {
  const { amountAtomic } = intent
  // Nodes refuse to simulate what the sender cannot pay, so the plain transfer's fee stands in.
  const short = async (availableAtomic: bigint): Promise<TokenSimulation> => {
    const { maxFeePerGas } = await readGasPrice(client, MIN_GAS, priorityFeeAtomic)
    return {
      ok: false,
      refused: nativeShortage(network, {
        amountAtomic,
        availableAtomic,
        feeAtomic: MIN_GAS * maxFeePerGas,
      }),
    }
  }
  if (balance < amountAtomic) return short(balance)
  const simulated = await simulateNativeTransfer(client, intent)
  if (simulated.ok) return simulated
  if (simulated.short) return short(await client.getBalance({ address: intent.sender as Hex }))
  return { ok: false, refused: { ok: false, code: 'INVALID_RECIPIENT', reason: simulated.reason } }
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
