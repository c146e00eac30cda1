import * as v from 'valibot'
import type { ApiKeyInput, ApiKeyRow, GRACE_SECONDS } from './api-key-body.ts'
import type { Call } from './endpoint.ts'
import { timestamp } from './fields.ts'

/**
 * What an operator signs before a key is created or replaced: a stolen session has no wallet, so it
 * creates no key. The proxy writes the text; the browser writes the same text from the input and
 * compares. A signature counts for exactly these terms, once, for five minutes, on one site.
 */

export type KeyOperation =
  | { kind: 'create'; terms: v.InferOutput<typeof ApiKeyInput> }
  | { kind: 'rotate'; id: string; name: string; graceSeconds: (typeof GRACE_SECONDS)[number] }

/**
 * The header of the request that the signature is for: the challenge's id, a space, the signature.
 */
export const APPROVAL_HEADER = 'X-Approval'

export const keyApprovalEndpoints = {
  /** The text that an operator's wallet has to sign, for one request. */
  keyApproval: {
    method: 'POST',
    path: '/api-keys/approval',
    response: v.object({ id: v.string(), message: v.string(), expiresAt: timestamp }),
  },
} as const satisfies Record<string, Call>

/** Where and by whom it is signed. */
export type Signing = { origin: string; wallet: string }

/**
 * The terms of the operation, as signed. What follows them (a nonce, two times) only makes them
 * count once.
 */
export function keyApprovalText(operation: KeyOperation, { origin, wallet }: Signing): string {
  const { host } = new URL(origin)
  const create = operation.kind === 'create'
  return [
    `${host} wants you to ${create ? 'make' : 'replace'} an API key with your account:`,
    wallet,
    '',
    `${create ? 'Signing this makes a key that may do what stands below' : 'Signing this makes a key that takes the place of the one below'}. It moves no money by itself.`,
    '',
    `URI: ${origin}`,
    ...(create
      ? termsOf(operation.terms)
      : [
          `Key: ${operation.id}`,
          `Name: ${JSON.stringify(operation.name)}`,
          `The old key works on for: ${operation.graceSeconds} seconds`,
        ]),
  ].join('\n')
}

function termsOf({
  name,
  scopes,
  plan,
  environment,
  expiresAt,
}: v.InferOutput<typeof ApiKeyInput>): string[] {
  return [
    // In quotes, so that a name cannot look like another line.
    `Name: ${JSON.stringify(name)}`,
    `May: ${scopes.toSorted().join(', ')}`,
    `Plan: ${plan}`,
    `Kind: ${environment}`,
    `Ends: ${expiresAt === undefined ? 'never' : new Date(expiresAt).toISOString()}`,
  ]
}

/** The line after the terms of an operation. */
export const APPROVAL_TAIL = '\nNonce: '

/** Whether a text to be signed covers exactly this operation. */
export function isApprovalOf(message: string, operation: KeyOperation, signing: Signing): boolean {
  const words = `${keyApprovalText(operation, signing)}${APPROVAL_TAIL}`
  return (
    message.startsWith(words) &&
    /^[0-9a-f]{32}\nIssued At: [0-9TZ:.-]{24}\nExpiration Time: [0-9TZ:.-]{24}$/.test(
      message.slice(words.length),
    )
  )
}

/** The operation that replaces a key of the list. */
export function rotationOf(
  { id, name }: Pick<ApiKeyRow, 'id' | 'name'>,
  grace: (typeof GRACE_SECONDS)[number],
): KeyOperation {
  return { kind: 'rotate', id, name, graceSeconds: grace }
}
