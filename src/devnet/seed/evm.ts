import { keccak256, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { buildPayment } from '#chains/evm/build.ts'
import { NATIVE_ETH } from '#contract/network.ts'
import { EVM_CHAIN_ID, type EvmNode } from '../nodes/evm.ts'
import type { SeedOutcome } from './outcome.ts'
import type { PlannedPayment } from './plan.ts'

const GAS = 21_000n
const MAX_FEE_PER_GAS = 3_000_000_000n
const PRIORITY_FEE_PER_GAS = 100_000_000n

/** Blocks a built transaction is offered for: a minute. */
const OFFERED_BLOCKS = 60

/** Makes the EVM payments of the history: real transactions, each in a block whose time lies in the past. */
export async function makeEvmHistory(
  node: EvmNode,
  planned: readonly PlannedPayment[],
  now: number,
): Promise<SeedOutcome[]> {
  const outcomes: SeedOutcome[] = []
  const nonces = new Map<Hex, number>()
  for (const payment of planned) outcomes.push(await make(node, payment, nonces))
  await node.client.setNextBlockTimestamp({ timestamp: BigInt(Math.floor(now / 1000)) })
  await node.client.mine({ blocks: 1 })
  return outcomes
}

async function make(
  { client }: EvmNode,
  payment: PlannedPayment,
  nonces: Map<Hex, number>,
): Promise<SeedOutcome> {
  const account = privateKeyToAccount(payment.sender.evm.privateKey)
  const nonce =
    nonces.get(account.address) ?? (await client.getTransactionCount({ address: account.address }))
  const builtHeight = Number(await client.getBlockNumber())
  const bytes = buildPayment({
    paymentId: payment.paymentId,
    network: `eip155:${EVM_CHAIN_ID}`,
    asset: NATIVE_ETH,
    sender: account.address,
    recipient: payment.recipient.evm.address,
    amountAtomic: payment.amountAtomic,
    nonce,
    gas: GAS,
    maxFeePerGas: MAX_FEE_PER_GAS,
    maxPriorityFeePerGas: PRIORITY_FEE_PER_GAS,
  })
  const built = {
    payment,
    unsignedTransaction: Buffer.from(bytes).toString('base64'),
    nonce,
    builtHeight,
    lastValidBlockHeight: builtHeight + OFFERED_BLOCKS,
  }
  if (payment.outcome === 'expired') return { ...built, signature: null, landed: null }

  const fields = {
    maxFeePerGas: MAX_FEE_PER_GAS,
    maxPriorityFeePerGas: PRIORITY_FEE_PER_GAS,
    gas: GAS,
    value: payment.amountAtomic,
  }
  const signed = await account.signTransaction({
    ...fields,
    type: 'eip1559',
    chainId: EVM_CHAIN_ID,
    nonce,
    to: payment.recipient.evm.address,
  })
  // It was sent and dropped: the payer's next payment takes its nonce.
  if (payment.outcome === 'failed') return { ...built, signature: keccak256(signed), landed: null }

  // Should the node's own clock make a block in between, that one takes this time and the payment's comes a second later.
  await client.setNextBlockTimestamp({
    timestamp: BigInt(Math.floor(payment.createdAt / 1000) + 15),
  })
  const hash = await client.sendRawTransaction({ serializedTransaction: signed })
  await client.mine({ blocks: 1 })
  nonces.set(account.address, nonce + 1)
  const receipt = await client.getTransactionReceipt({ hash })
  if (receipt.status !== 'success')
    throw new Error(`The payment ${payment.paymentId} of the history reverted.`)
  return {
    ...built,
    signature: hash,
    landed: {
      failure: null,
      blockHeight: Number(receipt.blockNumber),
      blockHash: receipt.blockHash,
      feeAtomic: receipt.gasUsed * receipt.effectiveGasPrice,
    },
  }
}
