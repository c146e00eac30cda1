import { PublicKey, VersionedTransaction, type AccountInfo, type Connection } from '@solana/web3.js'
import bs58 from 'bs58'
import { buildPayment } from '#chains/solana/build.ts'
import { feeBoundAtomic, priorityFeeOfPrice } from '#chains/solana/fee.ts'
import { PROGRAMS } from '#chains/solana/programs.ts'
import type { PaymentIntent } from '#chains/match.ts'
import { nativeAsset, type Network } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import { senderProblem } from '#contract/reason-problems.ts'
import type { BuiltTransaction } from '../chain.ts'
import { amountOf, nativeShortage } from '../shortage.ts'
import { canPay, refuseRecipient, WALLET_HEAD } from './token.ts'
import { readRentMinimum, run, type SolanaEndpoints, type SolanaSimulated } from './client.ts'
import { priceOfOwnFee, readRecentPrice, UNIT_LIMIT } from './fees.ts'
import {
  expectedRoute,
  readTokenSide,
  refuseBySimulation,
  unitLimitOf,
  type TokenRoute,
  type TokenSide,
} from './simulate-token.ts'

export type SolanaBuildRequest = {
  intent: Omit<PaymentIntent, 'maxFeeAtomic'>
  priorityFeeAtomic?: bigint | undefined
}
type Payment = SolanaBuildRequest['intent']
type Refused = Exclude<BuiltTransaction, { ok: true }>

/**
 * Builds the payment on a current blockhash, after checking balances and rent, and simulates it.
 * That is usually one request, which asks for everything: what is simulated then has no fee yet but
 * the base fee and the payer's own, and may open an account that is open already. It counts where
 * that makes no difference and the node ran it on the blockhash that is handed out; otherwise the
 * payment is simulated as it is built.
 */
export async function build(
  endpoints: SolanaEndpoints,
  network: Network,
  request: SolanaBuildRequest,
): Promise<BuiltTransaction> {
  const { intent, priorityFeeAtomic } = request
  const { sender, recipient, amountAtomic } = intent
  // What is refused by its address alone is not asked about.
  const unpayable = refuseAsRecipient(recipient, null)
  if (unpayable) return unpayable
  if (PROGRAMS.has(sender)) throw senderProblem({ code: 'sender_is_program_account', params: {} })
  return endpoints.request(async (client): Promise<BuiltTransaction> => {
    const connection = client.together()
    const route = intent.asset.native ? undefined : expectedRoute(connection, intent)
    const isReady = intent.asset.native || route !== undefined
    const [accounts, rent, latest, side, early] = await Promise.all([
      connection.getMultipleAccountsInfo(
        [new PublicKey(sender), new PublicKey(recipient)],
        WALLET_HEAD,
      ),
      readRentMinimum(connection, 0),
      connection.getLatestBlockhashAndContext('confirmed'),
      intent.asset.native ? undefined : readTokenSide(connection, intent),
      isReady ? simulateEarly(connection, request, route) : undefined,
    ])
    const [from = null, to = null] = accounts
    const rentAtomic = BigInt(rent)
    const refused =
      refuseByRecipient(network, { intent, to, rentAtomic }) ??
      (side && 'ok' in side ? side : undefined)
    if (refused) return refused
    const token = side && !('ok' in side) ? side : undefined

    const isAsExpected = early !== undefined && token?.program === route?.program
    const simulation = isAsExpected ? early : await simulateEarly(connection, request, token)
    const unitLimit = token ? unitLimitOf(token) : UNIT_LIMIT
    const unitPrice =
      priorityFeeAtomic === undefined
        ? simulation.recentPrice
        : priceOfOwnFee(priorityFeeAtomic, unitLimit)
    const cost = costOf(intent, token, { unitLimit, unitPrice })
    const short = refuseBySender(network, { from, ...cost, rentAtomic })
    if (short) return short
    const { blockhash, lastValidBlockHeight } = latest.value
    const bytes = buildPayment({
      ...intent,
      blockhash,
      unitLimit,
      unitPriceMicroLamports: unitPrice,
      ...(token && { token }),
    })
    const { outcome } = simulation
    if (outcome instanceof Error) throw outcome
    const failed =
      outcome?.ok && outcome.blockhash === blockhash && (outcome.units ?? Infinity) <= unitLimit
        ? token && refuseBySimulation(intent, token, outcome.accounts)
        : await simulateBuilt(connection, network, { intent, bytes, token, cost, rentAtomic })
    if (failed) return failed
    return {
      ok: true,
      bytes,
      encoding: 'solana-wire-v0',
      builtHeight: latest.context.slot,
      lastValidBlockHeight,
      feeAtomic: cost.feeAtomic,
      priorityFeeAtomic: priorityFeeOfPrice(unitPrice, BigInt(unitLimit)),
      rentAtomic: token?.rentAtomic ?? 0n,
      decoded: {
        version: 0,
        feePayer: sender,
        recentBlockhash: blockhash,
        unitLimit,
        unitPriceMicroLamports: unitPrice.toString(),
        ...(token
          ? describeToken(intent, token)
          : { transfer: { from: sender, to: recipient, lamports: amountAtomic.toString() } }),
        memo: intent.paymentId,
      },
    }
  })
}

