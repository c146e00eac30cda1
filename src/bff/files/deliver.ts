import { createId } from '../session/random.ts'
import type { OpenDelivery, ProxyContext } from '../context/context.ts'
import {
  isUndelivered,
  lostSendings,
  moveSending,
  noteDelivered,
  noteFailed,
  noteReported,
  noteSettled,
  noteUnsettled,
  startSending,
  UNSETTLED,
  type FileRow,
} from '../db/files.ts'
import type { HttpContext } from '../http/reply.ts'
import { ForwardedError } from '../upstream/problem.ts'
import type { OpenedSource } from './source.ts'

/** A type that a browser could run as a page of this origin is told as bytes. */
const ACTIVE_TYPE = /html|xml|script|svg/i

/**
 * For so long a request alone may send the file for the proof of a payment. It is extended while the
 * download runs; a process that crashes keeps the next request from the file for no longer.
 */
const SENDING_MS = 120_000
/** How often it is extended. */
export const EXTEND_EVERY_MS = 30_000

/** The right of one request to send the file for the proof of a payment. */
export class FileSending {
  readonly #context: ProxyContext
  readonly #paymentId: string
  #until: Date
  #released = false
  #moving: Promise<unknown> = Promise.resolve()

  constructor(context: ProxyContext, { paymentId, until }: { paymentId: string; until: Date }) {
    this.#context = context
    this.#paymentId = paymentId
    this.#until = until
  }

  /** Undefined where another request sends the file, or did. */
  static async begin(context: ProxyContext, paymentId: string): Promise<FileSending | undefined> {
    const now = context.now()
    const until = new Date(now.getTime() + SENDING_MS)
    const begun = await startSending(context.db, paymentId, { now, until })
    return begun ? new FileSending(context, { paymentId, until }) : undefined
  }

  /** @returns false where another request may have begun: this one may send nothing more. Never rejects. */
  async extend(): Promise<boolean> {
    const { log, now } = this.#context
    try {
      return await this.#move(() =>
        this.#released ? undefined : new Date(now().getTime() + SENDING_MS),
      )
    } catch (error) {
      log.warn(
        { err: error, paymentId: this.#paymentId },
        'the right to send a file was not extended',
      )
      return now() < this.#until
    }
  }

  /**
   * Lets the next request begin. Until it is settled, a process that looks for lost deliveries finds it.
   * @returns false where another request has begun
   */
  release(): Promise<boolean> {
    this.#released = true
    return this.#move(() => UNSETTLED)
  }

  /** One after the other: each begins where the last one ended. */
  #move(timeOf: () => Date | undefined): Promise<boolean> {
    const move = async () => {
      const to = timeOf()
      if (!to) return true
      const from = this.#until
      if (!(await moveSending(this.#context.db, this.#paymentId, { from, to }))) return false
      this.#until = to
      return true
    }
    const moved = this.#moving.then(move)
    this.#moving = moved.catch(() => undefined)
    return moved
  }
}

/** Extends the rights to send of the downloads that run, and cuts off those that have lost theirs. */
export async function extendSendings({ deliveries }: ProxyContext): Promise<void> {
  for (const delivery of deliveries) await delivery.extend()
}

/**
 * Sends what was opened, and notes whether its reader got it to the last byte. Nothing keeps it, and
 * no browser opens it as a page of this origin.
 */
export function deliver(
  c: HttpContext,
  context: ProxyContext,
  {
    file,
    opened,
    paymentId,
    sending,
    spend,
  }: { file: FileRow; opened: OpenedSource } & Pick<Outcome, 'paymentId' | 'sending' | 'spend'>,
): Response {
  const requestId = c.get('requestId')
  const { range, length, body } = opened
  c.header('Content-Type', ACTIVE_TYPE.test(file.mimeType) ? BYTES : file.mimeType)
  c.header('Content-Disposition', dispositionOf(file.fileName))
  c.header('Cache-Control', 'no-store, no-transform')
  if (file.ranges) c.header('Accept-Ranges', 'bytes')
  if (length !== null) c.header('Content-Length', String(length))
  if (range) c.header('Content-Range', `bytes ${range.start}-${range.end}/${range.total ?? '*'}`)
  const { outgoing } = c.env
  let [whole, failed] = [false, false]
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await body.next()
          if (!done) return controller.enqueue(value)
          whole = true
          controller.close()
        } catch (error) {
          context.log.warn({ err: error, requestId, fileId: file.id }, 'a source was cut off')
          failed = true
          // The reader must not take what it has for the whole file.
          outgoing.destroy()
        }
      },
      async cancel() {
        await body.return()
      },
    },
    { highWaterMark: 0 },
  )
  const settle = async () => {
    // The reader may have left while the payment was settled.
    if (!outgoing.destroyed) await new Promise((resolve) => outgoing.once('close', resolve))
    opened.close()
    // Everything was read, and all of it handed to the reader's connection.
    const delivered = whole && outgoing.writableFinished
    await settleDelivery(context, { paymentId, requestId, delivered, failed, sending, spend })
    context.deliveries.delete(delivery)
  }
  const extend = async () => {
    // Its reader must not take what it has for the whole file.
    if (sending && !(await sending.extend())) outgoing.destroy()
  }
  const delivery: OpenDelivery = { extend, settled: settle() }
  context.deliveries.add(delivery)
  return c.body(stream, range ? 206 : 200)
}

