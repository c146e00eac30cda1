import { maxFeeAtomic } from '#chains/evm/fee.ts'
import { raiseFees } from '#chains/evm/raise.ts'
import { decodeTransaction } from '#chains/evm/decode.ts'
import type { PaymentIntent } from '#chains/intent.ts'
import type { Network } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import type { Built, Chain } from '../chains/chain.ts'
import type { Context } from '../context.ts'
import { insertAttempt, readAttempts, type AttemptRecord } from '../db/attempts.ts'
import { lockPayment, updateSigned, type PaymentRecord } from '../db/payments.ts'
import { isStopped } from '../db/wallet-books.ts'
import { findWallet } from '../db/wallets.ts'
import { unseal } from '../wallets/seal.ts'
import { provePayment } from '../wallets/prove-payment.ts'
import { signPayment } from '../wallets/sign.ts'
import { failPayment } from './fail.ts'
import { readLaneFunds, takePlace, type Place } from './lane.ts'
import { push, tellPending } from './push.ts'
import { assetOf } from './asset-of.ts'

/** A payment that could not land for so long is given up, once it can never land. */
const GIVE_UP_MS = 600_000
const MAX_ATTEMPTS = 6

export type Stuck = { payment: PaymentRecord; newest: AttemptRecord; chain: Chain }
type Ready = Extract<Built, { ok: true }>
type Next = { built: Pick<Ready, 'bytes' | 'feeAtomic' | 'lastValidBlockHeight'>; nonce: number | null }

/** Signs a payment anew. The caller has the chain's own proof that nothing signed before can land. */
export async function signAgain(context: Context, stuck: Stuck): Promise<void> {
  const { payment, newest, chain } = stuck
  const late = context.now().getTime() - payment.createdAt.getTime() > GIVE_UP_MS || newest.number >= MAX_ATTEMPTS
  if (late) return giveUp(context, stuck, 'The transaction was broadcast, did not land, and can no longer land: nothing was paid.')
  const built = await buildAgain(chain, payment)
  if (!built.ok) return giveUp(context, stuck, `The transaction did not land, and cannot be made again: ${describeRefusal(built)}`)
  const funds = await readLaneFunds(context, chain, payment.sender)
  await replace(context, stuck, {
    choose: (tx) =>
      takePlace(tx, { network: chain.network, sender: payment.sender, funds, amountAtomic: payment.amount, feeAtomic: built.feeAtomic, replacing: payment.id }),
    next: (nonce) => ({ built, nonce }),
  })
}

/**
 * Offers more for the transaction at the head of a lane, when the network's fees have risen above what it offers: same nonce, so only one of the
 * transactions can land.
 */
export async function raiseFee(context: Context, stuck: Stuck): Promise<void> {
  const { payment, newest, chain } = stuck
  if (newest.number >= MAX_ATTEMPTS || payment.nonce === null) return
  const funds = await readLaneFunds(context, chain, payment.sender)
  if (funds.nonce !== payment.nonce) return
  const market = await buildAgain(chain, payment)
  if (!market.ok) return
  const unsigned = raiseFees(Buffer.from(newest.signedTransaction, 'base64'), market.bytes, maxFeeAtomic(payment.priorityFee ?? 0n))
  const raised = unsigned && decodeTransaction(unsigned)
  if (!unsigned || !raised?.ok) return
  const { nonce } = payment
  const built = { bytes: unsigned, feeAtomic: raised.feeBoundAtomic, lastValidBlockHeight: market.lastValidBlockHeight }
  await replace(context, stuck, {
    choose: async (tx) => {
      const request = { network: chain.network, sender: payment.sender, funds, amountAtomic: payment.amount, feeAtomic: built.feeAtomic, replacing: payment.id }
      const place = await takePlace(tx, request)
      return place.ok ? { ok: true, nonce } : place
    },
    next: () => ({ built, nonce }),
    keepWhenShort: true,
  })
}

type Replacement = { choose: (tx: Database) => Promise<Place>; next: (nonce: number | null) => Next; keepWhenShort?: boolean }

/** Signs, keeps and sends the next attempt, unless something moved in the meantime. */
async function replace(context: Context, { payment, newest, chain }: Stuck, { choose, next, keepWhenShort = false }: Replacement): Promise<void> {
  const wallet = await findWallet(context.db, { accountId: payment.accountId, address: payment.sender })
  if (!wallet) throw new Error(`The wallet of the payment ${payment.id} is not managed any more.`)
  const secret = await unseal(context.vault, wallet, wallet)
  const at = context.now()
  const attempt = await context.db
    .transaction(async (tx) => {
      const place = await choose(tx)
      const row = await lockPayment(tx, payment.id)
      const [last] = await readAttempts(tx, payment.id)
      if (!row || row.status !== payment.status || last?.number !== newest.number) return undefined
      // A wallet that is stopped signs nothing; what it signed before is still seen through.
      if (await isStopped(tx, { network: payment.network, sender: payment.sender })) return undefined
      if (!place.ok) {
        // What is uncertain is looked at again in the next round.
        if (!keepWhenShort && !place.uncertain)
          await failPayment(tx, row, { failure: 'The transaction did not land, and the wallet holds too little to make it again: nothing was paid.', at })
        return undefined
      }
      const { built, nonce } = next(place.nonce)
      const intent = intentOf(row, chain.network, built.feeAtomic)
      const signed = signPayment(intent, secret, { unsigned: built.bytes, nonce })
      const paymentProof = provePayment({ intent, signature: signed.signature, resource: row.resource }, secret)
      const lastValidBlockHeight = nonce === null ? built.lastValidBlockHeight : null
      await updateSigned(tx, row.id, { nonce, lastValidBlockHeight, maxFee: built.feeAtomic, reportedSignature: signed.signature, paymentProof, updatedAt: at })
      return insertAttempt(tx, {
        paymentId: row.id,
        number: newest.number + 1,
        network: row.network,
        signature: signed.signature,
        signedTransaction: Buffer.from(signed.bytes).toString('base64'),
        paymentProof,
        nonce,
        lastValidBlockHeight,
        maxFee: built.feeAtomic,
        createdAt: at,
        broadcastAt: at,
      })
    })
    .finally(() => secret.fill(0))
  if (!attempt) return
  context.log.info({ paymentId: payment.id, signature: attempt.signature, attempt: attempt.number }, 'a payment was signed again')
  await push(context, chain, attempt)
  await tellPending(context, payment.id)
}

async function giveUp(context: Context, { payment, newest }: Stuck, failure: string): Promise<void> {
  await context.db.transaction(async (tx) => {
    const row = await lockPayment(tx, payment.id)
    const [last] = await readAttempts(tx, payment.id)
    if (row?.status === payment.status && last?.number === newest.number) await failPayment(tx, row, { failure, at: context.now() })
  })
}

function buildAgain(chain: Chain, payment: PaymentRecord): Promise<Built> {
  const { maxFeeAtomic: _, ...wanted } = intentOf(payment, chain.network, 0n)
  return chain.build(wanted, payment.priorityFee ?? undefined)
}

function intentOf(row: PaymentRecord, network: Network, maxFee: bigint): PaymentIntent {
  const { id, sender, recipient, amount } = row
  return { paymentId: id, network: network.network, asset: assetOf(network, row), sender, recipient, amountAtomic: amount, maxFeeAtomic: maxFee }
}

function describeRefusal(built: Exclude<Built, { ok: true }>): string {
  return built.code === 'INVALID_RECIPIENT' ? built.message : 'the wallet holds too little.'
}
