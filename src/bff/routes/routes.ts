import type { ApiKeyRow } from '#contract/api-key-body.ts'
import { rotationOf } from '#contract/approval.ts'
import { CONFIRM_HEADER } from '#contract/dashboard-endpoints.ts'
import type { EndpointName } from '#contract/endpoints.ts'
import { customerTextOf, SEARCHED_PARTIES } from '#contract/payment-search.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import { searchProfiles } from '../db/profiles.ts'
import type { OpenSession } from '../db/sessions.ts'
import { requireApproval } from '../session/approval.ts'
import {
  type BrowserEndpointName,
  type Rule,
  may,
  onward,
  spender,
  requirePayee,
  notFound,
  requireWallet,
  requireSession,
  type ProxyCall,
} from '../session/rule.ts'
import { projectForParties } from '../upstream/upstream.ts'
import {
  verifiedScope,
  transactionSend,
  awaitsVerification,
  verifySender,
} from './build-payment.ts'
import {
  refundRequestDecline,
  refundRequestReopen,
  undeliveredClose,
  undeliveredReopen,
  unmatchedAssign,
  unmatchedUnassign,
} from './inbox.ts'
import { fieldsOf, refuseSenderVerified } from '../http/parse.ts'
import { readPayment } from './read-payment.ts'
import { refundRequestCreate, refundRequestRead, transactionRelease } from './refund.ts'

/**
 * Only who made a payment or is part of it reports it: a report of a stranger would send the service looking for a wrong transaction.
 * A session that has proven the sender verifies the order with its report.
 */
