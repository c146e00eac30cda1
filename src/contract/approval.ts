import * as v from 'valibot'
import type { ApiKeyInput, ApiKeyRow, GRACE_SECONDS, Plan, Scope } from './api-key-body.ts'
import type { Call } from './endpoint.ts'
import { timestamp } from './fields.ts'
import type { Role } from './role.ts'

/**
 * What an owner signs before a key is created or replaced, or a role is given: a stolen session has
 * no wallet, so it gains nothing that outlasts it. The proxy writes the text; the browser writes the
 * same text from the input and compares. A signature counts for exactly these terms, once, for five
 * minutes, on one site.
 */

/** A key of the list: the one that replaces it may do the same, and ends when it would have. */
type ReplacedKey = Pick<ApiKeyRow, 'id' | 'name' | 'scopes' | 'plan' | 'expiresAt'>

export type ApprovedOperation =
  | { kind: 'create'; terms: v.InferOutput<typeof ApiKeyInput> }
  | ({ kind: 'rotate'; graceSeconds: (typeof GRACE_SECONDS)[number] } & ReplacedKey)
  | { kind: 'invite'; role: Role }
  | { kind: 'changeRole'; walletAddress: string; role: Role }

/**
 * The header of the request that the signature is for: the challenge's id, a space, the signature.
 */
export const APPROVAL_HEADER = 'X-Approval'

export const approvalEndpoints = {
  /** The text that an owner's wallet has to sign, for one request. */
  approval: {
    method: 'POST',
    path: '/approvals',
    response: v.object({ id: v.string(), message: v.string(), expiresAt: timestamp }),
  },
} as const satisfies Record<string, Call>

/** Where and by whom it is signed. */
export type Signing = { origin: string; wallet: string }

const OPERATION_TEXTS: Readonly<Record<ApprovedOperation['kind'], { to: string; effect: string }>> =
  {
    create: {
      to: 'make an API key',
      effect: 'Signing this makes a key that may do what stands below.',
    },
    rotate: {
      to: 'replace an API key',
      effect:
        'Signing this makes a key that takes the place of the one below, and may do the same.',
    },
    invite: {
      to: 'invite a person',
      effect: 'Signing this makes a link. The first wallet to use it gets the role below.',
    },
    changeRole: {
      to: 'change a role',
      effect: 'Signing this gives the wallet below the role below.',
    },
  }

const MAY: Readonly<Record<Role, string>> = {
  owner: 'everything, also API keys and roles',
  operator: 'refund, pay from managed wallets, manage links and webhooks, see all payments',
  viewer: 'see all payments',
}

/**
 * The terms of the operation, as signed. What follows them (a nonce, two times) only makes them
 * count once.
 */
export function approvalText(operation: ApprovedOperation, { origin, wallet }: Signing): string {
  const { to, effect } = OPERATION_TEXTS[operation.kind]
  return [
    `${new URL(origin).host} wants you to ${to} with your account:`,
    wallet,
    '',
    `${effect} It moves no money by itself.`,
    '',
    `URI: ${origin}`,
    ...linesOf(operation),
  ].join('\n')
}

function linesOf(operation: ApprovedOperation): string[] {
  switch (operation.kind) {
    case 'create':
      return termsOf(operation.terms)
    case 'rotate':
      return [
        `Key: ${operation.id}`,
        nameLine(operation.name),
        mayLine(operation.scopes),
        planLine(operation.plan),
        endsLine(operation.expiresAt),
        `The old key works on for: ${operation.graceSeconds} seconds`,
      ]
    case 'invite':
      return [`Role: ${operation.role}`, `May: ${MAY[operation.role]}`]
    case 'changeRole':
      return [
        `Wallet: ${operation.walletAddress}`,
        `Role: ${operation.role}`,
        `May: ${MAY[operation.role]}`,
      ]
  }
}

function termsOf({
  name,
  scopes,
  plan,
  environment,
  expiresAt,
}: v.InferOutput<typeof ApiKeyInput>): string[] {
  return [
    nameLine(name),
    mayLine(scopes),
    planLine(plan),
    `Kind: ${environment}`,
    endsLine(expiresAt ?? null),
  ]
}

/** In quotes, so that a name cannot look like another line. */
const nameLine = (name: string) => `Name: ${JSON.stringify(name)}`
const mayLine = (scopes: readonly Scope[]) => `May: ${scopes.toSorted().join(', ')}`
const planLine = (plan: Plan) => `Plan: ${plan}`
const endsLine = (expiresAt: number | null) =>
  `Ends: ${expiresAt === null ? 'never' : new Date(expiresAt).toISOString()}`

/** The line after the terms of an operation. */
export const APPROVAL_TAIL = '\nNonce: '

/** Whether a text to be signed covers exactly this operation. */
export function isApprovalOf(
  message: string,
  operation: ApprovedOperation,
  signing: Signing,
): boolean {
  const words = `${approvalText(operation, signing)}${APPROVAL_TAIL}`
  return (
    message.startsWith(words) &&
    /^[0-9a-f]{32}\nIssued At: [0-9TZ:.-]{24}\nExpiration Time: [0-9TZ:.-]{24}$/.test(
      message.slice(words.length),
    )
  )
}

/** The operation that replaces a key of the list. */
export function rotationOf(
  { id, name, scopes, plan, expiresAt }: ReplacedKey,
  grace: (typeof GRACE_SECONDS)[number],
): ApprovedOperation {
  return { kind: 'rotate', id, name, scopes, plan, expiresAt, graceSeconds: grace }
}
