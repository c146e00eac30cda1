import { setTimeout as delay } from 'node:timers/promises'
import * as v from 'valibot'
import type { EndpointResponse } from '#contract/endpoints.ts'
import { endpoints } from '#contract/endpoints.ts'
import { PaymentEvent } from '#contract/event.ts'
import { parseJson } from '#contract/json.ts'
import type { MailKind } from '#contract/mail-endpoints.ts'
import { UNSUBSCRIBE_PATH } from '#contract/mail-endpoints.ts'
import { createId } from '#contract/payment.ts'
import type { Database } from '#postgres/open.ts'
import type { MailConfig } from '../config/mail-config.ts'
import type { ProxyContext } from '../context/context.ts'
import {
  composeMessages,
  findItems,
  findMailAddress,
  findRecipients,
  forgetPosition,
  hashAddress,
  insertItems,
  takeMessage,
  takeTurn,
  writeMailAttempt,
  writeNews,
  type MailAddressRow,
  type MailMessageRow,
  type MailNews,
  type MailPace,
} from '../db/mail.ts'
import { roleOf } from '../session/open-session.ts'
import { MOST_LISTED, renderMail, type MailSubject } from './render.ts'
import { MailTransport, type OutgoingMail } from './transport.ts'

const PACE: MailPace = { singles: 5, intervalMs: 10 * 60_000 }
const EVENTS_EVERY_MS = 10_000
const LISTS_EVERY_MS = 60_000
const STOP_WITHIN_MS = 2_000
/** Of the plan's minute: pages come first. */
const RESERVE = 0.4
/** A settlement is answered within this long: until then its payment is not called undelivered. */
const UNDELIVERED_MS = 2 * 60_000
const LIST_LIMIT = '100'
/** With waits of 1 minute, doubled to 1 hour at most, a message is given up after a day. */
const MOST_ATTEMPTS = 29
const FIRST_WAIT_MS = 60_000
const LONGEST_WAIT_MS = 3_600_000
/** Events that are written in one commit. */
const PAGE = 500
/** Of one round, so that events are read in between. */
const MOST_AT_ONCE = 100

const LIST_KINDS: readonly MailKind[] = [
  'unmatched',
  'undelivered',
  'refund_request',
  'webhook_dead',
]

type Event = Pick<
  EndpointResponse<'eventList'>['events'][number],
  | 'type'
  | 'paymentId'
  | 'status'
  | 'direction'
  | 'refundOf'
  | 'amount'
  | 'symbol'
  | 'network'
  | 'sender'
>

/**
 * Sends e-mails to people of the account: reads the service's events and lists, writes who is to be
 * sent what, makes messages of it, and sends them. Every process does; rows decide who of them.
 */
export class Mailer {
  readonly #context: ProxyContext
  readonly #config: MailConfig
  readonly #transport: MailTransport
  readonly #everyMs: number
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #stopped = false

  constructor(context: ProxyContext, config: MailConfig, everyMs = EVENTS_EVERY_MS) {
    this.#context = context
    this.#config = config
    this.#transport = new MailTransport(config)
    this.#everyMs = everyMs
  }

  start(): void {
    this.#timer = setInterval(() => void this.#run(), this.#everyMs)
  }

