import type { People } from '#contract/people-endpoints.ts'
import { hasRole } from '#contract/role.ts'
import { ProblemError } from '#contract/problem.ts'
import type { ProxyContext } from '../context/context.ts'
import {
  acceptInvitation,
  changeRole,
  deleteInvitation,
  findAuditEntries,
  findInvitation,
  findInvitations,
  findRoles,
  insertInvitation,
  removeRole,
  type InvitationRow,
} from '../db/people.ts'
import { deleteMailAddress } from '../db/mail.ts'
import { findSessionsOf } from '../db/sessions.ts'
import { requireApproval } from '../session/approval.ts'
import { roleOf, toOpenSession } from '../session/open-session.ts'
import { type OwnRule, missingRole, notFound, requireWallet } from '../session/rule.ts'
import { createCookieValue, createId, hashCookieValue } from '../session/random.ts'

const VALID_MS = 7 * 24 * 3_600_000
const ENTRIES = 50

export const peopleList: OwnRule<'peopleList'> = async ({ context }) => ({
  value: await listPeople(context),
})

/** With a fresh signature of an owner: who stole a session gives nobody a role. */
export const peopleInvite: OwnRule<'peopleInvite'> = async (call) => {
  const { context, visitor, body, approval } = call
  context.budgets.spendSignIn(visitor.address)
  const operation = { kind: 'invite' as const, ...body }
  const createdBy = await requireApproval(context, visitor, { approval, operation })
  const code = createCookieValue()
  const createdAt = context.now()
  const row = {
    id: createId('inv'),
    codeHash: hashCookieValue(code),
    role: body.role,
    createdBy,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + VALID_MS),
  }
  if (!(await insertInvitation(context.db, row, context.config.operatorWallets)))
    throw missingRole('owner')
  return { value: { code, invitation: toInvitation(row) } }
}

export const peopleUninvite: OwnRule<'peopleUninvite'> = async ({ context, body }) => {
  if (!(await deleteInvitation(context.db, body.id))) throw notFound()
  return { value: await listPeople(context) }
}

/** For anybody who has the link, before they accept. */
export const invitationRead: OwnRule<'invitationRead'> = async ({ context, visitor, body }) => {
  context.budgets.spendSignIn(visitor.address)
  const { role, createdBy, expiresAt } = await requireInvitation(context, body.code)
  return { value: { role, createdBy, expiresAt: expiresAt.getTime() } }
}

/**
 * For anybody who has the link: the role goes to a wallet that this session has proven. A link
 * never takes a role away, and one that would give nothing stays as it is.
 */
export const peopleJoin: OwnRule<'peopleJoin'> = async ({ context, visitor, body, requestId }) => {
  const session = requireWallet(visitor)
  context.budgets.spendSignIn(visitor.address)
  const wallet = body.walletAddress
  if (!session.wallets.includes(wallet))
    throw new ProblemError('INVALID_PARAMETERS', {
      details: { walletAddress: 'Expected a wallet that is signed in here.' },
    })
  const now = context.now()
  const found = await requireInvitation(context, body.code)
  const currentRole = await roleOf(context, wallet)
  if (hasRole(currentRole, found.role)) throw refuse('role_held')
  const configuredOwners = context.config.operatorWallets
  const acceptance = { wallet, at: now, requestId, configuredOwners }
  const outcome = await acceptInvitation(context.db, found, acceptance)
  if (outcome !== 'joined') throw refuse(outcome === 'held' ? 'role_held' : 'invitation_over')
  await refreshStreams(context, wallet)
  return { value: { role: found.role } }
}

export const peopleChange: OwnRule<'peopleChange'> = async (call) => {
  const { context, visitor, body, approval } = call
  const { walletAddress, role } = body
  if (isConfigured(context, walletAddress)) throw refuse('role_configured')
  const operation = { kind: 'changeRole' as const, ...body }
  const givenBy = await requireApproval(context, visitor, { approval, operation })
  const configuredOwners = context.config.operatorWallets
  const given = { role, givenBy, givenAt: context.now(), configuredOwners }
  const outcome = await changeRole(context.db, walletAddress, given)
  if (outcome === 'refused') throw missingRole('owner')
  if (outcome === 'unknown') throw notFound()
  await refreshStreams(context, walletAddress)
  return { value: await listPeople(context) }
}

