import { t } from '@lingui/core/macro'
import { openDB, type DBSchema, type IDBPDatabase } from 'idb'
import { formatAmount } from '#contract/amount.ts'
import { intentText, intentTypedData, type HostedIntent } from '#contract/hosted-intent.ts'
import { LosslessNumber } from '#contract/json.ts'
import { familyOf, type Asset, type Network } from '#contract/network.ts'
import { reasonCodeOf } from '#contract/reasons.ts'
import { callProxy } from '../../../api/client.ts'
import { serverNow } from '../../../api/clock.ts'
import { ApiError } from '../../../api/errors.ts'
import { errorSentence } from '../../../errors/codes.ts'
import { describeUserError } from '../../../errors/error-messages.ts'
import { renderReason } from '../../../errors/payment-reasons.ts'
import { describeRefusal, refusalOf } from '../../../errors/refusals.ts'
import type { UserError } from '../../../payment-intent/intent.ts'
import { loadWalletAdapter } from '../../../wallet/load-adapter.ts'
import type { ConnectedAccount } from '../../../wallet/state/accounts.ts'
import type { HostedEvent, RefusedField } from './machine.ts'

/** A request that may have reached the proxy and has no certain answer yet: after a reload the same one is sent again, never another. */
type OpenSend = { nonce: string; intent: HostedIntent; signature: string }

interface Schema extends DBSchema {
  sends: { key: string; value: OpenSend }
}

let opened: Promise<IDBPDatabase<Schema>> | undefined

function open(): Promise<IDBPDatabase<Schema>> {
  opened ??= openDB<Schema>('paydesk-hosted', 1, {
    upgrade: (database) => void database.createObjectStore('sends', { keyPath: 'nonce' }),
  })
  opened.catch(() => (opened = undefined))
  return opened
}

/** Durably, before the request leaves. */
async function persistSend(send: OpenSend): Promise<void> {
  const transaction = (await open()).transaction('sends', 'readwrite', { durability: 'strict' })
  await transaction.store.put(send)
  await transaction.done
}

/** Once its outcome is known, or its operator looked for it. What stays is sent once more: the same payment. */
export async function forgetSend(nonce: string): Promise<void> {
  await open()
    .then((database) => database.delete('sends', nonce))
    .catch(() => undefined)
}

/** What an operator entered, read. */
export type HostedOrder = {
  network: Network
  asset: Asset
  from: string
  to: string
  amountAtomic: bigint
  /** A decimal in the native currency; empty where the service decides. */
  priorityFee: string
  resource: string
  description: string
  reference: string
  /** The payment that this one refunds; empty for any other. */
  refundOf: string
  signer: ConnectedAccount
}

/** An intent lives five minutes; a longer one would be a signature to find later. The clocks may differ a little. */
const LONGEST_S = 5 * 60 + 30

/** Has the proxy keep the payment. What will be signed is made here, from what was entered: the proxy adds only its number and its end. */
export async function prepare(order: HostedOrder): Promise<HostedEvent> {
  const { network, asset, from, to, amountAtomic, priorityFee, signer, ...words } = order
  const { resource, description, reference, refundOf } = words
  try {
    const body = {
      network: network.network,
      from,
      to,
      asset: asset.address,
      amount: new LosslessNumber(formatAmount(amountAtomic, asset.decimals)),
      signer: signer.address,
      ...(priorityFee && { priorityFee: new LosslessNumber(priorityFee) }),
      ...(resource && { resource }),
      ...(description && { description }),
      ...(reference && { reference }),
      ...(refundOf && { refundOf }),
    }
    const { nonce, expiresAt, ...reply } = await callProxy('hostedIntent', { body })
    if (BigInt(reply.amountAtomic) !== amountAtomic || expiresAt - serverNow() / 1000 > LONGEST_S)
      return { type: 'not_prepared', userError: describeUserError('other_payment') }
    const { symbol, decimals } = asset
    const intent = {
      nonce,
      network: network.network,
      from,
      to,
      asset: asset.address,
      symbol,
      decimals,
      amountAtomic: String(amountAtomic),
      priorityFee,
      ...words,
      expiresAt,
    }
    return { type: 'prepared', intent }
  } catch (error) {
    return { type: 'not_prepared', userError: userErrorOf(error), field: fieldOf(error) }
  }
}

