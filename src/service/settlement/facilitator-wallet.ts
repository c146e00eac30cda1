import { eq } from 'drizzle-orm'
import { decodeTransaction } from '#chains/solana/decode.ts'
import { feeBoundAtomic } from '#chains/solana/fee.ts'
import { parseAddress, type Family } from '#contract/address.ts'
import { parseAmount } from '#contract/amount.ts'
import { familyOf, nativeAsset, type Network, type NetworkId } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import { DAILY_FEES } from '../context/config.ts'
import type { Context } from '../context/context.ts'
import { account } from '../db/schema/access.ts'
import type { DailyFees } from '../db/settlement-fees.ts'
import { findWalletByAddress } from '../db/wallet-ledger.ts'
import { undecided } from '../verification/verification-report.ts'
import type { WalletSigner } from '../wallets/sign.ts'

/**
 * The wallets of one family that the operator lets pay the network fee for settlements, in
 * configured order.
 */
export function facilitatorWallets({ config }: Pick<Context, 'config'>, family: Family): string[] {
  return (config.facilitators?.wallets ?? []).filter((address) => {
    const parsed = parseAddress(address)
    return parsed.ok && parsed.family === family
  })
}

/** Whether the service itself executes authorizations on a network. */
export function settlesHere(context: Context, network: NetworkId): boolean {
  return facilitatorWallets(context, familyOf(network)).length > 0
}

/** The budgets of network fees for settlements on a network, native atomic units in 24 hours. */
export function dailyFees({ config }: Pick<Context, 'config'>, network: Network): DailyFees {
  const { wallet, account, keyless } = config.facilitators?.dailyFees ?? DAILY_FEES
  const { decimals } = nativeAsset(network)
  const atomic = (amount: string) => {
    const parsed = parseAmount(amount, decimals)
    if (!parsed.ok) throw new TypeError(`${amount} has no amount in ${network.name}.`)
    return parsed.atomic
  }
  return { wallet: atomic(wallet), account: atomic(account), keyless: atomic(keyless) }
}

/**
 * A wallet that pays the network fee, and its signer.
 * @throws `PAYMENT_VERIFICATION_FAILED` when no wallet with this address is managed here
 */
export async function openFeePayer(
  context: Context,
  address: string | undefined,
): Promise<WalletSigner> {
  const wallet = address === undefined ? undefined : await findWalletByAddress(context.db, address)
  if (!wallet)
    throw undecided(
      'This service does not settle such payments: it has no fee payer for them. Nothing is decided.',
    )
  await orNotSigned(context, context.signer.open(wallet))
  return { signer: context.signer, wallet }
}

/**
 * What the fee payer signs. The limits of the wallet are the operator's concern: the caller is told that nothing is decided.
 * @throws `PAYMENT_VERIFICATION_FAILED` when the signer refuses
 */
export async function orNotSigned<T>({ log }: Context, signing: Promise<T>): Promise<T> {
  try {
    return await signing
  } catch (error) {
    if (!(error instanceof ProblemError) || error.code !== 'SIGNING_REFUSED') throw error
    log.warn({ err: error, ...error.facts.details }, 'the signer refuses a settlement')
    throw undecided('The fee payer for settlements does not sign this now. Nothing is decided.')
  }
}

/**
 * The context in which an account has payments verified: by its own list of facilitators if it has
 * one, otherwise by the operator's.
 */
export async function withOwnFacilitators(context: Context, accountId: string): Promise<Context> {
  const [row] = await context.db
    .select({ facilitators: account.facilitators })
    .from(account)
    .where(eq(account.id, accountId))
  if (!row?.facilitators) return context
  const policy = context.config.facilitators ?? { allowed: [], loopback: false }
  return {
    ...context,
    config: { ...context.config, facilitators: { ...policy, allowed: row.facilitators } },
  }
}

/** Lamports; `feeAtomic` includes `priorityFeeAtomic`. */
export type FeePayerFee = { feeAtomic: bigint; priorityFeeAtomic: bigint }

/** The most that a transaction takes from the wallet that pays its network fee. */
export function feePayerFee(bytes: Uint8Array): FeePayerFee {
  const facts = decodeTransaction(bytes)
  if (!facts.ok) throw new TypeError(facts.problem.code)
  const limits = facts.operations.flatMap((operation) =>
    operation.kind === 'fee_limit' ? [operation.units] : [],
  )
  const prices = facts.operations.flatMap((operation) =>
    operation.kind === 'fee_price' ? [operation.microLamports] : [],
  )
  const shape = {
    signatures: facts.signers.length,
    instructions: facts.operations.length,
    unitLimit: limits[0],
  }
  const feeAtomic = feeBoundAtomic({ ...shape, unitPriceMicroLamports: prices[0] })
  return {
    feeAtomic,
    priorityFeeAtomic: feeAtomic - feeBoundAtomic({ ...shape, unitPriceMicroLamports: 0n }),
  }
}
