import type { Role } from '#contract/role.ts'
import { AUDITED, type Audited } from '#contract/people-endpoints.ts'
import { isPaymentId } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import type { ProxyContext } from '../context/context.ts'
import { completeAuditEntry, insertAuditEntry } from '../db/people.ts'
import { findSigner } from './approval.ts'
import { type OwnEndpointName, requireRole, type BrowserEndpointName } from './rule.ts'
import type { Visitor } from './visitor.ts'

/**
 * Who may call each endpoint that browsers are offered; a missing one does not compile. `anybody`:
 * its own rule decides (a party of the payment, the payee, the holder of a link). A role is required
 * before the rule runs.
 */
export const ACCESS: {
  readonly [K in BrowserEndpointName | OwnEndpointName]: Role | 'anybody'
} = {
  config: 'anybody',
  session: 'anybody',
  sessionChallenge: 'anybody',
  sessionCreate: 'anybody',
  sessionDelete: 'anybody',
  sessionList: 'anybody',
  sessionEndOthers: 'anybody',
  relay: 'anybody',
  rateList: 'anybody',
  linkRead: 'anybody',
  linkOpen: 'anybody',
  linkSurplus: 'anybody',
  linkLease: 'anybody',
  linkPay: 'anybody',
  imageRead: 'anybody',
  noteRead: 'anybody',
  noteWrite: 'anybody',
  noteLabels: 'anybody',
  transactionSend: 'anybody',
  transactionSubmitted: 'anybody',
  transactionRelease: 'anybody',
  transactionReceive: 'anybody',
  facilitatorVerify: 'anybody',
  paymentStatus: 'anybody',
  paymentHistory: 'anybody',
  paymentList: 'anybody',
  paymentSummary: 'anybody',
  tokenInfo: 'anybody',
  refundRequestRead: 'anybody',
  refundRequestCreate: 'anybody',
  invitationRead: 'anybody',
  peopleJoin: 'anybody',
  fileOpen: 'anybody',
  fileDownload: 'anybody',

  linkList: 'viewer',
  surplusList: 'viewer',
  customerList: 'viewer',
  profileRead: 'viewer',
  profileFind: 'viewer',
  productList: 'viewer',
  invoiceList: 'viewer',
  invoiceRead: 'viewer',
  hostedWallets: 'viewer',
  balanceWallets: 'viewer',
  balanceAlerts: 'viewer',
  unmatchedList: 'viewer',
  undeliveredList: 'viewer',
  refundRequestList: 'viewer',
  apiKeyList: 'viewer',
  usage: 'viewer',
  requestList: 'viewer',
  webhookList: 'viewer',
  webhookDeliveries: 'viewer',
  fileList: 'viewer',
  fileFailures: 'viewer',
  mailRead: 'viewer',
  mailWrite: 'viewer',
  mailConfirm: 'viewer',
  mailDelete: 'viewer',

  invoiceCustomers: 'operator',
  linkCreate: 'operator',
  profileWrite: 'operator',
  profileExport: 'operator',
  shortLinkCreate: 'operator',
  linkWithdraw: 'operator',
  linkRestore: 'operator',
  productCreate: 'operator',
  productUpdate: 'operator',
  productArchive: 'operator',
  invoiceSave: 'operator',
  invoiceDelete: 'operator',
  invoiceIssue: 'operator',
  invoiceVoid: 'operator',
  invoiceUnvoid: 'operator',
  invoicePrefix: 'operator',
  invoiceSeller: 'operator',
  hostedIntent: 'operator',
  hostedSend: 'operator',
  balanceAlert: 'operator',
  paymentReceive: 'operator',
  unmatchedAssign: 'operator',
  unmatchedUnassign: 'operator',
  undeliveredClose: 'operator',
  undeliveredReopen: 'operator',
  refundRequestDecline: 'operator',
  refundRequestReopen: 'operator',
  webhookCreate: 'operator',
  webhookUpdate: 'operator',
  webhookDelete: 'operator',
  webhookRotate: 'operator',
  webhookTest: 'operator',
  webhookRedeliver: 'operator',
  fileCreate: 'operator',
  fileCheck: 'operator',
  fileUpdate: 'operator',
  fileWithdraw: 'operator',
  fileRestore: 'operator',
  fileDelete: 'operator',

  approval: 'owner',
  invoiceForget: 'owner',
  profileDelete: 'owner',
  apiKeyCreate: 'owner',
  apiKeyRotate: 'owner',
  apiKeyDelete: 'owner',
  peopleList: 'owner',
  peopleInvite: 'owner',
  peopleUninvite: 'owner',
  peopleChange: 'owner',
  peopleRemove: 'owner',
  auditRead: 'owner',
}