const BYTES = 'application/octet-stream'

/** RFC 6266: a name in ASCII for every reader, and the real one for those that know it. */
function dispositionOf(fileName: string): string {
  const ascii = fileName.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const exact = encodeURIComponent(fileName).replace(
    /['()*!]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${exact}`
}

/**
 * `failed`: the source gave no file, or not all of it. `sending`: the right that ends with it; none
 * where a ticket was used. `spend`: charges who used it.
 */
type Outcome = {
  paymentId: string
  requestId: string
  delivered: boolean
  failed: boolean
  sending?: FileSending | undefined
  spend?: (() => void) | undefined
}

/**
 * Notes what became of a delivery. What was paid and not delivered is in the merchant's inbox, with
 * the payments whose caller was not told, and leaves it when it is delivered.
 */
export async function settleDelivery(
  context: ProxyContext,
  { paymentId, requestId, delivered, failed, sending, spend }: Outcome,
): Promise<void> {
  await orLogged(context, { paymentId, requestId }, async () => {
    if (!delivered) {
      // First: the next request waits neither for the service nor for a process that ends meanwhile.
      // Where that one has begun already, what becomes of it is what counts.
      if (sending && !(await sending.release())) return
      if (failed) await noteFailed(context.db, paymentId, context.now())
      const again = sending !== undefined
      return reportUndelivered(context, { paymentId, requestId, spend }, { again })
    }
    const delivery = { at: context.now(), byTicket: sending === undefined }
    if (await noteDelivered(context.db, paymentId, delivery))
      await reportDelivered(context, { paymentId, requestId })
  })
}

/** One delivery that cannot be recorded keeps nothing else back. */
async function orLogged(
  { log }: ProxyContext,
  { paymentId, requestId }: Reported,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    log.warn({ err: error, paymentId, requestId }, 'a delivery was not recorded')
  }
}

type Reported = Pick<Outcome, 'paymentId' | 'requestId' | 'spend'>

/**
 * Tells the service of a payment of which nothing was delivered. Where its proof was presented, each
 * time, since the service takes it from the list then; `again: false`: once.
 * @throws where the service does not answer or may not be asked; housekeeping tells it later
 */
async function reportUndelivered(
  context: ProxyContext,
  payment: Reported,
  when: { again: boolean },
): Promise<void> {
  const { paymentId } = payment
  if (!(await isUndelivered(context.db, paymentId, when))) return
  await noteUnsettled(context.db, paymentId)
  try {
    const isNoted = await notifyService(context, 'undeliveredReopen', payment)
    // The next request may have got the file before the service was told that this one did not.
    if (isNoted && !(await noteReported(context.db, paymentId, context.now())))
      await notifyService(context, 'undeliveredClose', payment)
  } catch (error) {
    // The service may have noted it all the same, and another request may have settled its own delivery by now.
    await noteUnsettled(context.db, paymentId)
    throw error
  }
  await noteSettled(context.db, paymentId)
}

/**
 * Takes a delivered payment from the service's list of undelivered ones.
 * @throws where the service does not answer; housekeeping tells it later
 */
async function reportDelivered(context: ProxyContext, payment: Reported): Promise<void> {
  await notifyService(context, 'undeliveredClose', payment)
  await noteSettled(context.db, payment.paymentId)
}

/**
 * False where the service has nothing to note: the payment was made by a link, or is open already.
 * @throws what else went wrong
 */
async function notifyService(
  { upstream }: ProxyContext,
  name: 'undeliveredReopen' | 'undeliveredClose',
  { paymentId, requestId, spend = () => {} }: Reported,
): Promise<boolean> {
  const body = {
    note: name === 'undeliveredReopen' ? 'The file was not delivered.' : 'The file was downloaded.',
  }
  try {
    await upstream.write(name, { params: { paymentId }, body, requestId }, spend)
    return true
  } catch (error) {
    if (error instanceof ForwardedError && error.code === 'NOT_FOUND') return false
    throw error
  }
}

/** What a process was sending when it ended, and what the service was not told of. */
export async function settleLostDeliveries(context: ProxyContext): Promise<void> {
  const most = 100
  for (const lost of await lostSendings(context.db, context.now(), most)) {
    const payment = { paymentId: lost.paymentId, requestId: createId('req') }
    if (lost.delivered) await orLogged(context, payment, () => reportDelivered(context, payment))
    else
      await settleDelivery(context, {
        ...payment,
        delivered: false,
        failed: false,
        sending: new FileSending(context, lost),
      })
  }
}
