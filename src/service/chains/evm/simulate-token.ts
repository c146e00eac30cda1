import {
  BaseError,
  decodeFunctionResult,
  encodeFunctionData,
  erc20Abi,
  RpcError,
  type Hex,
  type PublicClient,
} from 'viem'
import { encodeTransfer } from '#chains/evm/erc20.ts'
import {
  encodeBalanceOf,
  paysInFull,
  readBalance,
  readTransferSimulation,
  reportsTransfer,
  simulationCalls,
  type TransferSimulation,
} from '#chains/evm/transfer-simulation.ts'
import type { PaymentIntent } from '#chains/match.ts'
import type { Asset } from '#contract/network.ts'
import { assetProblem } from '#contract/reason-problems.ts'
import type { RecipientReason } from '#contract/reasons.ts'
import type { BuiltTransaction } from '../chain.ts'
import { amountOf, tokenShortage } from '../shortage.ts'
import { refusal } from './simulate.ts'

type Payment = Omit<PaymentIntent, 'maxFeeAtomic'>
export type TokenSimulation =
  | { ok: true; gas: bigint }
  | { ok: false; refused: Exclude<BuiltTransaction, { ok: true }> }

/** Room for a token whose cost moves between the estimate and the block: a balance that comes to zero, or from it. */
const MARGIN_PERCENT = 25n
/** A token whose transfer needs more is not meant to be paid with. */
const MAX_GAS = 500_000n

/**
 * Runs a token's transfer on the state of this moment: whether the sender holds it, the token lets it go to the recipient, and exactly the
 * amount arrives.
 * @throws ProblemError `INVALID_PARAMETERS` when the asset is not what the configuration says, or cannot pay an exact amount
 */
export async function simulateToken(
  client: PublicClient,
  payment: Payment,
): Promise<TokenSimulation> {
  const { asset, sender, amountAtomic } = payment
  const token = asset.address as Hex
  const [known, run] = await Promise.allSettled([
    Promise.all([readTokenBalance(client, token, sender), readDecimals(client, token)]),
    Promise.all([estimate(client, payment), simulateTransfer(client, payment)]),
  ])
  if (known.status === 'rejected') throw known.reason
  const [balance, decimals] = known.value
  const params = { token: asset.address, symbol: asset.symbol }
  // An address without code returns neither.
  if (balance === undefined || decimals === undefined)
    throw assetProblem({ code: 'asset_missing', params })
  if (decimals !== asset.decimals)
    throw assetProblem({
      code: 'asset_decimals_differ',
      params: { ...params, configured: asset.decimals, onChain: decimals },
    })
  const short = (availableAtomic: bigint): TokenSimulation => ({
    ok: false,
    refused: tokenShortage(asset, { amountAtomic, availableAtomic }),
  })
  if (balance < amountAtomic) return short(balance)

  const refuse = async (reason: RecipientReason): Promise<TokenSimulation> => {
    // Another payment of the sender may have landed since the balance was read.
    const now = (await readTokenBalance(client, token, sender)) ?? 0n
    return now < amountAtomic
      ? short(now)
      : { ok: false, refused: { ok: false, code: 'INVALID_RECIPIENT', reason } }
  }
  if (run.status === 'rejected') throw run.reason
  const [gas, simulation] = run.value
  if (typeof gas === 'object') return refuse(gas)
  if (simulation?.ok === false) return refuse(reasonOf(asset, simulation.refusal))
  if (simulation?.ok && !paysInFull(payment, simulation)) {
    const arrives = amountOf(asset, simulation.after.recipient - simulation.before.recipient)
    throw assetProblem({
      code: 'asset_keeps_part',
      params: { ...params, sent: amountOf(asset, amountAtomic), arrives },
    })
  }
  const padded = gas + (gas * MARGIN_PERCENT) / 100n
  if (padded > MAX_GAS)
    throw assetProblem({
      code: 'asset_gas_too_high',
      params: { ...params, maxGas: Number(MAX_GAS) },
    })
  return { ok: true, gas: padded }
}

async function readTokenBalance(
  client: PublicClient,
  token: Hex,
  owner: string,
): Promise<bigint | undefined> {
  return readBalance(await readRaw(client, token, encodeBalanceOf(owner)))
}

async function readDecimals(client: PublicClient, token: Hex): Promise<number | undefined> {
  const data = await readRaw(
    client,
    token,
    encodeFunctionData({ abi: erc20Abi, functionName: 'decimals' }),
  )
  if (data?.length !== 66 || BigInt(data) > 255n) return undefined
  return decodeFunctionResult({ abi: erc20Abi, functionName: 'decimals', data })
}

async function readRaw(client: PublicClient, to: Hex, data: Hex): Promise<Hex | undefined> {
  try {
    return (await client.call({ to, data })).data
  } catch (error) {
    if (refusal(error) === undefined) throw error
    return undefined
  }
}

/** The gas it takes, or why the token refuses. */
async function estimate(client: PublicClient, payment: Payment): Promise<bigint | RecipientReason> {
  const request = {
    account: payment.sender as Hex,
    to: payment.asset.address as Hex,
    data: encodeTransfer(payment),
  }
  try {
    const [gas, { data }] = await Promise.all([client.estimateGas(request), client.call(request)])
    return reportsTransfer(data) ? gas : reasonOf(payment.asset, { code: 'returns_false' })
  } catch (error) {
    const answer = refusal(error)
    if (answer === undefined) throw error
    return reasonOf(payment.asset, { code: 'reverts', answer })
  }
}

function reasonOf(
  { address, symbol }: Asset,
  refused: Extract<TransferSimulation, { ok: false }>['refusal'],
): RecipientReason {
  const params = { token: address, symbol }
  return refused.code === 'returns_false'
    ? { code: 'token_returns_false', params }
    : {
        code: 'token_reverts',
        params: { ...params, answer: refused.answer ?? 'execution reverted' },
      }
}

/** Balances before and after, on one state; undefined where the node knows no such call: then the landed transaction shows what arrived. */
async function simulateTransfer(
  client: PublicClient,
  payment: Payment,
): Promise<TransferSimulation | undefined> {
  const calls = simulationCalls(payment).map(({ from, to, data }) => ({ account: from, to, data }))
  try {
    const [block] = await client.simulateBlocks({ blocks: [{ calls }] })
    return readTransferSimulation(
      (block?.calls ?? []).map(({ status, data, error }) => ({
        status: status === 'success' ? '0x1' : '0x0',
        returnData: data,
        error: error && { message: refusal(error) },
      })),
    )
  } catch (error) {
    if (error instanceof BaseError && error.walk((cause) => cause instanceof RpcError) !== null)
      return undefined
    throw error
  }
}