/** The field of the form that a refusal names. */
function fieldOf(error: unknown): RefusedField | undefined {
  if (!(error instanceof ApiError)) return undefined
  if (error.code === 'INVALID_RECIPIENT' || 'to' in error.details) return 'recipient'
  return (['amount', 'priorityFee'] as const).find((field) => field in error.details)
}

/** Asks the operator's wallet for its signature over the payment. It moves nothing until the proxy has it. */
export async function signIntent(
  intent: HostedIntent,
  network: Network,
  signer: ConnectedAccount,
): Promise<HostedEvent> {
  try {
    const adapter = await loadWalletAdapter(familyOf(network.network))
    const signature =
      familyOf(network.network) === 'evm'
        ? await adapter.signTypedData(network, signer, intentTypedData(intent))
        : await adapter.signMessage(signer, intentText(intent))
    return { type: 'signed', signature }
  } catch (error) {
    const userError = describeUserError('not_signed')
    return {
      type: 'not_signed',
      userError: { ...userError, body: errorSentence(error, userError.body) },
    }
  }
}

/** Kept before it leaves. What could not be sent again after a reload is not sent at all. */
export async function storeSigned(
  intent: HostedIntent,
  signed: Extract<HostedEvent, { type: 'signed' }>,
): Promise<HostedEvent> {
  try {
    await persistSend({ nonce: intent.nonce, intent, signature: signed.signature })
    return signed
  } catch {
    const body = t`This browser cannot store payments. Nothing was sent.`
    return {
      type: 'not_signed',
      userError: { ...describeUserError('not_signed'), title: t`Not paid`, body },
    }
  }
}

/** Sends what was signed and stored: the same request, however often. What is not certain is `no_answer`. */
export async function deliver(send: OpenSend): Promise<HostedEvent> {
  try {
    const { state, paymentId, restoredAt } = await callProxy('hostedSend', {
      body: { nonce: send.nonce, signature: send.signature },
    })
    if (restoredAt !== null) return { type: 'unanswered', why: 'restored' }
    if (state !== 'sent' || paymentId === null) return { type: 'no_answer' }
    await forgetSend(send.nonce)
    return { type: 'sent', paymentId }
  } catch (error) {
    // Kept until the operator has looked: a session of its signer is told.
    if (isOfOtherSession(error)) return { type: 'unanswered', why: 'other_session' }
    if (!isCertain(error)) return { type: 'no_answer' }
    await forgetSend(send.nonce)
    return { type: 'refused', userError: userErrorOf(error) }
  }
}

/** What an earlier visit left without an answer. */
export async function undelivered(): Promise<OpenSend | undefined> {
  const sends = await open()
    .then((database) => database.getAll('sends'))
    // Without storage nothing was kept, and nothing is sent.
    .catch(() => [])
  return sends.at(0)
}

/** However often this session asks, it is not told. */
function isOfOtherSession(error: unknown): boolean {
  return error instanceof ApiError && reasonCodeOf(error.details) === 'hosted_intent'
}

/**
 * The proxy answered, and its refusals of this request all mean that nothing was sent. A pause, a lost session or an outage say nothing about
 * an earlier try.
 */
function isCertain(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false
  const reason = reasonCodeOf(error.details)
  if (reason?.startsWith('hosted_')) return reason !== 'hosted_off'
  return (
    error.code === 'INSUFFICIENT_BALANCE' ||
    error.code === 'SIGNING_REFUSED' ||
    error.code === 'INVALID_RECIPIENT' ||
    error.code === 'INVALID_PARAMETERS'
  )
}

/** Why the proxy or the service did not pay. */
export function userErrorOf(error: unknown): UserError {
  const { code, title, body, detail } = describeRefusal(error)
  const refused = error instanceof ApiError ? renderReason(error) : undefined
  if (refused) return { code, ...refused, ...(detail && { detail }) }
  // Where the code alone is known, the words are of a reading: here it is a payment that was not made.
  return {
    code,
    title,
    body: refusalOf(error) || !(error instanceof ApiError) ? body : t`Nothing was sent.`,
    ...(detail && { detail }),
  }
}