  /** Waits a moment for the message that is being sent: a process that ends before its answer leaves it to another attempt. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    await Promise.race([this.#running, delay(STOP_WITHIN_MS, undefined, { ref: false })])
    this.#transport.close()
  }

  #run(): Promise<void> {
    this.#running ??= this.#round()
      .catch((error: unknown) =>
        this.#context.log.warn({ err: error }, 'e-mails could not be worked off'),
      )
      .finally(() => (this.#running = undefined))
    return this.#running
  }

  async #round(): Promise<void> {
    const { db, now } = this.#context
    const recipients = await this.#recipients(db)
    // What can be read is read, and what is due is sent, also where the other one fails.
    const read = await this.#read(recipients).then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    await composeMessages(db, { now: now(), pace: PACE })
    for (let sent = 0; sent < MOST_AT_ONCE && !this.#stopped; sent++)
      if (!(await this.#sendNext())) break
    if (read) throw read.error
  }

  /** Those who still have a role. */
  async #recipients(db: Database): Promise<MailAddressRow[]> {
    const { config } = this.#context
    const rows = await findRecipients(db)
    const roles = await Promise.all(rows.map(({ wallet }) => roleOf({ config, db }, wallet)))
    return rows.filter((_, index) => roles[index] !== null)
  }

  async #read(recipients: readonly MailAddressRow[]): Promise<void> {
    const { budgets, db, now } = this.#context
    // Who confirms an address later is sent what happens from then on.
    if (recipients.length === 0)
      return forgetPosition(db, async (tx) => (await this.#recipients(tx)).length > 0)
    if (budgets.quota.waitFor(RESERVE, now().getTime()) > 0) return
    // Less than a round, so that a process that is alone has a turn in each.
    const turn = await takeTurn(db, 'events', { now: now(), everyMs: this.#everyMs / 2 })
    if (!turn) return
    await this.#readEvents(turn.position)
    const kinds = new Set(recipients.flatMap((row) => row.kinds))
    if (!LIST_KINDS.some((kind) => kinds.has(kind))) return
    if (!(await takeTurn(db, 'lists', { now: now(), everyMs: LISTS_EVERY_MS }))) return
    await insertItems(db, await this.#readLists(kinds), now())
  }

  async #readEvents(position: bigint | null): Promise<void> {
    const { db, hub, now } = this.#context
    const last = hub.ring?.last
    if (last === undefined) return
    // Without a position, or with one of a history that the service no longer has.
    if (position === null || position > last) {
      await writeNews(db, [], { from: position, to: last, now: now() })
      return
    }
    let from = position
    while (from < last && !this.#stopped) {
      const page = this.#readRing(from) ?? (await this.#readPage(from))
      if (page.to <= from) return
      if (!(await writeNews(db, page.news, { from, to: page.to, now: now() }))) return
      from = page.to
    }
  }

  /** What the hub has already: most events cost the service nothing more. */
  #readRing(from: bigint): { news: MailNews[]; to: bigint } | undefined {
    const { ring } = this.#context.hub
    if (!ring || from < ring.start) return undefined
    const news: MailNews[] = []
    let to = from
    for (let read = 0; read < PAGE; read++) {
      const event = ring.after(to)
      if (!event) break
      to = event.id
      const parsed = v.safeParse(PaymentEvent, parseJson(event.json))
      if (parsed.success) news.push(...toNews(parsed.output))
    }
    return { news, to }
  }

  async #readPage(from: bigint): Promise<{ news: MailNews[]; to: bigint }> {
    const { events, next } = await this.#context.upstream.requestOwn(endpoints.eventList, {
      query: { after: String(from) },
      requestId: createId('req'),
    })
    return { news: events.flatMap(toNews), to: BigInt(next) }
  }

  /** What is in a list and in no event. */
  async #readLists(kinds: ReadonlySet<MailKind>): Promise<MailNews[]> {
    const { upstream, now } = this.#context
    const requestId = createId('req')
    const query = { limit: LIST_LIMIT }
    const news: MailNews[] = []
    if (kinds.has('unmatched')) {
      const { transfers } = await upstream.requestOwn(endpoints.unmatchedList, { query, requestId })
      for (const { transferId, assigned, refundedBy, timestamp, ...transfer } of transfers)
        if (assigned === null && refundedBy === null)
          news.push({
            key: `unmatched:${transferId}`,
            kind: 'unmatched',
            facts: factsOf(transfer),
            at: new Date(timestamp),
          })
    }
    if (kinds.has('undelivered')) {
      const { payments } = await upstream.requestOwn(endpoints.undeliveredList, {
        query,
        requestId,
      })
      for (const { timestamp, ...payment } of payments)
        if (timestamp <= now().getTime() - UNDELIVERED_MS)
          news.push({
            key: `undelivered:${payment.paymentId}`,
            kind: 'undelivered',
            facts: factsOf(payment),
            at: new Date(timestamp),
          })
    }
    if (kinds.has('refund_request')) {
      const { requests } = await upstream.requestOwn(endpoints.refundRequestList, {
        query,
        requestId,
      })
      for (const { requestId: id, state, payer, timestamp, ...request } of requests)
        if (state === 'open')
          news.push({
            key: `refund_request:${id}`,
            kind: 'refund_request',
            facts: factsOf({ ...request, sender: payer }),
            at: new Date(timestamp),
          })
    }
    if (kinds.has('webhook_dead')) {
      const { webhooks } = await upstream.requestOwn(endpoints.webhookList, { requestId })
      for (const { id } of webhooks.filter(({ dead }) => dead > 0)) {
        const { deliveries } = await upstream.requestOwn(endpoints.webhookDeliveries, {
          params: { id },
          query: { ...query, state: 'dead' },
          requestId,
        })
        for (const delivery of deliveries)
          news.push({
            key: `webhook_dead:${id}:${delivery.id}`,
            kind: 'webhook_dead',
            facts: {},
            at: new Date(delivery.lastAttemptAt ?? delivery.createdAt),
          })
      }
    }
    return news
  }

  /** @returns whether there was one */
  async #sendNext(): Promise<boolean> {
    const { db, log, now } = this.#context
    const message = await takeMessage(db, { now: now(), waitMs })
    if (!message) return false
    const outgoing = await this.#render(message)
    if (!outgoing) {
      await writeMailAttempt(db, message.id, { state: 'dropped' })
      return true
    }
    const result = await this.#transport.send(outgoing)
    if (result.ok) {
      await writeMailAttempt(db, message.id, { state: 'sent', failure: null })
      return true
    }
    const { kind, failure } = result
    const dead = kind === 'refused' || message.attempts >= MOST_ATTEMPTS
    log.warn({ messageId: message.id, failure, dead }, 'an e-mail was not accepted')
    await writeMailAttempt(db, message.id, { state: dead ? 'dead' : 'pending', failure })
    // A server that is not there is not there for the next message either.
    return kind === 'refused'
  }

  /** @returns undefined for what may not be sent any more */
  async #render(message: MailMessageRow): Promise<OutgoingMail | undefined> {
    const { dashboardUrl, publicUrl } = this.#config
    if ((await roleOf(this.#context, message.wallet)) === null) return undefined
    if (message.earlier) {
      const { address: to, language } = message.earlier
      return { id: message.id, to, ...renderMail({ language, dashboardUrl, moved: true }) }
    }
    const person = await findMailAddress(this.#context.db, message.wallet)
    if (!person || hashAddress(person.address) !== message.addressHash) return undefined
    const { address: to, language, unsubscribeToken } = person
    const unsubscribeUrl = `${publicUrl}${UNSUBSCRIBE_PATH.replace(':token', unsubscribeToken)}`
    const content = await this.#contentOf(message, person)
    if (!content) return undefined
    const words = renderMail({ language, dashboardUrl, unsubscribeUrl, ...content })
    return { id: message.id, to, ...words, ...(!('code' in content) && { unsubscribeUrl }) }
  }

  async #contentOf(
    message: MailMessageRow,
    person: MailAddressRow,
  ): Promise<MailSubject | undefined> {
    const { config, db, now } = this.#context
    if (message.kind === 'code') {
      const { code, codeExpiresAt } = person
      return code === null || !codeExpiresAt || codeExpiresAt <= now() ? undefined : { code }
    }
    if (person.confirmedAt === null || person.kinds.length === 0) return undefined
    const found = await findItems(db, message.id, MOST_LISTED)
    if (found.total === 0) return undefined
    const nameOf = (id: string | undefined) =>
      config.networks.find(({ network }) => network === id)?.name ?? id
    return {
      total: found.total,
      items: found.items.map(({ kind, facts }) => ({
        kind,
        facts: { ...facts, network: nameOf(facts.network) },
      })),
    }
  }
}

function waitMs(attempts: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** (attempts - 1), LONGEST_WAIT_MS)
}

/** What of an event people may be sent. */
function toNews(event: Event): MailNews[] {
  const { type, paymentId, status, direction, refundOf } = event
  if (type !== 'payment') return []
  const facts = factsOf(event)
  if (refundOf !== null)
    return status === 'failed'
      ? [{ key: `refund_failed:${paymentId}`, kind: 'refund_failed', facts }]
      : []
  if (direction !== 'received' || (status !== 'confirmed' && status !== 'finalized')) return []
  const kind = status === 'confirmed' ? 'payment_confirmed' : 'payment_finalized'
  return [{ key: `${kind}:${paymentId}`, kind, facts }]
}

function factsOf(money: {
  paymentId?: string
  amount: string
  symbol: string
  network: string
  sender?: string
}): MailNews['facts'] {
  const { paymentId, amount, symbol, network, sender } = money
  return {
    ...(paymentId !== undefined && { paymentId }),
    amount,
    symbol,
    network,
    ...(sender !== undefined && { sender }),
  }
}