function describeToken(
  { sender, recipient, asset, amountAtomic }: Payment,
  token: TokenSide,
): Record<string, unknown> {
  const { program, source, destination, opensAccount, rentAtomic } = token
  const { address: mint, symbol, decimals } = asset
  return {
    transferChecked: {
      program,
      mint,
      symbol,
      decimals,
      source,
      destination,
      authority: sender,
      amount: amountAtomic.toString(),
    },
    recipientAccount: {
      owner: recipient,
      address: destination,
      opened: opensAccount,
      rentLamports: rentAtomic.toString(),
    },
  }
}

/**
 * What leaves the sender in lamports: the amount only when it is paid in them, and the fee, with
 * the rent of an account that is opened.
 */
type Cost = { amountAtomic: bigint; feeAtomic: bigint }

function costOf(
  { asset, amountAtomic }: Payment,
  token: TokenSide | undefined,
  { unitLimit, unitPrice }: { unitLimit: number; unitPrice: bigint },
): Cost {
  // The limit is explicit, so the number of instructions does not matter.
  const charge = feeBoundAtomic({
    signatures: 1,
    instructions: 0,
    unitLimit,
    unitPriceMicroLamports: unitPrice,
  })
  return {
    amountAtomic: asset.native ? amountAtomic : 0n,
    feeAtomic: charge + (token?.rentAtomic ?? 0n),
  }
}

/** The node puts a blockhash in its place. */
const NO_BLOCKHASH = bs58.encode(new Uint8Array(32))

/** `outcome` is missing where the payment could not be simulated in this form, and an error where the node did not say. */
type Simulation = { recentPrice: bigint; outcome: SolanaSimulated | Error | undefined }

/** Runs the payment on a blockhash of the node before the fee is known, and asks for recent fees. */
async function simulateEarly(
  connection: Connection,
  { intent, priorityFeeAtomic }: SolanaBuildRequest,
  route: TokenRoute | undefined,
): Promise<Simulation> {
  const unitLimit = route ? unitLimitOf(route) : UNIT_LIMIT
  const simulated = async () => {
    const bytes = buildPayment({
      ...intent,
      blockhash: NO_BLOCKHASH,
      unitLimit,
      unitPriceMicroLamports:
        priorityFeeAtomic === undefined ? 0n : priceOfOwnFee(priorityFeeAtomic, unitLimit),
      ...(route && { token: route }),
    })
    return run(connection, VersionedTransaction.deserialize(bytes), {
      addresses: addressesOf(route),
      anyBlockhash: true,
    })
  }
  const locked = [intent.sender, ...(route ? addressesOf(route) : [intent.recipient])]
  const [recentPrice, outcome] = await Promise.all([
    priorityFeeAtomic === undefined ? readRecentPrice(connection, locked) : 0n,
    // What the accounts say comes first: it names the reason of a refusal.
    simulated().catch((error: Error) =>
      error instanceof RangeError || error instanceof ProblemError ? undefined : error,
    ),
  ])
  return { recentPrice, outcome }
}

