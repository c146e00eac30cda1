import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { timestamp } from './fields.ts'
import { ROLES } from './role.ts'

/** Who works in this dashboard, and what they did: the proxy's own endpoints. */

export const PersonRow = v.object({
  wallet: v.string(),
  role: v.picklist(ROLES),
  /** Named by the configuration: only a restart with another one changes it. */
  configured: v.boolean(),
  /**
   * Of a wallet that the configuration names: the role that it was also given, and has once the
   * configuration no longer names it.
   */
  givenRole: v.optional(v.picklist(ROLES)),
  /** The wallet that gave the role; null where the configuration alone did. */
  givenBy: v.nullable(v.string()),
  givenAt: v.nullable(timestamp),
})
export type PersonRow = v.InferOutput<typeof PersonRow>

const Invitation = v.object({
  id: v.string(),
  role: v.picklist(ROLES),
  createdBy: v.string(),
  createdAt: timestamp,
  expiresAt: timestamp,
})

export const People = v.object({ people: v.array(PersonRow), invitations: v.array(Invitation) })
export type People = v.InferOutput<typeof People>

/** Endpoints that change something of the account: the log has an entry for each call. */
export const AUDITED = [
  'hostedSend',
  'balanceAlert',
  'transactionSend',
  'transactionRelease',
  'paymentReceive',
  'linkCreate',
  'shortLinkCreate',
  'linkWithdraw',
  'linkRestore',
  'fileCreate',
  'fileUpdate',
  'fileWithdraw',
  'fileRestore',
  'fileDelete',
  'productCreate',
  'productUpdate',
  'productArchive',
  'invoiceSave',
  'invoiceDelete',
  'invoiceIssue',
  'invoiceVoid',
  'invoiceUnvoid',
  'invoicePrefix',
  'invoiceSeller',
  'invoiceForget',
  'unmatchedAssign',
  'unmatchedUnassign',
  'undeliveredClose',
  'undeliveredReopen',
  'refundRequestDecline',
  'refundRequestReopen',
  'noteWrite',
  'mailWrite',
  'mailDelete',
  'profileWrite',
  'profileExport',
  'profileDelete',
  'webhookCreate',
  'webhookUpdate',
  'webhookDelete',
  'webhookRotate',
  'webhookTest',
  'webhookRedeliver',
  'apiKeyCreate',
  'apiKeyRotate',
  'apiKeyDelete',
  'peopleInvite',
  'peopleUninvite',
  'peopleJoin',
  'peopleChange',
  'peopleRemove',
] as const
export type Audited = (typeof AUDITED)[number]

export const AuditEntry = v.object({
  /** Its place in the log: grows, with gaps. */
  id: v.string(),
  at: timestamp,
  wallet: v.string(),
  role: v.picklist(ROLES),
  /** One of `AUDITED`, or what an earlier version had there. */
  action: v.string(),
  /** What it was about, as the request named it: an id, a wallet, a name. */
  subject: v.nullable(v.string()),
  /** `done`, or the code of the refusal; null where the answer is unknown. */
  outcome: v.nullable(v.string()),
  requestId: v.string(),
})
export type AuditEntry = v.InferOutput<typeof AuditEntry>

export const peopleEndpoints = {
  peopleList: { method: 'GET', path: '/people', response: People },
  /** `code` is in this answer only: the link that gives the role, once, within 7 days. */
  peopleInvite: {
    method: 'POST',
    path: '/people/invite',
    response: v.object({ code: v.string(), invitation: Invitation }),
  },
  peopleUninvite: { method: 'POST', path: '/people/uninvite', response: People },
  /** What an invitation gives and whose it is, for anybody who has its link. */
  invitationRead: {
    method: 'POST',
    path: '/people/invitation/read',
    response: v.object({ role: v.picklist(ROLES), createdBy: v.string(), expiresAt: timestamp }),
  },
  /** Gives the role of an invitation to a wallet that this session has proven. */
  peopleJoin: {
    method: 'POST',
    path: '/people/join',
    response: v.object({ role: v.picklist(ROLES) }),
  },
  peopleChange: { method: 'POST', path: '/people/change', response: People },
  peopleRemove: { method: 'POST', path: '/people/remove', response: People },
  /** Newest first, 50 at a time. */
  auditRead: {
    method: 'POST',
    path: '/audit-log/read',
    response: v.object({ entries: v.array(AuditEntry), next: v.nullable(v.string()) }),
  },
} as const satisfies Record<string, Call>
