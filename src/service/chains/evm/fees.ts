import type { GetFeeHistoryReturnType, PublicClient } from 'viem'
import { automaticTip, maxFeeAtomic, priceOfPriorityFee } from '#chains/evm/fee.ts'
import { ProblemError } from '#contract/problem.ts'
import type { GasPrice } from '../contracts.ts'
import { unavailable } from '../endpoints.ts'
import { leastTip } from './least-tip.ts'

/** How many recent blocks show what validators take. */
const BLOCKS = 5
const MEDIAN = 50
const UINT64 = 2n ** 64n - 1n

/**
 * Current fees for this much gas, within the most that a payer of native currency is ever charged.
 * @throws ProblemError as `priceWithin` does
 */
export async function readGasPrice(
  client: PublicClient,
  gas: bigint,
  priorityFeeAtomic?: bigint,
): Promise<GasPrice> {
  return priceWithin(client, await readFees(client), {
    gas,
    priorityFeeAtomic,
    capAtomic: maxFeeAtomic(priorityFeeAtomic),
  })
}

/** What the newest blocks asked, and the next one will. */
export function readFees(client: PublicClient): Promise<GetFeeHistoryReturnType> {
  return client.getFeeHistory({ blockCount: BLOCKS, rewardPercentiles: [MEDIAN] })
}

/** A current price, and the range its next digits may be chosen from; all in wei per gas. */
export type CappedPrice = GasPrice & { baseFeePerGas: bigint; ceilingPerGas: bigint }

type Priced = {
  gas: bigint
  priorityFeeAtomic: bigint | undefined
  /** The limit of everything the transaction may cost, wei. */ capAtomic: bigint
}

/**
 * Twice the next base fee, so that the transaction stays valid over six full blocks, plus the tip:
 * the payer's own total, or the median of recent blocks, and no less than the node has named where
 * it refused a transaction. What is named above the limit is not believed: one that asks it takes nothing.
 * @throws ProblemError `CHAIN_UNAVAILABLE` when even the next block costs more than a payer is ever
 * charged
 */
export function priceWithin(
  client: PublicClient,
  history: GetFeeHistoryReturnType,
  { gas, priorityFeeAtomic, capAtomic }: Priced,
): CappedPrice {
  const baseFee = history.baseFeePerGas.at(-1)
  if (baseFee === undefined) throw new Error('The node told no base fee.')
  // The cap of a payer who named no tip leaves room for an automatic one, so the browser never
  // refuses what is built with it.
  const ceiling = capAtomic / gas
  const usual = automaticTip((history.reward ?? []).map(([median = 0n]) => median))
  const least = leastTip(client)
  const automatic = least > usual && baseFee + least <= ceiling ? least : usual
  const tip =
    priorityFeeAtomic === undefined ? automatic : priceOfPriorityFee(priorityFeeAtomic, gas)
  if (tip > UINT64)
    throw new ProblemError('INVALID_PARAMETERS', {
      message: 'The priority fee is too large.',
      details: { priorityFee: 'Expected a fee that a transaction can carry.' },
    })
  if (baseFee + tip > ceiling)
    throw unavailable('The network asks fees above the ceiling at the moment.')
  const uncapped = baseFee * 2n + tip
  return {
    maxFeePerGas: uncapped < ceiling ? uncapped : ceiling,
    maxPriorityFeePerGas: tip,
    baseFeePerGas: baseFee,
    ceilingPerGas: ceiling,
  }
}
