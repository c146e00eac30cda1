import { createHash, randomInt } from 'node:crypto'
import type { Hono } from 'hono'
import { html, raw } from 'hono/html'
import { UNSUBSCRIBE_PATH, type MailSettings } from '#contract/mail-endpoints.ts'
import { ProblemError } from '#contract/problem.ts'
import { clientAddress } from '#http/connections.ts'
import type { ProxyContext } from '../context/context.ts'
import {
  confirmMailAddress,
  deleteMailAddress,
  findByUnsubscribeToken,
  findFailure,
  findMailAddress,
  startPosition,
  unsubscribe,
  writeMailAddress,
  type MailAddressRow,
} from '../db/mail.ts'
import type { HonoEnv, HttpContext } from '../http/reply.ts'
import { translate } from '../mail/catalogs.ts'
import { UNSUBSCRIBE_WORDS } from '../mail/render.ts'
import { type OwnRule, requireRole } from '../session/rule.ts'
import { createCookieValue, isCookieValue } from '../session/random.ts'
import type { Visitor } from '../session/visitor.ts'

const CODE_MS = 3_600_000
/** Wrong digits for one code: of 10⁸ codes, so many guesses find one in 20 million. */
const MOST_ATTEMPTS = 5
/** Codes that a person, or an address, is sent in a day. */
const MOST_CODES = 5
const DAY_MS = 24 * 3_600_000

/**
 * Where a person is sent e-mails. It is their own affair: nobody else reads or changes it, and it
 * gives no right.
 */

export const mailRead: OwnRule<'mailRead'> = async ({ context, visitor }) => ({
  value: await readSettings(context, personOf(visitor)),
})

export const mailWrite: OwnRule<'mailWrite'> = async ({ context, visitor, body }) => {
  const wallet = personOf(visitor)
  context.budgets.spendNote(visitor.address)
  if (!context.config.mail)
    throw new ProblemError('SERVICE_UNAVAILABLE', {
      message: 'This proxy sends no e-mails: its configuration has no SMTP_URL.',
    })
  const now = context.now()
  const known = await findMailAddress(context.db, wallet)
  const same = known?.address === body.address
  const confirmedAt = same ? (known?.confirmedAt ?? null) : null
  const sendCode = confirmedAt === null
  const row: MailAddressRow = {
    wallet,
    address: body.address,
    language: body.language,
    kinds: [...new Set(body.kinds)],
    code: sendCode ? String(randomInt(10 ** 8)).padStart(8, '0') : null,
    codeExpiresAt: sendCode ? new Date(now.getTime() + CODE_MS) : null,
    codeAttempts: 0,
    confirmedAt,
    // Who has an e-mail to another address cannot end those to this one.
    unsubscribeToken: same ? known.unsubscribeToken : createCookieValue(),
    updatedAt: now,
  }
  const since = new Date(now.getTime() - DAY_MS)
  if (!(await writeMailAddress(context.db, row, { sendCode, mostCodes: MOST_CODES, since })))
    throw new ProblemError('RATE_LIMIT', {
      message: `At most ${MOST_CODES} e-mails with a code are sent in a day.`,
      retryAfter: 3600,
    })
  if (confirmedAt !== null && row.kinds.length > 0) await startTelling(context)
  return { value: await readSettings(context, wallet) }
}

/** In the session of the person: who reads the mailbox of another person confirms nothing for them. */
export const mailConfirm: OwnRule<'mailConfirm'> = async ({ context, visitor, body }) => {
  const wallet = personOf(visitor)
  context.budgets.spendNote(visitor.address)
  const attempt = { wallet, code: body.code, now: context.now() }
  if (!(await confirmMailAddress(context.db, attempt, MOST_ATTEMPTS)))
    throw new ProblemError('INVALID_PARAMETERS', {
      details: { code: 'Expected the code of the newest e-mail, within an hour and 5 attempts.' },
    })
  await startTelling(context)
  return { value: await readSettings(context, wallet) }
}

/** Asked again, it has nothing to delete and says the same. */
export const mailDelete: OwnRule<'mailDelete'> = async ({ context, visitor }) => {
  const wallet = personOf(visitor)
  context.budgets.spendNote(visitor.address)
  await deleteMailAddress(context.db, wallet, context.config.mail ? context.now() : null)
  return { value: await readSettings(context, wallet) }
}

/** The first person is told what happens from now on, not from the next round on. */
async function startTelling({ db, hub }: ProxyContext): Promise<void> {
  const last = hub.ring?.last
  if (last !== undefined) await startPosition(db, last)
}

function personOf(visitor: Visitor): string {
  return requireRole(visitor, 'viewer').member.wallet
}

async function readSettings({ config, db }: ProxyContext, wallet: string): Promise<MailSettings> {
  const available = config.mail !== undefined
  const row = await findMailAddress(db, wallet)
  if (!row) return { available, settings: null }
  const { address, language, kinds, confirmedAt } = row
  const failedAt = (await findFailure(db, wallet))?.getTime() ?? null
  return {
    available,
    settings: { address, confirmed: confirmedAt !== null, language, kinds, failedAt },
  }
}

/**
 * The link in each e-mail. It works without a session and from anywhere, since mail programs call it
 * (RFC 8058): before the rules for pages. Reading it changes nothing, because programs that look
 * for malware open links.
 */
export function mountUnsubscribe(app: Hono<HonoEnv>, context: ProxyContext): void {
  const { title } = context.config
  app.get(UNSUBSCRIBE_PATH, async (c) => {
    const row = await findByUnsubscribeToken(context.db, readToken(c, context))
    if (!row) throw unknownLink()
    const { question, button } = UNSUBSCRIBE_WORDS
    const form = html`<form method="post">
      <button>${translate(row.language, button)}</button>
    </form>`
    return replyPage(
      c,
      { title, language: row.language },
      html`<p>${translate(row.language, question)}</p>
        ${form}`,
    )
  })
  app.post(UNSUBSCRIBE_PATH, async (c) => {
    const row = await unsubscribe(context.db, readToken(c, context))
    if (!row) throw unknownLink()
    return replyPage(
      c,
      { title, language: row.language },
      html`<p>${translate(row.language, UNSUBSCRIBE_WORDS.done)}</p>`,
    )
  })
}

function readToken(c: HttpContext, { budgets, config }: ProxyContext): string {
  c.set('route', 'mailUnsubscribe')
  budgets.spendLink(clientAddress(c.env.incoming, config.trustedProxyHops))
  const token = c.req.param('token')
  if (!isCookieValue(token)) throw unknownLink()
  return token
}

const PAGE_STYLE = `
  :root { color-scheme: light dark; font: 1.125rem/1.5 system-ui, sans-serif }
  body { display: grid; place-content: center; gap: 1rem; min-height: 90vh; margin: 0; padding: 1rem; text-align: center }
  p { margin: 0 }
  button { min-height: 2.75rem; padding: 0 1.25rem; font: inherit }
`
const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  'sandbox allow-forms',
].join('; ')

function replyPage(
  c: HttpContext,
  { title, language }: { title: string; language: string },
  content: ReturnType<typeof html>,
): Response | Promise<Response> {
  c.header('Content-Security-Policy', PAGE_POLICY)
  return c.html(
    html`<!doctype html>
      <html lang="${language}">
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title}</title>
        ${raw(`<style>${PAGE_STYLE}</style>`)} ${content}
      </html>`,
  )
}

function unknownLink(): ProblemError {
  return new ProblemError('NOT_FOUND', { message: 'This link belongs to no e-mail address.' })
}
