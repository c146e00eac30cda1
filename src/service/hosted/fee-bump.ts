import type { Hex } from 'viem'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { maxFeeAtomic } from '#chains/evm/fee.ts'
import { raiseFees } from '#chains/evm/raise.ts'
import type { PaymentIntent } from '#chains/match.ts'
import type { Network, Asset } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import { reasonCodeOf } from '#contract/reasons.ts'
import { renderRecipientReason } from '#contract/render-en.ts'
import type { Database } from '#postgres/open.ts'
import type { BuiltTransaction, Chain, Head } from '../chains/chain.ts'
import type { GasPrice } from '../chains/contracts.ts'
import type { Context } from '../context/context.ts'
import { insertAttempt, readAttempts, type AttemptRecord } from '../db/attempts.ts'
import { lockPayment, setReported, updateSigned, type MonitoredRecord } from '../db/payments.ts'
import { raiseReservedFee } from '../db/settlement-fees.ts'
import { findWalletByAddress, readSendingState } from '../db/wallet-ledger.ts'
import { failPayment } from '../payments/expire.ts'
import { signCall, signPayment, type Signed, type WalletSigner } from '../wallets/sign.ts'
import { broadcastStored, recordPending, rebroadcast } from './broadcast.ts'
import { readSenderFunds, allocateNonce, type NonceSlot } from './nonce-queue.ts'
import { requireKnownHistory } from './require-sending.ts'

/**
 * A payment that could not land for this long is given up, once it can never land. Blocks measure it: the processes' clocks may differ, and what
 * could still be paid must not fail because one of them is fast.
 */
const GIVE_UP_MS = 600_000
const MAX_ATTEMPTS = 6

type WaitingPayment = { payment: MonitoredRecord; newest: AttemptRecord; chain: Chain }
type Ready = Extract<BuiltTransaction, { ok: true }>
type Next = {
  built: Pick<Ready, 'bytes' | 'feeAtomic' | 'lastValidBlockHeight'>
  nonce: number | null
}

/**
 * Signs a payment again. The caller has proof from the chain that nothing signed before can land.
 * What rows that were lost have signed may have paid it: where the chain is ahead of the rows, it
 * is neither signed again nor given up.
 */
export async function signReplacement(
  context: Context,
  stuck: WaitingPayment,
  head: Pick<Head, 'height'>,
): Promise<void> {
  const { payment, newest, chain } = stuck
  const funds = await readSenderFunds(context, chain, payment.sender)
  try {
    await requireKnownHistory(context, chain, { sender: payment.sender, funds })
  } catch (error) {
    return logNotSigned(context, payment.id, error)
  }
  const waitedBlocks = payment.builtHeight === null ? 0 : head.height - payment.builtHeight
  const late =
    waitedBlocks * chain.network.blockTimeMs > GIVE_UP_MS || newest.number >= MAX_ATTEMPTS
  if (late)
    return giveUp(
      context,
      stuck,
      'The transaction was broadcast, did not land, and can no longer land: nothing was paid.',
    )
  const built = await buildAgain(chain, payment)
  if (!built.ok)
    return giveUp(
      context,
      stuck,
      `The transaction did not land, and cannot be made again: ${describeRefusal(built)}`,
    )
  await replace(context, stuck, {
    choose: (tx) =>
      allocateNonce(tx, {
        network: chain.network,
        sender: payment.sender,
        funds,
        amountAtomic: payment.amount,
        feeAtomic: built.feeAtomic,
        replacing: payment.id,
      }),
    next: (nonce) => ({ built, nonce }),
  })
}

/**
 * Raises the fee of the transaction at the head of a nonce queue, when the network's fees have risen above
 * its offer: same nonce, so only one of the transactions can land.
 */
async function bumpFee(context: Context, stuck: WaitingPayment, pooled: boolean): Promise<void> {
  const { payment, newest, chain } = stuck
  const { nonce } = newest
  if (newest.number >= MAX_ATTEMPTS || nonce === null) return
  const funds = await readSenderFunds(context, chain, signerOf(stuck))
  if (funds.nonce !== nonce) return
  const market = await readMarket(stuck)
  const unsigned =
    market &&
    raiseFees(Buffer.from(newest.signedTransaction, 'base64'), market, {
      maxFeeAtomic: maxFeeAtomic(payment.priorityFee ?? 0n),
      pooled,
    })
  const raised = unsigned && decodeTransaction(unsigned)
  if (!unsigned || !raised?.ok) return
  const feeAtomic = raised.feeBoundAtomic + market.dataFeeAtomic
  const built = { bytes: unsigned, feeAtomic, lastValidBlockHeight: 0 }
  await replace(context, stuck, {
    choose: async (tx) => {
      const amountAtomic = payment.mode === 'hosted' ? payment.amount : 0n
      const request = {
        network: chain.network,
        sender: signerOf(stuck),
        funds,
        amountAtomic,
        feeAtomic: built.feeAtomic,
        replacing: payment.id,
      }
      const place = await allocateNonce(tx, request)
      return place.ok ? { ok: true, nonce } : place
    },
    next: () => ({ built, nonce }),
    keepWhenShort: true,
  })
}