type AccessRequest = {
  context: Pick<ProxyContext, 'config' | 'db' | 'now' | 'log'>
  visitor: Visitor
  name: keyof typeof ACCESS
  requestId: string
  /** What an owner's wallet signed for this request, from `X-Approval`. */
  approval: string | undefined
  /** What the request named. */
  about: { params?: unknown; body?: unknown }
}

/**
 * Requires the role of the endpoint, and records what changes something: the entry is written
 * before the change, so that no change is without one, and completed with what became of it. It names
 * the wallet that signed for the change where one did: a session may have several.
 * @throws ProblemError `UNAUTHORIZED`, `FORBIDDEN`, and what `run` throws
 */
export async function withAccess<Result extends { value: unknown }>(
  request: AccessRequest,
  run: () => Promise<Result>,
): Promise<Result> {
  const { context, visitor, name, requestId, approval, about } = request
  const least = ACCESS[name]
  const session = least === 'anybody' ? visitor.session : requireRole(visitor, least)
  const member = session?.member
  if (!isAudited(name) || !member) return run()
  const signer = await findSigner(context, visitor, approval)
  const subject = subjectOf(about)
  const id = await insertAuditEntry(context.db, {
    at: context.now(),
    ...(signer === undefined ? member : { wallet: signer, role: 'owner' }),
    action: name,
    subject,
    requestId,
  })
  const complete = (outcome: string, became = subject) =>
    completeAuditEntry(context.db, id, { outcome, subject: became }).catch((error: unknown) =>
      context.log.warn({ err: error, requestId }, 'the outcome of a change was not recorded'),
    )
  try {
    const result = await run()
    await complete('done', createdIdOf(name, result.value) ?? subject)
    return result
  } catch (error) {
    await complete(error instanceof ProblemError ? error.code : 'INTERNAL')
    throw error
  }
}

/** `peopleJoin` records itself, in the transaction that gives the role. */
function isAudited(name: string): name is Exclude<Audited, 'peopleJoin'> {
  return name !== 'peopleJoin' && AUDITED.some((each) => each === name)
}

/** The fields that say what a change is about: the first that is there. None is personal or secret. */
const SUBJECTS = [
  'id',
  'requestId',
  'paymentId',
  'paymentIds',
  'transferId',
  'recipientAddress',
  'walletAddress',
  'nonce',
  'name',
  'url',
  'prefix',
]

function subjectOf({ params, body }: AccessRequest['about']): string | null {
  const fields: Record<string, unknown> = { ...toFields(body), ...toFields(params) }
  // The payment that a refund returns says more than its payer's address.
  const returned: unknown = Reflect.get(toFields(fields['metadata']), 'refundOf')
  if (typeof returned === 'string' && isPaymentId(returned)) return returned
  const named = SUBJECTS.map((field) =>
    field === 'url' ? originOf(fields[field]) : fields[field],
  ).find((value) => value !== undefined)
  const parts = [named, fields['role']].filter((part) => part !== undefined)
  return parts.length === 0 ? null : parts.map(String).join(' ').slice(0, 200)
}

/** The rest of a webhook's address may be a secret of its receiver, and entries are never deleted. */
function originOf(url: unknown): string | undefined {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).origin : undefined
}

/** Where the answer names what was created. */
const CREATED: Partial<Record<Audited, readonly string[]>> = {
  linkCreate: ['link', 'terms', 'id'],
  shortLinkCreate: ['link', 'short', 'id'],
  invoiceSave: ['invoice', 'id'],
  hostedSend: ['paymentId'],
}

function createdIdOf(name: Audited, answer: unknown): string | null {
  const id = CREATED[name]?.reduce<unknown>(
    (part, field) => Reflect.get(toFields(part), field),
    answer,
  )
  return typeof id === 'string' ? id : null
}

function toFields(part: unknown): object {
  return typeof part === 'object' && part !== null ? part : {}
}
