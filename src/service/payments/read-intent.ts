import { EVM_NATIVE, parseAddress, SOLANA_NATIVE, readRecipient } from '#contract/address.ts'
import { describeAmountProblem, parseAmount } from '#contract/amount.ts'
import { describe } from '#contract/fields.ts'
import {
  findAsset,
  nativeAsset,
  type Asset,
  type Network,
  familyOf,
  type NetworkId,
} from '#contract/network.ts'
import type { ProblemError } from '#contract/problem.ts'
import { balanceProblem, recipientProblem } from '#contract/reason-problems.ts'
import type { BuiltTransaction } from '../chains/chain.ts'
import { chooseNetwork } from '../context/network.ts'

const EVM_ZERO = `0x${'0'.repeat(40)}`
const NOBODY: readonly string[] = [EVM_ZERO, EVM_NATIVE, SOLANA_NATIVE]

/**
 * The recipient in its normal form, as far as its spelling tells; what stands at the address is the chain's to say.
 * @throws ProblemError `INVALID_RECIPIENT`
 */
export function checkRecipient(
  text: string,
  payment: { network: NetworkId; sender: string },
): string {
  const parsed = parseAddress(text)
  if (parsed.ok && isNobody(parsed.address))
    throw recipientProblem({ code: 'zero_address', params: {} }, { received: text })
  const read = readRecipient(text, familyOf(payment.network))
  if (!read.ok) throw recipientProblem(read.reason, { received: text })
  if (read.address === payment.sender)
    throw recipientProblem({ code: 'same_as_sender', params: {} }, { received: text })
  return read.address
}

/** Addresses that stand for native currency or for nothing: no key signs for them, nobody can use what they receive. */
function isNobody(address: string): boolean {
  return NOBODY.includes(address)
}

type Body = {
  walletAddress: string
  amount: string
  resource?: string | undefined
  priorityFee?: string | undefined
  network?: string | undefined
  asset?: string | undefined
}

/** What is asked for; or all that is wrong with it, by field. */
export type IntentReading =
  | {
      ok: true
      network: Network
      asset: Asset
      amountAtomic: bigint
      priorityFeeAtomic: bigint | undefined
    }
  | { ok: false; details: Record<string, string> }

/** Reads what both modes of sending have in common. */
export function readIntent(networks: readonly Network[], body: Body): IntentReading {
  const choice = chooseNetwork(networks, body.walletAddress, body.network)
  if (!choice.ok)
    return {
      ok: false,
      details: { [body.network === undefined ? 'walletAddress' : 'network']: choice.problem },
    }
  const { network } = choice
  const native = nativeAsset(network)
  const details: Record<string, string> = {}

  const asset = findAsset(network, body.asset)
  if (!asset)
    details.asset = `Expected an asset of ${network.name} (${describeAssets(network)}), received ${describe(body.asset)}.`
  const { decimals } = asset ?? native
  const amount = parseAmount(body.amount, decimals)
  if (!amount.ok) details.amount = describeAmountProblem(amount.problem, body.amount, decimals)
  const priorityFee = readPriorityFee(body.priorityFee, native.decimals)
  if (typeof priorityFee === 'string') details.priorityFee = priorityFee

  if (isNobody(body.walletAddress))
    details.walletAddress = 'Expected a wallet, received the zero address.'
  // Postgres text cannot hold this character.
  if (body.resource?.includes('\0')) details.resource = 'Expected a URL without a null character.'
  if (!asset || !amount.ok || typeof priorityFee === 'string' || Object.keys(details).length > 0)
    return { ok: false, details }
  return { ok: true, network, asset, amountAtomic: amount.atomic, priorityFeeAtomic: priorityFee }
}

/** What may be named, each by symbol and address. */
function describeAssets({ assets }: Network): string {
  return assets.map(({ symbol, address }) => `${symbol} ${address}`).join(', ')
}

/** Atomic units; zero is a choice, nothing is `automatic`. A problem comes back as its sentence. */
export function readPriorityFee(
  text: string | undefined,
  decimals: number,
): bigint | undefined | string {
  if (text === undefined) return undefined
  if (/^0(\.0+)?([eE][+-]?[0-9]+)?$/.test(text)) return 0n
  const parsed = parseAmount(text, decimals)
  if (!parsed.ok && parsed.problem === 'not_positive')
    return `Expected 0 or more, received ${text}.`
  return parsed.ok ? parsed.atomic : describeAmountProblem(parsed.problem, text, decimals)
}

/** What a caller is told of a payment that the chain would not take. */
export function refuseBuilt(
  built: Exclude<BuiltTransaction, { ok: true }>,
  recipientAddress: string,
): ProblemError {
  return built.code === 'INVALID_RECIPIENT'
    ? recipientProblem(built.reason, { received: recipientAddress })
    : balanceProblem(built.reason)
}