/** Of a wallet that the configuration names, only the role goes that it was also given. */
export const peopleRemove: OwnRule<'peopleRemove'> = async ({ context, body }) => {
  const wallet = body.walletAddress
  const configured = isConfigured(context, wallet)
  if (!(await removeRole(context.db, wallet, { configured })))
    throw configured ? refuse('role_configured') : notFound()
  if (!configured) await deleteMailAddress(context.db, wallet, null)
  await refreshStreams(context, wallet)
  return { value: await listPeople(context) }
}

export const auditRead: OwnRule<'auditRead'> = async ({ context, body }) => {
  const before = body.before === undefined ? undefined : BigInt(body.before)
  const rows = await findAuditEntries(context.db, { before, limit: ENTRIES + 1 })
  const entries = rows
    .slice(0, ENTRIES)
    .map(({ id, at, ...row }) => ({ ...row, id: id.toString(), at: at.getTime() }))
  return {
    value: { entries, next: rows.length > ENTRIES ? (entries.at(-1)?.id ?? null) : null },
  }
}

async function listPeople({ config, db, now }: ProxyContext): Promise<People> {
  const [roles, invitations] = await Promise.all([findRoles(db), findInvitations(db, now())])
  const configured = config.operatorWallets.map((wallet) => {
    const given = roles.find((row) => row.wallet === wallet)
    return {
      wallet,
      role: 'owner' as const,
      configured: true,
      ...(given && { givenRole: given.role }),
      givenBy: given?.givenBy ?? null,
      givenAt: given?.givenAt.getTime() ?? null,
    }
  })
  const people = [
    ...configured,
    ...roles
      .filter(({ wallet }) => !config.operatorWallets.includes(wallet))
      .map(({ givenAt, ...row }) => ({ ...row, configured: false, givenAt: givenAt.getTime() })),
  ]
  const owners = people.filter(({ role }) => role === 'owner').map(({ wallet }) => wallet)
  return {
    people,
    invitations: invitations
      .filter(({ createdBy }) => owners.includes(createdBy))
      .map(toInvitation),
  }
}

function toInvitation({ id, role, createdBy, createdAt, expiresAt }: InvitationRow) {
  return { id, role, createdBy, createdAt: createdAt.getTime(), expiresAt: expiresAt.getTime() }
}

async function requireInvitation(context: ProxyContext, code: string): Promise<InvitationRow> {
  const found = await findInvitation(context.db, hashCookieValue(code), context.now())
  // What somebody gave away as an owner ends with that role.
  if (!found || (await roleOf(context, found.createdBy)) !== 'owner')
    throw refuse('invitation_over')
  return found
}

/** The live events of this wallet's sessions follow its role at once, not at the next beat. */
async function refreshStreams(context: ProxyContext, wallet: string): Promise<void> {
  for (const row of await findSessionsOf(context.db, [wallet], context.now()))
    context.streams.refresh(toOpenSession(row, context.config.operatorWallets))
}

function isConfigured({ config }: ProxyContext, wallet: string): boolean {
  return config.operatorWallets.includes(wallet)
}

const PROBLEM_TEXTS = {
  invitation_over: 'This invitation was used or withdrawn, or it has expired. Ask for a new one.',
  role_held: 'This wallet already has this role or a higher one.',
  role_configured:
    'The configuration of the proxy names this wallet as an owner. Change OPERATOR_WALLETS and start the proxy again.',
} as const

function refuse(reason: keyof typeof PROBLEM_TEXTS): ProblemError {
  return new ProblemError('FORBIDDEN', { message: PROBLEM_TEXTS[reason], reason })
}
