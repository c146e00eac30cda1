import { t } from '@lingui/core/macro'
import {
  BaseError,
  ExecutionRevertedError,
  InsufficientFundsError,
  type Address,
  type PublicClient,
} from 'viem'
import { decodeTransaction, type EvmFacts } from '#chains/evm/decode.ts'
import {
  encodeBalanceOf,
  paysInFull,
  readBalance,
  readTransferSimulation,
  reportsTransfer,
  simulationCalls,
  type Balances,
  type TransferSimulation,
} from '#chains/evm/transfer-simulation.ts'
import { formatAmount } from '#contract/amount.ts'
import { moneyOf } from '#contract/facts.ts'
import type { Asset } from '#contract/network.ts'
import { formatDecodeProblem, formatDigits, formatMoney } from '../../payment-intent/fact-values.ts'
import type { WalletPaymentIntent, Simulation } from '../../payment-intent/intent.ts'

/** A payment's bytes, and the currency of its network fee. */
type SimulatedOrder = { order: WalletPaymentIntent; bytes: Uint8Array; currency: Asset }

/**
 * Simulates a payment on the payer's own node. `eth_call` alone passes a payment that cannot cover
 * its fee, so balances are compared as well.
 */
export async function simulate(
  client: PublicClient,
  { order, bytes, currency }: SimulatedOrder,
): Promise<Simulation> {
  const decoded = decodeTransaction(bytes)
  if (!decoded.ok) return { state: 'failed', reason: formatDecodeProblem(decoded.problem) }
  try {
    const balance = await client.getBalance({ address: order.sender as Address })
    const cost = decoded.valueAtomic + decoded.feeBoundAtomic
    if (balance < cost)
      return { state: 'failed', reason: describeLack({ balance, cost, asset: currency }) }
    const fee = {
      who: 'you',
      address: order.sender,
      asset: currency,
      beforeAtomic: balance,
      afterAtomic: balance - cost,
    } as const
    const to = decoded.to as Address
    if (order.operation) {
      // It moves nothing but the fee: the call has to go through, and that is all.
      const { data } = await client.call({
        account: order.sender as Address,
        to,
        data: decoded.data,
        gas: decoded.gas,
      })
      return order.operation.kind === 'approve' && !reportsTransfer(data)
        ? { state: 'failed', reason: t`the token rejects it.` }
        : { state: 'passed', changes: [fee] }
    }
    if (!order.asset.native) return await simulateToken(client, order, { decoded, fee })
    const received = await client.getBalance({ address: to })
    await client.call({
      account: order.sender as Address,
      to,
      value: decoded.valueAtomic,
      gas: decoded.gas,
      data: decoded.data,
    })
    const recipient = {
      who: 'recipient',
      address: decoded.to,
      asset: currency,
      beforeAtomic: received,
      afterAtomic: received + decoded.valueAtomic,
    } as const
    return { state: 'passed', changes: [fee, recipient] }
  } catch (error) {
    const refused =
      error instanceof BaseError
        ? error.walk(
            (cause) =>
              cause instanceof ExecutionRevertedError || cause instanceof InsufficientFundsError,
          )
        : null
    if (refused)
      return {
        state: 'failed',
        reason: refused.message.split('\n')[0] ?? t`the recipient rejects it.`,
      }
    return { state: 'unavailable', reason: t`the RPC endpoint did not answer.` }
  }
}

type Fee = Extract<Simulation, { state: 'passed' }>['changes'][number]

async function simulateToken(
  client: PublicClient,
  order: WalletPaymentIntent,
  { decoded, fee }: { decoded: EvmFacts; fee: Fee },
): Promise<Simulation> {
  const { asset, sender, recipient, amountAtomic } = order
  const [balance, received] = await Promise.all([
    readTokenBalance(client, asset, sender),
    readTokenBalance(client, asset, recipient),
  ])
  if (balance === undefined || received === undefined)
    return { state: 'failed', reason: t`no token exists at ${asset.symbol}.` }
  if (balance < amountAtomic)
    return { state: 'failed', reason: describeLack({ balance, cost: amountAtomic, asset }) }
  const simulation =
    (await simulateTransfer(client, order, decoded)) ??
    assumed(order, { sender: balance, recipient: received })
  if (!simulation.ok) {
    const { refusal } = simulation
    return {
      state: 'failed',
      reason:
        refusal.code === 'reverts'
          ? (refusal.answer ?? t`the token rejects it.`)
          : t`the token rejects it.`,
    }
  }
  const { before, after } = simulation
  if (!paysInFull(order, simulation)) {
    const arrives = formatDigits(formatAmount(after.recipient - before.recipient, asset.decimals))
    const wanted = formatDigits(formatAmount(amountAtomic, asset.decimals))
    return {
      state: 'failed',
      reason: t`only ${arrives} ${asset.symbol} of ${wanted} would arrive.`,
    }
  }
  return {
    state: 'passed',
    changes: [
      {
        who: 'you',
        address: sender,
        asset,
        beforeAtomic: before.sender,
        afterAtomic: after.sender,
      },
      fee,
      {
        who: 'recipient',
        address: recipient,
        asset,
        beforeAtomic: before.recipient,
        afterAtomic: after.recipient,
      },
    ],
  }
}

/**
 * What the node shows after running the transfer; undefined if it cannot run several calls on one
 * state, and the call alone passed.
 */
async function simulateTransfer(
  client: PublicClient,
  order: WalletPaymentIntent,
  decoded: EvmFacts,
): Promise<TransferSimulation | undefined> {
  const calls = simulationCalls(order, decoded.gas)
  const blocks = await client
    .simulateBlocks({
      blocks: [{ calls: calls.map(({ from, to, data }) => ({ account: from, to, data })) }],
    })
    .catch(() => undefined)
  const results = blocks?.[0]?.calls.map(({ status, data, error }) => ({
    status: status === 'success' ? '0x1' : '0x0',
    returnData: data,
    error: error && { message: error.message.split('\n')[0] },
  }))
  const simulation = results && readTransferSimulation(results)
  if (simulation) return simulation
  const { data } = await client.call({
    account: order.sender as Address,
    to: decoded.to as Address,
    data: decoded.data,
    gas: decoded.gas,
  })
  return reportsTransfer(data) ? undefined : { ok: false, refusal: { code: 'returns_false' } }
}

/** What an honest token does. Whether this one is honest shows when it lands. */
function assumed({ amountAtomic }: WalletPaymentIntent, before: Balances): TransferSimulation {
  return {
    ok: true,
    before,
    after: { sender: before.sender - amountAtomic, recipient: before.recipient + amountAtomic },
  }
}

async function readTokenBalance(
  client: PublicClient,
  asset: Asset,
  owner: string,
): Promise<bigint | undefined> {
  const { data } = await client.call({ to: asset.address as Address, data: encodeBalanceOf(owner) })
  return readBalance(data)
}

function describeLack({
  balance,
  cost,
  asset,
}: {
  balance: bigint
  cost: bigint
  asset: Asset
}): string {
  const words = (amount: bigint) => formatMoney(moneyOf(amount, asset))
  const [holds, needs, lacks] = [words(balance), words(cost), words(cost - balance)]
  return asset.native
    ? t`balance ${holds}, needed ${needs}, missing ${lacks}.`
    : t`balance ${holds}, needed ${needs}, missing ${lacks}.`
}
