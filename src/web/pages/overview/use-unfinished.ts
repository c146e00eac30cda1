import { useEffect, useState } from 'react'
import type { Journal, JournalEntry } from '../../payment/journal.ts'

const EVERY_MS = 10_000

/** Opened once: every opening is a connection to the browser's store. */
let journal: Journal | undefined

/** Payments begun in this browser whose outcome is open, newest first. Where the browser keeps nothing there are none. */
export function useUnfinished(): readonly JournalEntry[] {
  const [entries, setEntries] = useState<readonly JournalEntry[]>([])
  useEffect(() => {
    let gone = false
    async function read() {
      const [{ openJournal }, { isPaid, mayHaveLeft }] = await Promise.all([import('../../payment/journal.ts'), import('../../payment/machine.ts')])
      journal ??= openJournal()
      const open = await journal.listOpen()
      if (!gone) setEntries(open.filter(({ state }) => !isPaid(state) && (mayHaveLeft(state) || state.step === 'signed' || state.step === 'awaiting_wallet')))
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
