import { EVENT_KINDS } from '#contract/event.ts'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import type { Actor, Context } from '../context/context.ts'
import { readPaymentBody } from '../payments/status.ts'
import { readEvents } from './read.ts'
import { toMessage } from './to-message.ts'

/** The events of an account after one: what a receiver that missed some asks for. */
export async function listEvents(
  context: Context,
  { accountId }: Actor,
  { after }: EndpointInput<'eventList'>['query'],
): Promise<EndpointReply<'eventList'>> {
  const filter = { accountId, kinds: EVENT_KINDS, wallets: [] }
  const rows = await readEvents(context.db, filter, BigInt(after))
  const events = await Promise.all(
    rows.map((row) => toMessage(context.db, row, (id) => readPaymentBody(context, id))),
  )
  return { success: true, events, next: String(rows.at(-1)?.number ?? BigInt(after)) }
}
