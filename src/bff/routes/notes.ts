import { ProblemError } from '#contract/problem.ts'
import { findEmails } from '../db/contacts.ts'
import { changeNotes, countLabels, findNotes, type NoteRow } from '../db/notes.ts'
import type { OpenSession } from '../db/sessions.ts'
import { type OwnRule, may, notFound, requireWallet } from '../session/rule.ts'
import { readPayment } from './read-payment.ts'

/** All operators share one set of notes. */
const MERCHANT_OWNER = 'desk'
/** For other sessions each payment is read, to verify that it is theirs. */
const MOST_OF_A_WALLET = 20

export const noteRead: OwnRule<'noteRead'> = async ({ context, visitor, body }) => {
  const session = requireWallet(visitor)
  context.budgets.spendNote(visitor.address)
  const rows = await findNotes(context.db, ownersOf(session), body.paymentIds)
  // Personal data of payers is for operators alone.
  const emails = may(session, 'operator')
    ? await findEmails(context.db, body.paymentIds)
    : new Map<string, never>()
  return { value: { notes: withEmails(rows, emails) } }
}

export const noteLabels: OwnRule<'noteLabels'> = async ({ context, visitor }) => {
  const session = requireWallet(visitor)
  context.budgets.spendNote(visitor.address)
  return { value: { labels: await countLabels(context.db, ownersOf(session)) } }
}

export const noteWrite: OwnRule<'noteWrite'> = async ({ context, visitor, body, requestId }) => {
  const session = requireWallet(visitor)
  context.budgets.spendNote(visitor.address)
  const { paymentIds, ...change } = body
  const ids = [...new Set(paymentIds)]
  const places: { owner: string; paymentId: string }[] = []
  if (may(session, 'operator'))
    places.push(...ids.map((paymentId) => ({ owner: MERCHANT_OWNER, paymentId })))
  else {
    if (ids.length > MOST_OF_A_WALLET) {
      const message = `Expected at most ${MOST_OF_A_WALLET} payments: only operators can change more at once.`
      throw new ProblemError('INVALID_PARAMETERS', { details: { paymentIds: message } })
    }
    for (const paymentId of ids) {
      const { sender, recipient } = (
        await readPayment({ context, visitor, session, paymentId, requestId })
      ).parsed
      const owner = session.wallets.find((wallet) => wallet === recipient || wallet === sender)
      // This browser made the payment but proved none of its wallets: the note would have no owner.
      if (!owner) throw notFound()
      places.push({ owner, paymentId })
    }
  }
  const by = session.member?.wallet ?? session.wallets[0] ?? ''
  const rows = await changeNotes(context.db, places, { ...change, by, at: context.now() })
  const emails = may(session, 'operator')
    ? await findEmails(context.db, ids)
    : new Map<string, never>()
  return { value: { notes: withEmails(rows, emails) } }
}

type Emails = Awaited<ReturnType<typeof findEmails>>

/** A payment with an e-mail address and nothing written beside it has an empty note. */
function withEmails(rows: readonly NoteRow[], emails: Emails) {
  const noted = new Set(rows.map(({ paymentId }) => paymentId))
  const empty = { labels: [], note: '', reconciledAt: null }
  return [
    ...rows.map((row) => toNote(row, emails.get(row.paymentId)?.email)),
    ...[...emails].flatMap(([paymentId, { email, createdAt }]) =>
      noted.has(paymentId) ? [] : [toNote({ ...empty, paymentId, updatedAt: createdAt }, email)],
    ),
  ]
}

function ownersOf(session: OpenSession): string[] {
  return session.member ? [MERCHANT_OWNER] : session.wallets
}

function toNote(
  { paymentId, labels, note, reconciledAt, updatedAt }: Omit<NoteRow, 'owner' | 'updatedBy'>,
  email: string | undefined,
) {
  return {
    paymentId,
    labels,
    note,
    reconciledAt: reconciledAt?.getTime() ?? null,
    email: email ?? null,
    updatedAt: updatedAt.getTime(),
  }
}
