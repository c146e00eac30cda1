import { EVENT_KINDS } from '#contract/event.ts'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import type { Actor, Context } from '../context/context.ts'
import { readPaymentBodies } from '../payments/status.ts'
import { readEvents } from './read.ts'
import { toMessages } from './to-message.ts'

/** The events of an account after one: what a receiver that missed some asks for. As many queries as for one event. */
export async function listEvents(
  context: Context,
  { accountId }: Actor,
  { after }: EndpointInput<'eventList'>['query'],
): Promise<EndpointReply<'eventList'>> {
  const filter = { accountId, kinds: EVENT_KINDS, wallets: [] }
  const rows = await readEvents(context.db, filter, BigInt(after))
  const ids = new Set(rows.map(({ paymentId }) => paymentId))
  const events = await toMessages(context.db, rows, await readPaymentBodies(context, [...ids]))
  return { success: true, events, next: String(rows.at(-1)?.number ?? BigInt(after)) }
}
