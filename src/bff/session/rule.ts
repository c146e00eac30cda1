import type * as v from 'valibot'
import { parseAddress } from '#contract/address.ts'
import type { browserEndpoints } from '#contract/browser-endpoints.ts'
import type { EndpointInput, EndpointName, Endpoints } from '#contract/endpoints.ts'
import { ProblemError } from '#contract/problem.ts'
import { hasRole, type Role } from '#contract/role.ts'
import type { BudgetSpender } from '../budget/budgets.ts'
import type { ProxyContext } from '../context/context.ts'
import type { Member } from '../db/people.ts'
import type { OpenSession } from '../db/sessions.ts'
import type { RawInput } from '../http/parse.ts'
import type { UpstreamRequest } from '../upstream/upstream.ts'
import type { Visitor } from './visitor.ts'

/** The endpoints offered to browsers. */
export type BrowserEndpointName = {
  [K in EndpointName]: Endpoints[K]['audience'] extends 'browser' ? K : never
}[EndpointName]

export type ProxyCall<K extends EndpointName> = {
  context: ProxyContext
  visitor: Visitor
  /** Parsed: used to decide. */
  input: EndpointInput<K>
  /** As received: sent on to the service. */
  raw: RawInput
  requestId: string
  idempotencyKey: string | undefined
  /** What the person typed to confirm, from `X-Confirm`. */
  confirmation?: string | undefined
  /** What the person's wallet signed for this request, from `X-Approval`. */
  approval?: string | undefined
}

export type Reply = { value: unknown; headers: Readonly<Record<string, string>> }

/** Decides who may call, asks the service, and decides which parts of the answer may be seen. */
export type Rule<K extends EndpointName> = (call: ProxyCall<K>) => Promise<Reply>

/** @throws ProblemError `UNAUTHORIZED` */
export function requireSession(visitor: Visitor): OpenSession {
  if (!visitor.session) throw signInFirst()
  return visitor.session
}

/**
 * A session with at least one proven wallet: an anonymous buyer's has none.
 * @throws ProblemError `UNAUTHORIZED`
 */
export function requireWallet(visitor: Visitor): OpenSession {
  if (!visitor.session || visitor.session.wallets.length === 0) throw signInFirst()
  return visitor.session
}

/** Whether a session acts for the account, at least in this role. */
export function may({ member }: OpenSession, least: Role): boolean {
  return hasRole(member?.role ?? null, least)
}

type MemberSession = OpenSession & { member: Member }

/** @throws ProblemError `UNAUTHORIZED`, `FORBIDDEN` with the role that is needed */
export function requireRole(visitor: Visitor, least: Role): MemberSession {
  const session = requireWallet(visitor)
  const { member } = session
  if (member && hasRole(member.role, least)) return { ...session, member }
  throw missingRole(least)
}

export function missingRole(least: Role): ProblemError {
  return new ProblemError('FORBIDDEN', { message: MESSAGES[least], reason: `${least}_required` })
}

const MESSAGES = {
  owner: 'Only owners can do this. Sign in with the wallet of an owner.',
  operator: 'Only operators can do this. Sign in with an operator wallet.',
  viewer: 'Only people of this account can read this. Sign in with an operator wallet.',
} as const satisfies Record<Role, string>

/**
 * A session that may act for a payee: one that proved its wallet, or an operator's.
 * @throws ProblemError `UNAUTHORIZED`, `FORBIDDEN`
 */
export function requirePayee(visitor: Visitor, wallet: string): OpenSession {
  const session = requireWallet(visitor)
  const parsed = parseAddress(wallet)
  if (may(session, 'operator')) return session
  if (parsed.ok && session.wallets.includes(parsed.address)) return session
  throw new ProblemError('FORBIDDEN', {
    message: 'Sign in with the wallet that is to be paid.',
    reason: 'payee_required',
  })
}

/** The same answer for what does not exist and for what belongs to others. */
export function notFound(): ProblemError {
  return new ProblemError('NOT_FOUND', {
    message: 'There is nothing here that this session may see.',
  })
}

export function spender({ session, address }: Visitor): BudgetSpender {
  const proven = session !== undefined && session.wallets.length > 0
  const standing = proven ? 'wallet' : 'anonymous'
  const member = session !== undefined && may(session, 'viewer')
  return { sessionId: session?.id, address, standing: member ? 'member' : standing }
}

/** What is sent on to the service: the parts as received, checked but not rewritten. */
export function onward({
  raw,
  requestId,
  idempotencyKey,
  visitor,
}: Pick<
  ProxyCall<EndpointName>,
  'raw' | 'requestId' | 'idempotencyKey' | 'visitor'
>): UpstreamRequest {
  return { ...raw, requestId, idempotencyKey, keyScope: visitor.session?.id ?? visitor.address }
}

function signInFirst(): ProblemError {
  return new ProblemError('UNAUTHORIZED', {
    message: 'Sign in with a wallet first.',
    reason: 'sign_in_required',
  })
}

type BrowserEndpoints = typeof browserEndpoints
export type OwnEndpointName = keyof BrowserEndpoints
type Body<K extends OwnEndpointName> = BrowserEndpoints[K] extends {
  body: infer S extends v.GenericSchema
}
  ? v.InferOutput<S>
  : undefined

export type OwnCall<K extends OwnEndpointName> = {
  context: ProxyContext
  visitor: Visitor
  body: Body<K>
  requestId: string
  idempotencyKey: string | undefined
  /** What the person's wallet signed for this request, from `X-Approval`. */
  approval?: string | undefined
}
export type OwnReply<K extends OwnEndpointName> = {
  value: v.InferInput<BrowserEndpoints[K]['response']>
  cookies?: string[] | undefined
  headers?: Readonly<Record<string, string>>
}

/** An endpoint that the proxy answers itself. */
export type OwnRule<K extends OwnEndpointName> = (call: OwnCall<K>) => Promise<OwnReply<K>>
