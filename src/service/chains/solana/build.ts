import { PublicKey, type AccountInfo, type Connection } from '@solana/web3.js'
import { buildPayment } from '#chains/solana/build.ts'
import { feeBoundAtomic, priorityFeeOfPrice } from '#chains/solana/fee.ts'
import type { PaymentIntent } from '#chains/match.ts'
import { nativeAsset, type Network } from '#contract/network.ts'
import { senderProblem } from '#contract/reason-problems.ts'
import type { BuiltTransaction } from '../chain.ts'
import { amountOf, nativeShortage } from '../shortage.ts'
import { canPay, refuseRecipient, WALLET_HEAD } from './token.ts'
import { readRentMinimum, simulateTransaction, type SolanaEndpoints } from './client.ts'
import { readUnitPrice, UNIT_LIMIT } from './fees.ts'
import { readTokenSide, refuseBySimulation, unitLimitOf, type TokenSide } from './simulate-token.ts'

export type SolanaBuildRequest = {
  intent: Omit<PaymentIntent, 'maxFeeAtomic'>
  priorityFeeAtomic?: bigint | undefined
}
type Payment = SolanaBuildRequest['intent']
type Refused = Exclude<BuiltTransaction, { ok: true }>

/**
 * Builds the payment on a current blockhash, after checking balances and rent, and simulates it.
 */
export function build(
  endpoints: SolanaEndpoints,
  network: Network,
  request: SolanaBuildRequest,
): Promise<BuiltTransaction> {
  return endpoints.request(async (connection): Promise<BuiltTransaction> => {
    const { intent, priorityFeeAtomic } = request
    const { sender, recipient, amountAtomic } = intent
    const priceFor = (accounts: readonly string[], unitLimit: number) =>
      readUnitPrice(connection, accounts, { unitLimit, priorityFeeAtomic })
    const [accounts, rent, latest, side, nativePrice] = await Promise.all([
      connection.getMultipleAccountsInfo(
        [new PublicKey(sender), new PublicKey(recipient)],
        WALLET_HEAD,
      ),
      readRentMinimum(connection, 0),
      connection.getLatestBlockhashAndContext('confirmed'),
      intent.asset.native ? undefined : readTokenSide(connection, intent),
      intent.asset.native ? priceFor([sender, recipient], UNIT_LIMIT) : undefined,
    ])
    const [from = null, to = null] = accounts
    const rentAtomic = BigInt(rent)
    const refused =
      refuseByRecipient(network, { intent, to, rentAtomic }) ??
      (side && 'ok' in side ? side : undefined)
    if (refused) return refused
    const token = side && !('ok' in side) ? side : undefined

    const unitLimit = token ? unitLimitOf(token) : UNIT_LIMIT
    const locked = token ? [sender, token.source, token.destination] : [sender, recipient]
    const unitPrice = nativePrice ?? (await priceFor(locked, unitLimit))
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
    const failed = await tryOut(connection, network, { intent, bytes, token, cost, rentAtomic })
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

type SimulatedPayment = {
  intent: Payment
  bytes: Uint8Array
  token: TokenSide | undefined
  cost: Cost
  rentAtomic: bigint
}

/**
 * Simulates the built transaction. Another payment of the same wallet may have landed since its
 * balance was read: then that is the reason to report.
 */
async function tryOut(
  connection: Connection,
  network: Network,
  { intent, bytes, token, cost, rentAtomic }: SimulatedPayment,
): Promise<Refused | undefined> {
  const outcome = await simulateTransaction(
    connection,
    bytes,
    token ? [token.source, token.destination] : [],
  )
  if (outcome.ok) return token && refuseBySimulation(intent, token, outcome.accounts)
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

type Recipient = { intent: Payment; to: AccountInfo<Buffer> | null; rentAtomic: bigint }

function refuseByRecipient(
  network: Network,
  { intent, to, rentAtomic }: Recipient,
): Refused | undefined {
  const { recipient, asset, amountAtomic } = intent
  const reason = refuseRecipient(recipient, to)
  if (reason) return { ok: false, code: 'INVALID_RECIPIENT', reason }
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
