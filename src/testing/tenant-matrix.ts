import { at, textAt, type ApiReply } from './api-client.ts'

/** What the tables of who may do what have in common. */

/** The class of an answer, or several that are right; with a reason where the reason matters. */
export type Class = string | readonly string[]

/** The class itself where it is one of those that are right, with or without a reason beyond; otherwise what would have been right. */
export function rightClass(wanted: Class, got: string): string {
  const all = [wanted].flat()
  return all.some((each) => got === each || got.startsWith(`${each} `)) ? got : all.join(' or ')
}

/** Fields that change by time or by being read. */
const VOLATILE = new Set([
  'since',
  'until',
  'lastUsedAt',
  'requestId',
  'confirmations',
  'expiresAt',
  'pending',
])

/** What a client reads of its account, for a comparison with later. */
export async function readOwn(
  get: (path: string) => Promise<ApiReply>,
  paths: readonly string[],
): Promise<unknown[]> {
  const replies = await Promise.all(paths.map(get))
  return replies.map(({ status, text }) => {
    const ofError = status !== 200
    return {
      status,
      body: JSON.parse(text, (name, value: unknown) =>
        VOLATILE.has(name) || (ofError && name === 'timestamp') ? undefined : value,
      ) as unknown,
    }
  })
}

export const MERCHANT_READS = [
  '/payments?limit=500',
  '/payments/summary',
  '/unmatched',
  '/wallets',
  '/wallets/payout',
  '/api-keys',
] as const

/** Answers of every cell that was asked, and what each should have been. */
export class Cells {
  readonly answers: Record<string, string> = {}
  readonly right: Record<string, string> = {}

  add(name: string, wanted: Class, got: string): void {
    this.answers[name] = got
    this.right[name] = rightClass(wanted, got)
  }
}

/** The payment that a request made, where it made one. */
export function madeBy({ status, body }: ApiReply): string[] {
  return status < 300 && typeof at(body, 'paymentId') === 'string'
    ? [textAt(body, 'paymentId')]
    : []
}
