import { useEffect, useState } from 'react'
import { serverNow } from '../api/clock.ts'
import type { Journal, JournalEntry } from './journal.ts'

const EVERY_MS = 10_000

/** Opened once: every opening is a connection to the browser's store. */
let journals: { payments: Journal; settlements: Journal } | undefined

/** What was begun in this browser and whose outcome is open, newest first: payments, and settlements of proofs. Where the browser keeps nothing there is none. */
export function useUnfinished(): readonly JournalEntry[] {
  const [entries, setEntries] = useState<readonly JournalEntry[]>([])
  useEffect(() => {
    let gone = false
    async function read() {
      const [{ isOutstanding, openJournal, SETTLEMENTS }, { isPaid }] = await Promise.all([
        import('./journal.ts'),
        import('./machine.ts'),
      ])
      journals ??= { payments: openJournal(), settlements: openJournal(SETTLEMENTS) }
      const [payments, settlements] = await Promise.all([
        journals.payments.listOpen(),
        journals.settlements.listOpen(),
      ])
      const begun = payments.filter(({ state }) => isOutstanding(state, serverNow()))
      // A settlement is somebody's money from its first step on: what a payer signed is good for a limited time.
      if (!gone) setEntries([...begun, ...settlements].filter(({ state }) => !isPaid(state)))
    }
    const look = () => void read().catch(() => undefined)
    look()
    const timer = setInterval(look, EVERY_MS)
    return () => {
      gone = true
      clearInterval(timer)
    }
  }, [])
  return entries
}
