import { parseAddress } from '#contract/address.ts'
import {
  APPROVAL_HEADER,
  APPROVAL_TAIL,
  isApprovalOf,
  approvalText,
  type ApprovedOperation,
} from '#contract/approval.ts'
import { ProblemError } from '#contract/problem.ts'
import type { ProxyContext } from '../context/context.ts'
import {
  findChallenge,
  insertChallenge,
  takeChallenge,
  type ChallengeRow,
  type OpenSession,
} from '../db/sessions.ts'
import type { Visitor } from './visitor.ts'
import { roleOf } from './open-session.ts'
import { requireRole } from './rule.ts'
import { createId, createNonce, hashCookieValue } from './random.ts'
import { isSigned } from './challenge.ts'

/** Long enough to read and sign it, short enough that a signature found later is worthless. */
const VALID_MS = 5 * 60_000

/**
 * Writes and stores the exact text that an owner's wallet signs for one operation. It is bound
 * to the page's origin and to the session.
 */
export async function issueApproval(
  context: ProxyContext,
  visitor: Visitor,
  { operation, signer }: { operation: ApprovedOperation; signer: string },
) {
  const session = requireRole(visitor, 'owner')
  const parsed = parseAddress(signer)
  const wallet = parsed.ok ? parsed.address : ''
  if (!session.wallets.includes(wallet) || (await roleOf(context, wallet)) !== 'owner')
    throw refuse('approval_signer')
  const issuedAt = context.now()
  const expiresAt = new Date(issuedAt.getTime() + VALID_MS)
  const origin = originOf(visitor)
  const words = approvalText(operation, { origin, wallet })
  const message = `${words}${APPROVAL_TAIL}${createNonce()}\nIssued At: ${issuedAt.toISOString()}\nExpiration Time: ${expiresAt.toISOString()}`
  const id = createId('apr')
  await insertChallenge(context.db, {
    id,
    origin,
    browserHash: hashCookieValue(session.id),
    wallet,
    message,
    expiresAt,
  })
  return { id, message, expiresAt: expiresAt.getTime() }
}

/**
 * Consumes the approval that a request carries. It is deleted before its signature is checked: a
 * second request with it, or a concurrent one, finds nothing.
 * @returns the wallet that signed: a session may have several owners' wallets, and what one of them
 * gave ends with the role of that one
 * @throws ProblemError `FORBIDDEN` unless an owner's wallet signed exactly this operation, here,
 * for this session
 */
export async function requireApproval(
  context: ProxyContext,
  visitor: Visitor,
  { approval, operation }: { approval: string | undefined; operation: ApprovedOperation },
): Promise<string> {
  const session = requireRole(visitor, 'owner')
  const { id, signature } = readHeader(approval) ?? {}
  if (id === undefined || signature === undefined) throw refuse('approval_required')
  const origin = originOf(visitor)
  const browserHash = hashCookieValue(session.id)
  const row = await takeChallenge(context.db, { id, origin, browserHash })
  if (!row || row.expiresAt <= context.now()) throw refuse('approval_over')
  if (
    !(await isOwnersSignature(context, session, { row, signature })) ||
    !isApprovalOf(row.message, operation, { origin, wallet: row.wallet })
  )
    throw refuse('approval_signature')
  return row.wallet
}

/**
 * The owner's wallet that signed the approval of a request, whatever it approves; consumes nothing.
 * Undefined where there is no such signature, which `requireApproval` then refuses.
 */
export async function findSigner(
  context: Pick<ProxyContext, 'config' | 'db'>,
  { session, origin }: Visitor,
  approval: string | undefined,
): Promise<string | undefined> {
  const { id, signature } = readHeader(approval) ?? {}
  if (!session || !origin || id === undefined || signature === undefined) return undefined
  const browserHash = hashCookieValue(session.id)
  const row = await findChallenge(context.db, { id, origin, browserHash })
  const isSigner = row && (await isOwnersSignature(context, session, { row, signature }))
  return isSigner ? row.wallet : undefined
}

function readHeader(approval: string | undefined): { id?: string; signature?: string } | undefined {
  return /^(?<id>apr_[1-9A-HJ-NP-Za-km-z]{16,22}) (?<signature>[\x21-\x7e]{40,300})$/.exec(
    approval ?? '',
  )?.groups
}

async function isOwnersSignature(
  context: Pick<ProxyContext, 'config' | 'db'>,
  { wallets }: OpenSession,
  { row, signature }: { row: ChallengeRow; signature: string },
): Promise<boolean> {
  return (
    wallets.includes(row.wallet) &&
    isSigned(row.wallet, row.message, signature) &&
    (await roleOf(context, row.wallet)) === 'owner'
  )
}

const PROBLEM_TEXTS = {
  approval_required:
    'An owner’s wallet has to sign this change: ask for the text at POST /approvals.',
  approval_signer: 'Sign with the wallet of an owner that this session has proven.',
  approval_over: 'This approval was used, or too much time passed. Ask for a new one.',
  approval_signature: 'The signature is not over this change.',
} as const

function refuse(reason: keyof typeof PROBLEM_TEXTS): ProblemError {
  return new ProblemError('FORBIDDEN', {
    message: PROBLEM_TEXTS[reason],
    reason,
    details: { header: APPROVAL_HEADER },
  })
}

/** State changes come only from an allowed origin; this makes the type say so. */
function originOf({ origin }: Visitor): string {
  if (!origin)
    throw new ProblemError('FORBIDDEN', { message: 'An approval needs an Origin header.' })
  return origin
}