/**
 * Whose nonce or funds it uses: the sender's, or those of the wallet that pays the network fee for
 * a settlement.
 */
function signerOf({ payment, newest }: Pick<WaitingPayment, 'payment' | 'newest'>): string {
  return newest.signer ?? payment.sender
}

/**
 * Current fees, and a rollup's charge for the data; undefined where the payment could not be made
 * now. A settlement's nonce must be used up in any case.
 */
async function readMarket({
  payment,
  newest,
  chain,
}: WaitingPayment): Promise<(GasPrice & { dataFeeAtomic: bigint }) | undefined> {
  if (newest.signer === null) {
    const built = await buildAgain(chain, payment)
    const decoded = built.ok && decodeTransaction(built.bytes)
    return decoded && decoded.ok
      ? { ...decoded, dataFeeAtomic: built.feeAtomic - decoded.feeBoundAtomic }
      : undefined
  }
  const settlement = decodeTransaction(Buffer.from(newest.signedTransaction, 'base64'))
  if (!settlement.ok) return undefined
  const { to, data, gas } = settlement
  return chain.contracts?.price({ to: to as Hex, data, gas })
}

/** @throws what is no problem of the API */
function logNotSigned({ log }: Context, paymentId: string, error: unknown): void {
  if (!(error instanceof ProblemError)) throw error
  log.warn({ err: error, ...error.facts.details, paymentId }, 'a payment is not signed again')
}

type Replacement = {
  choose: (tx: Database) => Promise<NonceSlot>
  next: (nonce: number | null) => Next
  keepWhenShort?: boolean
}

/** Signs, stores and broadcasts the next attempt, unless something changed in the meantime. */
async function replace(
  context: Context,
  stuck: WaitingPayment,
  replacement: Replacement,
): Promise<void> {
  try {
    await signNext(context, stuck, replacement)
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    logNotSigned(context, stuck.payment.id, error)
    // A freeze ends, and a signer comes back; every other refusal is the same at the next try.
    const certain =
      error.code === 'SIGNING_REFUSED' && reasonCodeOf(error.facts.details) !== 'frozen'
    if (certain && !replacement.keepWhenShort)
      await giveUp(
        context,
        stuck,
        `The transaction did not land, and is not signed again: ${error.message}`,
      )
  }
}

async function signNext(
  context: Context,
  stuck: WaitingPayment,
  { choose, next, keepWhenShort = false }: Replacement,
): Promise<void> {
  const { payment, newest, chain } = stuck
  const address = signerOf(stuck)
  const wallet = await findWalletByAddress(context.db, address)
  // What was signed is still followed, and so is a payment that something else has paid.
  if (!wallet || (newest.signer === null && wallet.accountId !== payment.accountId)) {
    const facts = { paymentId: payment.id, walletAddress: address }
    context.log.warn(facts, 'a payment is not signed again: its wallet is not managed any more')
    return
  }
  await context.signer.open(wallet)
  const at = context.now()
  const attempt = await context.db.transaction(async (tx) => {
    const place = await choose(tx)
    const row = await lockPayment(tx, payment.id)
    const [last] = await readAttempts(tx, payment.id)
    if (!row || row.status !== payment.status || last?.number !== newest.number) return undefined
    // A stopped wallet signs nothing; what it signed before is still followed to its end. After a
    // restore the rows may lack what was signed, until the wallet was compared with its chain.
    const sending = await readSendingState(tx, { network: payment.network, sender: address })
    if (sending.stoppedAt !== null || !sending.affirmed) return undefined
    if (!place.ok) {
      // An uncertain shortage is checked again in the next round.
      if (!keepWhenShort && !place.uncertain)
        await failPayment(tx, row, {
          failure:
            'The transaction did not land, and the wallet holds too little to make it again: nothing was paid.',
          at,
        })
      return undefined
    }
    return keepNext(tx, {
      row,
      newest,
      next: next(place.nonce),
      network: chain.network,
      by: { signer: context.signer, wallet },
      at,
    })
  })
  if (!attempt) return
  context.log.info(
    { paymentId: payment.id, signature: attempt.signature, attempt: attempt.number },
    'a payment was signed again',
  )
  await broadcastStored(context, chain, attempt)
  await recordPending(context, payment.id)
}

type Keeping = {
  row: MonitoredRecord
  newest: AttemptRecord
  next: Next
  network: Network
  by: WalletSigner
  at: Date
}

