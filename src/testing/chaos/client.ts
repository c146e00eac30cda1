import { randomInt, randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { Stage, Till } from './stage.ts'

/** A payment somebody wants made once: the same key and body until an answer decides. */
export type Wish = { key: string; till: Till; amount: string }
export type Acknowledged = Wish & { paymentId: string }

const Answer = v.object({ paymentId: v.optional(v.string()), error: v.optional(v.object({ code: v.string(), message: v.string() })) })
const PATIENCE_MS = 20_000
const PAUSE_MS = 50

/** A client that asks any process that is there, and asks again what nobody has answered, until it is told the payment. */
export async function askUntilAnswered({ key }: Pick<Stage, 'key'>, wish: Wish, target: () => string | undefined, prefer: string): Promise<Acknowledged> {
  for (;;) {
    const url = target()
    const paymentId = url && (await askOnce(url, { apiKey: key, prefer, wish }))
    if (paymentId) return { ...wish, paymentId }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

async function askOnce(url: string, { apiKey, prefer, wish }: { apiKey: string; prefer: string; wish: Wish }): Promise<string | undefined> {
  const { key, till, amount } = wish
  let text: string
  let status: number
  try {
    const response = await fetch(`${url}/payment/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'idempotency-key': key, prefer },
      body: `{"walletAddress":"${till.address}","recipientAddress":"${till.payee}","amount":${amount}}`,
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    status = response.status
    text = await response.text()
  } catch {
    // The process died over it, or could not be reached: nothing is known.
    return undefined
  }
  const { paymentId, error } = v.parse(Answer, JSON.parse(text))
  if (status === 200 || status === 202) return paymentId
  // Only what a client may repeat is expected here; everything else is a finding.
  if (status === 409 || status === 429 || status === 503) return undefined
  throw new Error(`The service answered ${status} ${error?.code}: ${error?.message}`)
}

export function newWish(tills: readonly Till[]): Wish {
  const till = tills[randomInt(tills.length)]
  if (!till) throw new Error('There are no wallets.')
  return { key: randomUUID(), till, amount: `0.00${randomInt(1_000, 10_000)}` }
}
