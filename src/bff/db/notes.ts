import { and, eq, inArray, sql } from 'drizzle-orm'
import { MOST_LABELS } from '#contract/browser-endpoints.ts'
import type { Database } from '#postgres/open.ts'
import { paymentNote } from './schema.ts'

export type NoteRow = typeof paymentNote.$inferSelect

export type NoteChange = {
  addLabels?: readonly string[] | undefined
  removeLabels?: readonly string[] | undefined
  note?: string | undefined
  reconciled?: boolean | undefined
}

/** `owners`: several where a session holds several wallets. */
export async function findNotes(
  db: Database,
  owners: readonly string[],
  paymentIds: readonly string[],
): Promise<NoteRow[]> {
  return db
    .select()
    .from(paymentNote)
    .where(
      and(inArray(paymentNote.owner, [...owners]), inArray(paymentNote.paymentId, [...paymentIds])),
    )
}

/** One row each; payments in the order of their ids, so that two writers wait for each other in the same order. */
export async function changeNotes(
  db: Database,
  places: readonly { owner: string; paymentId: string }[],
  change: NoteChange & { by: string; at: Date },
): Promise<NoteRow[]> {
  return db.transaction(async (tx) => {
    const written: NoteRow[] = []
    for (const { owner, paymentId } of places.toSorted((a, b) =>
      a.paymentId < b.paymentId ? -1 : 1,
    )) {
      await tx
        .insert(paymentNote)
        .values({
          owner,
          paymentId,
          labels: [],
          note: '',
          updatedBy: change.by,
          updatedAt: change.at,
        })
        .onConflictDoNothing()
      const [row] = await tx
        .select()
        .from(paymentNote)
        .where(and(eq(paymentNote.owner, owner), eq(paymentNote.paymentId, paymentId)))
        .for('update')
      if (!row) continue
      const next = changed(row, change)
      await tx
        .update(paymentNote)
        .set(next)
        .where(and(eq(paymentNote.owner, owner), eq(paymentNote.paymentId, paymentId)))
      written.push({ ...row, ...next })
    }
    return written
  })
}

function changed(
  row: NoteRow,
  {
    addLabels = [],
    removeLabels = [],
    note,
    reconciled,
    by,
    at,
  }: NoteChange & { by: string; at: Date },
): Omit<NoteRow, 'owner' | 'paymentId'> {
  const remaining = row.labels.filter((label) => !removeLabels.includes(label))
  return {
    labels: [...new Set([...remaining, ...addLabels])].slice(0, MOST_LABELS),
    note: note ?? row.note,
    reconciledAt:
      reconciled === undefined ? row.reconciledAt : reconciled ? (row.reconciledAt ?? at) : null,
    updatedBy: by,
    updatedAt: at,
  }
}

export async function countLabels(
  db: Database,
  owners: readonly string[],
): Promise<{ label: string; payments: number }[]> {
  const label = sql<string>`unnest(${paymentNote.labels})`.as('label')
  const used = db
    .select({ label })
    .from(paymentNote)
    .where(inArray(paymentNote.owner, [...owners]))
    .as('used')
  return db
    .select({ label: used.label, payments: sql<number>`count(*)::int` })
    .from(used)
    .groupBy(used.label)
    .orderBy(sql`2 desc`, used.label)
    .limit(100)
}