async function keepNext(tx: Database, keeping: Keeping): Promise<AttemptRecord> {
  const { row, newest, next, at } = keeping
  const { built, nonce } = next
  const { signed, paymentProof } = await (newest.signer === null
    ? signHosted(keeping)
    : signSettlement(keeping))
  const lastValidBlockHeight = nonce === null ? built.lastValidBlockHeight : null
  if (newest.signer === null)
    await updateSigned(tx, row.id, {
      nonce,
      lastValidBlockHeight,
      maxFee: built.feeAtomic,
      reportedSignature: signed.signature,
      paymentProof,
      updatedAt: at,
    })
  else {
    await setReported(tx, row.id, { signature: signed.signature, at })
    // Its nonce must be used up in any case, so no budget keeps it back.
    await raiseReservedFee(tx, row.id, built.feeAtomic)
  }
  return insertAttempt(tx, {
    paymentId: row.id,
    number: newest.number + 1,
    network: row.network,
    signer: newest.signer,
    signature: signed.signature,
    signedTransaction: Buffer.from(signed.bytes).toString('base64'),
    paymentProof,
    nonce,
    lastValidBlockHeight,
    maxFee: built.feeAtomic,
    createdAt: at,
    broadcastAt: at,
  })
}

type SignedAgain = { signed: Signed; paymentProof: string | null }

function signHosted({ row, network, by, next: { built, nonce } }: Keeping): Promise<SignedAgain> {
  const intent = intentOf(row, network, built.feeAtomic)
  return signPayment(by, intent, { unsigned: built.bytes, nonce, resource: row.resource })
}

/** The same call with the same nonce, and other fees. */
async function signSettlement({ newest, by, next: { built } }: Keeping): Promise<SignedAgain> {
  const [before, raised] = [
    decodeTransaction(Buffer.from(newest.signedTransaction, 'base64')),
    decodeTransaction(built.bytes),
  ]
  const same =
    before.ok &&
    raised.ok &&
    before.to === raised.to &&
    before.data === raised.data &&
    before.nonce === raised.nonce &&
    before.gas === raised.gas
  if (!same)
    throw new Error(
      `The transaction for ${newest.paymentId} is not the settlement that was signed before.`,
    )
  const { chainId, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, to, data } = raised
  const call = { chainId, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, to: to as Hex, data }
  return { signed: await signCall(by, call), paymentProof: null }
}

/** Not before the wallet was compared with its chain after a restore: what the rows lack may have paid. */
async function giveUp(context: Context, stuck: WaitingPayment, failure: string): Promise<void> {
  const { payment, newest } = stuck
  await context.db.transaction(async (tx) => {
    const row = await lockPayment(tx, payment.id)
    const [last] = await readAttempts(tx, payment.id)
    if (row?.status !== payment.status || last?.number !== newest.number) return
    const nonceQueue = { network: payment.network, sender: signerOf(stuck) }
    if ((await readSendingState(tx, nonceQueue)).affirmed)
      await failPayment(tx, row, { failure, at: context.now() })
  })
}

function buildAgain(chain: Chain, payment: MonitoredRecord): Promise<BuiltTransaction> {
  const { maxFeeAtomic: _, ...intent } = intentOf(payment, chain.network, 0n)
  return chain.build(intent, { priorityFeeAtomic: payment.priorityFee ?? undefined })
}

function intentOf(row: MonitoredRecord, network: Network, maxFee: bigint): PaymentIntent {
  const { id, sender, recipient, amount } = row
  return {
    paymentId: id,
    network: network.network,
    asset: assetOf(network, row),
    sender,
    recipient,
    amountAtomic: amount,
    maxFeeAtomic: maxFee,
  }
}

function describeRefusal(built: Exclude<BuiltTransaction, { ok: true }>): string {
  return built.code === 'INVALID_RECIPIENT'
    ? renderRecipientReason(built.reason)
    : 'the wallet holds too little.'
}

/** How long a transaction waits at the head of its nonce queue before the network's fees are looked at again. */
const RAISE_AFTER_MS = 30_000

/**
 * Keeps the newest of a payment's transactions before the network, and offers more when it waits too long and the service pays for it.
 * @param pooled whether that very one waits in a pool: a lower offer that still waits is no reason to keep a higher one back
 */
export async function ensureInclusion(
  context: Context,
  stuck: WaitingPayment,
  pooled: boolean,
): Promise<void> {
  const { payment, newest, chain } = stuck
  await rebroadcast(context, chain, { attempt: newest, pooled })
  const ours = payment.mode === 'hosted' || newest.signer !== null
  // Below zero where the process that signed has a clock that is ahead: then it may have waited long.
  const waitedMs = context.now().getTime() - newest.createdAt.getTime()
  if (!ours || (waitedMs >= 0 && waitedMs <= RAISE_AFTER_MS)) return
  try {
    await bumpFee(context, stuck, pooled)
  } catch (error) {
    // Dearer than what is ever paid, or not known: what is offered already still stands.
    if (!(error instanceof ProblemError) || error.code !== 'CHAIN_UNAVAILABLE') throw error
    context.log.info(
      { paymentId: payment.id, err: error },
      'no higher fee is offered for a payment that waits',
    )
  }
}

/** The configured asset that a payment moves. */
function assetOf(network: Network, { asset: address }: { asset: string }): Asset {
  const asset = network.assets.find((candidate) => candidate.address === address)
  if (!asset)
    throw new Error(`The asset ${address} is not configured on ${network.network} any more.`)
  return asset
}
