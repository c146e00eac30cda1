import type { ProxyContext } from './context/context.ts'
import { deleteUnpaidContacts } from './db/contacts.ts'
import { deleteExpiredTickets, deleteOldPresenters } from './db/files.ts'
import { deleteExpiredIntents } from './db/hosted.ts'
import { deleteLeftAddresses, deleteOldMail } from './db/mail.ts'
import { deleteExpiredInvitations } from './db/people.ts'
import { deleteExpiredChallenges, deleteExpiredSessions } from './db/sessions.ts'
import { settleLostDeliveries } from './files/deliver.ts'
import { refreshAbandoned, refreshAllSurplus, refreshOldContacts } from './links/refresh.ts'

export const HOUSEKEEPING_EVERY_MS = 10 * 60_000

type Sweep = (context: ProxyContext) => Promise<unknown>

/** What is past its time, by its name in the log. */
const SWEEPS: Readonly<Record<string, Sweep>> = {
  'sign-in challenges': ({ db, now }) => deleteExpiredChallenges(db, now()),
  invitations: ({ db, now }) => deleteExpiredInvitations(db, now()),
  sessions: ({ db, now }) => deleteExpiredSessions(db, now()),
  'unsigned payments of operators': ({ db, now }) => deleteExpiredIntents(db, now()),
  'download addresses': ({ db, now }) => deleteExpiredTickets(db, now()),
  'who presented a payment first': ({ db, now }) => deleteOldPresenters(db, now()),
  'lost deliveries of files': settleLostDeliveries,
  'e-mails that were sent': ({ db, now }) => deleteOldMail(db, now()),
  'e-mail addresses of people without a role': ({ db, now, config }) =>
    deleteLeftAddresses(db, { owners: config.operatorWallets, now: now() }),
  // Last: they ask the service, which may not answer.
  'payments that are owed back': refreshAllSurplus,
  'orders that nobody signed': refreshAbandoned,
  'e-mail addresses of unpaid orders': async (context) => {
    await refreshOldContacts(context)
    await deleteUnpaidContacts(context.db, context.now())
  },
}

/** Removes what is past its time. What fails is logged and tried again the next time; the rest is removed all the same. */
export async function sweep(context: ProxyContext): Promise<void> {
  for (const [what, remove] of Object.entries(SWEEPS))
    try {
      await remove(context)
    } catch (error) {
      context.log.warn({ err: error, what }, 'housekeeping failed')
    }
}
