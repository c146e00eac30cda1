import type { Hono } from 'hono'
import { DOWNLOAD_PATH, FILE_PATH } from '#contract/file-endpoints.ts'
import { isLinkCode } from '#contract/payment-link.ts'
import { ProblemError } from '#contract/problem.ts'
import type { ProxyContext } from '../context/context.ts'
import { findFileByCode, takeTicket } from '../db/files.ts'
import { deliver, settleDelivery } from '../files/deliver.ts'
import { sell } from '../files/sell.ts'
import { openSource, readRange, SourceError } from '../files/source.ts'
import type { HonoEnv, HttpContext } from '../http/env.ts'
import { hashCookieValue, isCookieValue } from '../session/random.ts'
import { readVisitor } from '../session/visitor.ts'

/** What a program on a page of any origin may send, and read. The official client sends the last one. */
const ASKED = 'x-payment, payment-signature, range, access-control-expose-headers'
const TOLD =
  'PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, Retry-After, Content-Disposition, Content-Range, Accept-Ranges'

/**
 * The public addresses of files. No cookie counts here: a file is for who sends its payment, and a
 * download for who has its ticket.
 */
export function mountFiles(app: Hono<HonoEnv>, context: ProxyContext): void {
  if (!context.config.files) return
  app.options(FILE_PATH, (c) => {
    allowAnyOrigin(c)
    c.header('Access-Control-Allow-Methods', 'GET, HEAD, OPTIONS')
    c.header('Access-Control-Allow-Headers', ASKED)
    c.header('Access-Control-Max-Age', '600')
    return c.body(null, 204)
  })
  app.get(FILE_PATH, async (c) => {
    c.set('route', 'file')
    allowAnyOrigin(c)
    // A cookie of a page on another origin is not sent, and one that is sent counts for nothing.
    const visitor = { ...(await readVisitor(context, c)), session: undefined }
    context.budgets.spendLink(visitor.address)
    const code = c.req.param('code')
    const file = isLinkCode(code) ? await findFileByCode(context.db, code) : undefined
    if (!file) throw new ProblemError('NOT_FOUND', { message: 'There is no such file.' })
    return isPerson(c)
      ? c.redirect(`${file.page}/${file.code}`, 303)
      : sell({ c, context, file, visitor })
  })
  app.get(DOWNLOAD_PATH, async (c) => {
    c.set('route', 'download')
    // A program that looks a link up before a person opens it must not use it up.
    if (c.req.method !== 'GET') throw new ProblemError('METHOD_NOT_ALLOWED')
    const ticket = c.req.param('ticket')
    const taken = isCookieValue(ticket)
      ? await takeTicket(context.db, hashCookieValue(ticket), context.now())
      : undefined
    if (!taken)
      throw new ProblemError('NOT_FOUND', {
        message: 'This download address was used, or has expired. Choose Download again.',
      })
    return download(c, context, taken)
  })
}

async function download(
  c: HttpContext,
  context: ProxyContext,
  { file, paymentId }: NonNullable<Awaited<ReturnType<typeof takeTicket>>>,
): Promise<Response> {
  const range = readRange(c.req.header('range'), file.ranges ? file.size : null)
  if (range === 'unsatisfiable') {
    c.header('Content-Range', `bytes */${file.size ?? '*'}`)
    return c.json({ error: 'The file has no such part.' }, 416)
  }
  try {
    return deliver(c, context, { file, paymentId, opened: await openSource(context, file, range) })
  } catch (error) {
    const failed = error instanceof SourceError
    const requestId = c.get('requestId')
    await settleDelivery(context, { paymentId, requestId, delivered: false, failed })
    if (!failed) throw error
    context.log.warn({ err: error, fileId: file.id }, 'a source gives no file')
    throw new ProblemError('SERVICE_UNAVAILABLE', {
      message: 'The file cannot be read now. You keep it: try again later.',
      reason: 'source_unavailable',
      retryAfter: 5,
    })
  }
}

/** Nothing here depends on who asks. */
function allowAnyOrigin(c: HttpContext): void {
  c.header('Access-Control-Allow-Origin', '*')
  c.header('Access-Control-Allow-Credentials', undefined)
  c.header('Access-Control-Expose-Headers', TOLD)
  c.header('Cross-Origin-Resource-Policy', 'cross-origin')
}

/** A browser that opens the address, and brings no payment. */
function isPerson(c: HttpContext): boolean {
  const paid = c.req.header('payment-signature') ?? c.req.header('x-payment')
  return paid === undefined && (c.req.header('accept') ?? '').includes('text/html')
}