type SimulatedPayment = {
  intent: Payment
  bytes: Uint8Array
  token: TokenSide | undefined
  cost: Cost
  rentAtomic: bigint
}

/**
 * Simulates the transaction as it is. Another payment of the same wallet may have landed since its
 * balance was read: then that is the reason to report.
 */
async function simulateBuilt(
  connection: Connection,
  network: Network,
  { intent, bytes, token, cost, rentAtomic }: SimulatedPayment,
): Promise<Refused | undefined> {
  const outcome = await run(connection, VersionedTransaction.deserialize(bytes), {
    addresses: addressesOf(token),
  })
  if (outcome.ok) return token && refuseBySimulation(intent, token, outcome.accounts)
  // The blockhash is of this moment: a node that does not know it is behind the one that gave it.
  if (outcome.reason === 'BlockhashNotFound')
    throw new Error('The node does not know the blockhash it gave.')
  const now = await connection.getAccountInfo(new PublicKey(intent.sender), WALLET_HEAD)
  const short = refuseBySender(network, { from: now, ...cost, rentAtomic })
  if (short) return short
  const side = token && (await readTokenSide(connection, intent))
  if (side && 'ok' in side) return side
  return {
    ok: false,
    code: 'INVALID_RECIPIENT',
    reason: { code: 'simulation_failed', params: { answer: outcome.reason } },
  }
}

/** Both sides of a token payment. */
function addressesOf(token: TokenRoute | undefined): readonly string[] {
  return token ? [token.source, token.destination] : []
}

function refuseAsRecipient(
  address: string,
  account: AccountInfo<Buffer> | null,
): Refused | undefined {
  const reason = refuseRecipient(address, account)
  return reason && { ok: false, code: 'INVALID_RECIPIENT', reason }
}

type Recipient = { intent: Payment; to: AccountInfo<Buffer> | null; rentAtomic: bigint }

function refuseByRecipient(
  network: Network,
  { intent, to, rentAtomic }: Recipient,
): Refused | undefined {
  const { recipient, asset, amountAtomic } = intent
  const refused = refuseAsRecipient(recipient, to)
  if (refused) return refused
  // A token is held in a separate account, which pays its own rent.
  if (!asset.native || BigInt(to?.lamports ?? 0) + amountAtomic >= rentAtomic) return undefined
  const minimum = amountOf(nativeAsset(network), rentAtomic - BigInt(to?.lamports ?? 0))
  return {
    ok: false,
    code: 'INVALID_RECIPIENT',
    reason: { code: 'below_rent_minimum', params: { minimum } },
  }
}

type Sender = Cost & { from: AccountInfo<Buffer> | null; rentAtomic: bigint }

/**
 * After the payment a wallet must be empty, or hold the rent-exempt minimum: the cluster refuses
 * anything between.
 */
function refuseBySender(
  network: Network,
  { from, amountAtomic, feeAtomic, rentAtomic }: Sender,
): Refused | undefined {
  if (!canPay(from)) throw senderProblem({ code: 'sender_is_program_account', params: {} })
  const availableAtomic = BigInt(from?.lamports ?? 0)
  const left = availableAtomic - amountAtomic - feeAtomic
  if (left === 0n || left >= rentAtomic) return undefined
  return nativeShortage(network, {
    amountAtomic,
    feeAtomic,
    rentAtomic: left > 0n ? rentAtomic : 0n,
    availableAtomic,
  })
}
