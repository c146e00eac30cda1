import { createId } from '../session/random.ts'
import type { ProxyContext } from '../context/context.ts'
import {
  endSending,
  isUndelivered,
  lostSendings,
  noteDelivered,
  noteFailed,
  noteReported,
  type FileRow,
} from '../db/files.ts'
import type { HttpContext } from '../http/reply.ts'
import type { OpenedSource } from './source.ts'

/** A type that a browser could run as a page of this origin is told as bytes. */
const ACTIVE_TYPE = /html|xml|script|svg/i

/**
 * Sends what was opened, and notes whether its reader got it to the last byte. Nothing keeps it, and
 * no browser opens it as a page of this origin.
 */
export function deliver(
  c: HttpContext,
  context: ProxyContext,
  { file, opened, paymentId }: { file: FileRow; opened: OpenedSource; paymentId: string },
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
  const end = () => {
    opened.close()
    // Everything was read, and all of it handed to the reader's connection.
    const delivered = whole && outgoing.writableFinished
    void settleDelivery(context, { paymentId, requestId, delivered, failed })
  }
  // The reader may have left while the payment was settled.
  if (outgoing.destroyed) end()
  else outgoing.once('close', end)
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

/** `failed`: the source gave no file, or not all of it. */
type Outcome = { paymentId: string; requestId: string; delivered: boolean; failed: boolean }

/**
 * Notes what became of a delivery. What was paid and not delivered is in the merchant's inbox, with
 * the payments whose caller was not told, and leaves it when it is delivered.
 */
export async function settleDelivery(
  context: ProxyContext,
  { paymentId, requestId, delivered, failed }: Outcome,
): Promise<void> {
  try {
    if (!delivered) {
      if (failed) await noteFailed(context.db, paymentId, context.now())
      await reportUndelivered(context, { paymentId, requestId })
      return await endSending(context.db, paymentId)
    }
    const { reported } = await noteDelivered(context.db, paymentId, context.now())
    if (reported) await notifyService(context, 'undeliveredClose', { paymentId, requestId })
  } catch (error) {
    context.log.warn({ err: error, requestId, paymentId }, 'a delivery was not recorded')
  }
}

/**
 * Tells the service of a payment of which nothing was delivered: each time, since it takes the
 * payment from the list when its proof is presented again.
 */
export async function reportUndelivered(
  context: ProxyContext,
  { paymentId, requestId }: Pick<Outcome, 'paymentId' | 'requestId'>,
): Promise<void> {
  if (!(await isUndelivered(context.db, paymentId))) return
  if (await notifyService(context, 'undeliveredReopen', { paymentId, requestId }))
    await noteReported(context.db, paymentId, context.now())
}

/** False where the service has nothing to note: the payment was made by a link, or is open already. */
async function notifyService(
  { upstream, log }: ProxyContext,
  name: 'undeliveredReopen' | 'undeliveredClose',
  { paymentId, requestId }: { paymentId: string; requestId: string },
): Promise<boolean> {
  const body = {
    note: name === 'undeliveredReopen' ? 'The file was not delivered.' : 'The file was downloaded.',
  }
  try {
    await upstream.write(name, { params: { paymentId }, body, requestId }, () => undefined)
    return true
  } catch (error) {
    log.info({ err: error, requestId, paymentId }, 'the inbox was not changed')
    return false
  }
}

/** What a process was sending when it ended. */
export async function settleLostDeliveries(context: ProxyContext): Promise<void> {
  const most = 100
  for (const paymentId of await lostSendings(context.db, context.now(), most))
    await settleDelivery(context, {
      paymentId,
      requestId: createId('req'),
      delivered: false,
      failed: false,
    })
}