const transactionSubmitted: Rule<'transactionSubmitted'> = async (call) => {
  const { context, visitor, input, raw } = call
  const session = requireSession(visitor)
  refuseSenderVerified(input.body)
  // A viewer reads all payments, and reports none.
  const reporter = may(session, 'operator') ? session : { ...session, member: null }
  const statusRequest = { ...call, paymentId: input.body.paymentId, session: reporter }
  const { parsed } = await readPayment(statusRequest)
  const senderVerified = session.wallets.includes(parsed.sender)
  const request = {
    ...onward(call),
    body: { ...fieldsOf(raw.body), senderVerified },
    keyScope: verifiedScope(session.id, senderVerified),
  }
  const reply = await context.upstream.write('transactionSubmitted', request, () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
  return session.member ? reply : { ...reply, value: projectForParties(reply.value) }
}

/** The new key passes through once: answers are kept by nobody, logged by nobody, and a repetition gets none. */
const apiKeyCreate: Rule<'apiKeyCreate'> = async (call) => {
  const { context, visitor, input, approval } = call
  requireConfirmation(call.confirmation, input.body.name)
  await requireApproval(context, visitor, {
    approval,
    operation: { kind: 'create', terms: input.body },
  })
  return context.upstream.write('apiKeyCreate', onward(call), () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
}

/** A session that has proven the sender of a payment it made since is the evidence that a transfer may wait for: the service is told, and asked again. */
const paymentStatus: Rule<'paymentStatus'> = async (call) => {
  const session = requireSession(call.visitor)
  const statusRequest = { ...call, paymentId: call.input.params.paymentId, session }
  const reply = await readPayment(statusRequest)
  if (!(await awaitsVerification(call, session, reply.parsed))) return reply
  return verifySender(call, session, reply.parsed).then(
    () => readPayment(statusRequest),
    // What the service refuses changes nothing about what was read.
    () => reply,
  )
}

const apiKeyRotate: Rule<'apiKeyRotate'> = async (call) => {
  const { context, visitor, input, approval } = call
  const key = await readConfirmedKey(call, input.params.id)
  await requireApproval(context, visitor, {
    approval,
    operation: rotationOf(key, input.body.graceSeconds),
  })
  return context.upstream.write('apiKeyRotate', onward(call), () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
}

/** The service looks at the chain before it builds. */
const WITHIN_MS = 45_000

/**
 * The transaction by which a payee settles a proof alone: for the payee, or the operator. What comes is unsigned, of use to the payee's key only.
 * The payment is recorded in the account, so its payee is the merchant where no operator asks.
 */
const transactionReceive: Rule<'transactionReceive'> = async (call) => {
  const { context, visitor, input } = call
  const { walletAddress } = input.body
  const session = requirePayee(visitor, walletAddress)
  const { sellerWallets } = context.config
  if (!may(session, 'operator') && !sellerWallets.includes(walletAddress))
    throw new ProblemError('FORBIDDEN', {
      message: 'This merchant settles only payments to its own wallets.',
      details: { walletAddress: `Expected one of ${sellerWallets.join(', ')}.` },
    })
  return context.upstream.write(
    'transactionReceive',
    { ...onward(call), timeoutMs: WITHIN_MS },
    () => context.budgets.spend(spender(visitor), 'action'),
  )
}

/** Time for the round trip, on top of the time the caller gives the service. */
const ROUND_TRIP_MS = 5_000

/** Accepts a proof, which consumes it and records it in the account: for operators only. */
const paymentReceive: Rule<'paymentReceive'> = async (call) => {
  const { context, visitor, input } = call
  const timeoutMs = input.body.timeout * 1000 + ROUND_TRIP_MS
  return context.upstream.write('paymentReceive', { ...onward(call), timeoutMs }, () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
}

const paymentSummary: Rule<'paymentSummary'> = async (call) => {
  const { context, visitor, input } = call
  const wallets = walletsOf(requireWallet(visitor), input.query.wallets)
  const request = onward(call)
  const query = { ...request.query, ...(wallets && { wallets: wallets.join(',') }) }
  return context.upstream.read('paymentSummary', { ...request, query }, () =>
    context.budgets.spend(spender(visitor), 'sync'),
  )
}

/** A search finds the payments of customers by their names too, which the service does not know. */
const paymentList: Rule<'paymentList'> = async (call) => {
  const { context, visitor, input } = call
  const session = requireWallet(visitor)
  const wallets = walletsOf(session, input.query.wallets)
  const parties = await findParties(context.db, session, input.query.q)
  const request = onward(call)
  const query = {
    ...request.query,
    ...(wallets && { wallets: wallets.join(',') }),
    ...(parties.length > 0 && { parties: parties.join(',') }),
  }
  return context.upstream.read('paymentList', { ...request, query }, () =>
    context.budgets.spend(spender(visitor), 'sync'),
  )
}

/** Of a wallet the session proved; for people of the account, of any. */
const paymentHistory: Rule<'paymentHistory'> = async (call) => {
  const { context, visitor, input } = call
  const session = requireWallet(visitor)
  if (!session.member && !session.wallets.includes(input.params.walletAddress)) throw notFound()
  return context.upstream.read('paymentHistory', onward(call), () =>
    context.budgets.spend(spender(visitor), 'sync'),
  )
}

/** Whether a proof is good now: for its payee, or the operator. It only reads, so asking often uses nothing up but the budget. */
const facilitatorVerify: Rule<'facilitatorVerify'> = async (call) => {
  const { context, visitor, input } = call
  const { payTo } = input.body.paymentRequirements
  requirePayee(visitor, typeof payTo === 'string' ? payTo : '')
  return context.budgets.whileWaiting(visitor.address, () =>
    context.upstream.write('facilitatorVerify', onward(call), () =>
      context.budgets.spend(spender(visitor), 'action'),
    ),
  )
}

const apiKeyDelete: Rule<'apiKeyDelete'> = async (call) => {
  const { context, visitor, input } = call
  await readConfirmedKey(call, input.params.id)
  return context.upstream.write('apiKeyDelete', onward(call), () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
}

/** For anybody: it says what every node of the chain says. */
const tokenInfo: Rule<'tokenInfo'> = (call) =>
  call.context.upstream.read('tokenInfo', onward(call), () =>
    call.context.budgets.spend(spender(call.visitor), 'sync'),
  )

/** One rule for every endpoint that browsers are offered, and for no other: a missing or a superfluous one does not compile. */
export const routes: { readonly [K in BrowserEndpointName]: Rule<K> } = {
  transactionSend,
  transactionSubmitted,
  transactionRelease,
  transactionReceive,
  paymentReceive,
  facilitatorVerify,
  paymentStatus,
  paymentHistory,
  paymentList,
  paymentSummary,
  customerList: readOnward('customerList'),
  refundRequestList: readOnward('refundRequestList'),
  refundRequestRead,
  refundRequestCreate,
  refundRequestDecline,
  refundRequestReopen,
  unmatchedList: readOnward('unmatchedList'),
  unmatchedAssign,
  unmatchedUnassign,
  undeliveredList: readOnward('undeliveredList'),
  undeliveredClose,
  undeliveredReopen,
  tokenInfo,
  // This program's own key is in the list without its hint.
  apiKeyList: readOnward('apiKeyList'),
  apiKeyCreate,
  apiKeyRotate,
  apiKeyDelete,
  usage: readOnward('usage'),
  requestList: readOnward('requestList'),
  webhookList: readOnward('webhookList'),
  webhookCreate: writeOnward('webhookCreate'),
  webhookUpdate: writeOnward('webhookUpdate'),
  webhookDelete: writeOnward('webhookDelete'),
  webhookRotate: writeOnward('webhookRotate'),
  webhookTest: writeOnward('webhookTest'),
  webhookDeliveries: readOnward('webhookDeliveries'),
  webhookRedeliver: writeOnward('webhookRedeliver'),
}

/** Wallets of the customers that a search names: of none where they are more than one search takes. */
async function findParties(
  db: Database,
  session: OpenSession,
  q: string | undefined,
): Promise<readonly string[]> {
  const text = customerTextOf(q ?? '')
  if (text === undefined || !may(session, 'viewer')) return []
  const limit = SEARCHED_PARTIES + 1
  const found = await searchProfiles(db, { text, emails: may(session, 'operator'), limit })
  return found.length < limit ? found.map(({ wallet }) => wallet) : []
}

/**
 * The wallets a list is about. Without naming any: for people of the account it is the whole account, anyone else's are the wallets of the session.
 * @throws ProblemError `NOT_FOUND` for a wallet that is not the session's
 */
function walletsOf(
  session: OpenSession,
  requested: readonly string[] | undefined,
): readonly string[] | undefined {
  if (session.member) return requested
  if (!requested) return session.wallets
  if (requested.some((wallet) => !session.wallets.includes(wallet))) throw notFound()
  return requested
}

/** @throws ProblemError `INVALID_PARAMETERS` unless the typed name matches exactly */
function requireConfirmation(typed: string | undefined, name: string): void {
  if (typed === name) return
  throw new ProblemError('INVALID_PARAMETERS', {
    message: 'Type the name of the key to confirm.',
    details: { [CONFIRM_HEADER]: 'Expected the name of the key.' },
  })
}

/**
 * Reads the key again before it is ended or replaced: the page's list may be old, and a click may
 * have hit another row.
 * @throws ProblemError `NOT_FOUND`, `INVALID_PARAMETERS`, `FORBIDDEN` for the proxy's own key,
 * which it needs to run
 */
async function readConfirmedKey<K extends EndpointName>(
  call: ProxyCall<K>,
  id: string,
): Promise<ApiKeyRow> {
  const { context, visitor } = call
  const { requestId } = onward(call)
  const { parsed } = await context.upstream.read('apiKeyList', { requestId }, () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
  const key = parsed.keys.find((each) => each.id === id)
  if (!key) throw notFound()
  if (key.hint === '') {
    const message =
      'The dashboard itself uses this key. Create another one, set SERVICE_API_KEY to it, and then delete this one.'
    throw new ProblemError('FORBIDDEN', { message, reason: 'own_key' })
  }
  requireConfirmation(call.confirmation, key.name)
  return key
}

/** What the role of the endpoint is enough for: the service's answer, as it is. */
function readOnward<K extends BrowserEndpointName>(name: K): Rule<K> {
  return (call) =>
    call.context.upstream.read(name, onward(call), () =>
      call.context.budgets.spend(spender(call.visitor), 'sync'),
    )
}

/** A change that the role of the endpoint is enough for, as it was written. */
function writeOnward<K extends BrowserEndpointName>(name: K): Rule<K> {
  return (call) =>
    call.context.upstream.write(name, onward(call), () =>
      call.context.budgets.spend(spender(call.visitor), 'action'),
    )
}
