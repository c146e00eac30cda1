import type { Hex, PublicClient } from 'viem'
import { buildPayment } from '#chains/evm/build.ts'
import { MIN_GAS, priorityFeeOfPrice } from '#chains/evm/fee.ts'
import type { PaymentIntent } from '#chains/intent.ts'
import { chainIdOf, nativeAsset, type Network } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Built } from '../chain.ts'
import type { EvmEndpoints } from './client.ts'
import { readGasPrice } from './fees.ts'
import { simulate } from './simulate.ts'

/** How long the service accepts what it built; EVM itself knows no such limit. */
const VALID_MS = 60_000

export type BuildRequest = { intent: Omit<PaymentIntent, 'maxFeeAtomic'>; priorityFeeAtomic?: bigint }

/** Builds the payment for the sender's next nonce, at the fees of this moment, after simulating it. */
export function build(endpoints: EvmEndpoints, network: Network, request: BuildRequest): Promise<Built> {
  return endpoints.ask(async (client) => {
    const { intent, priorityFeeAtomic } = request
    const sender = intent.sender as Hex
    const [balance, code, nonce, height] = await Promise.all([
      client.getBalance({ address: sender }),
      client.getCode({ address: sender }),
      client.getTransactionCount({ address: sender, blockTag: 'pending' }),
      client.getBlockNumber(),
    ])
    if (code !== undefined && !code.startsWith(DELEGATED)) throw refuseSender()
    const refused = refuseRecipient(intent.recipient)
    if (refused) return refused
    // Nodes refuse to simulate what the sender cannot pay, so the plain transfer's fee stands in.
    const short = async (availableAtomic: bigint) =>
      insufficient(network, { amountAtomic: intent.amountAtomic, availableAtomic, feeAtomic: await bareFee(client, priorityFeeAtomic) })
    if (balance < intent.amountAtomic) return short(balance)

    const simulated = await simulate(client, intent)
    if (!simulated.ok && simulated.short) return short(await client.getBalance({ address: sender }))
    if (!simulated.ok) return { ok: false, code: 'INVALID_RECIPIENT', message: simulated.message }
    const { gas } = simulated
    const price = await readGasPrice(client, gas, priorityFeeAtomic)
    const feeAtomic = gas * price.maxFeePerGas
    // anvil's and some nodes' estimates overlook the fee: the balance is compared here.
    if (balance < intent.amountAtomic + feeAtomic) {
      return insufficient(network, { amountAtomic: intent.amountAtomic, availableAtomic: balance, feeAtomic })
    }

    return {
      ok: true,
      bytes: buildPayment({ ...intent, nonce, gas, ...price }),
      encoding: 'evm-rlp-unsigned',
      nonce,
      builtHeight: Number(height),
      lastValidBlockHeight: Number(height) + Math.ceil(VALID_MS / network.blockTimeMs),
      feeAtomic,
      priorityFeeAtomic: priorityFeeOfPrice(price.maxPriorityFeePerGas, gas),
      decoded: {
        type: 'eip1559',
        chainId: chainIdOf(intent.network),
        from: intent.sender,
        to: intent.recipient,
        value: intent.amountAtomic.toString(),
        data: '0x',
        nonce,
        gas: gas.toString(),
        maxFeePerGas: price.maxFeePerGas.toString(),
        maxPriorityFeePerGas: price.maxPriorityFeePerGas.toString(),
      },
    }
  })
}

async function bareFee(client: PublicClient, priorityFeeAtomic?: bigint): Promise<bigint> {
  return MIN_GAS * (await readGasPrice(client, MIN_GAS, priorityFeeAtomic)).maxFeePerGas
}

type Shortage = { amountAtomic: bigint; availableAtomic: bigint; feeAtomic: bigint }

function insufficient(network: Network, { amountAtomic, availableAtomic, feeAtomic }: Shortage): Built {
  return { ok: false, code: 'INSUFFICIENT_BALANCE', requiredAtomic: amountAtomic + feeAtomic, availableAtomic, feeAtomic, asset: nativeAsset(network) }
}

/** Code of an account that a key still controls (EIP-7702). */
const DELEGATED = '0xef0100'

function refuseSender(): ProblemError {
  return new ProblemError('INVALID_PARAMETERS', {
    message: 'walletAddress is a contract: no key can sign for it.',
    details: { walletAddress: 'Expected an account that a key controls, received a contract.' },
  })
}

/** The addresses below belong to precompiled contracts: what is sent there is lost. */
const FIRST_ORDINARY_ADDRESS = 0x1000n

function refuseRecipient(recipient: string): Built | undefined {
  if (BigInt(recipient) >= FIRST_ORDINARY_ADDRESS) return undefined
  return { ok: false, code: 'INVALID_RECIPIENT', message: 'The recipient is a precompiled contract of the network: nobody could use the payment.' }
}
