import { useEffect, useState, useSyncExternalStore, useRef } from 'react'
import type { PaymentState } from '../machine.ts'
import type { PaymentRun } from '../run.ts'

export function useRunState(run: PaymentRun): PaymentState {
  return useSyncExternalStore(run.subscribe, run.state)
}

/** Whole seconds until the deadline of a review, counted on the service's clock; the run learns when it is over. */
export function useSecondsLeft(run: PaymentRun): number {
  const [seconds, setSeconds] = useState(() => secondsOf(run))
  useEffect(() => {
    const tick = () => {
      setSeconds(secondsOf(run))
      void run.checkDeadline()
    }
    tick()
    const timer = setInterval(tick, 500)
    return () => clearInterval(timer)
  }, [run])
  return seconds
}

function secondsOf(run: PaymentRun): number {
  return Math.max(0, Math.floor(run.remainingMs() / 1000))
}

/** Runs once, as soon as it may. */
export function useBegin(may: boolean, begin: () => void): void {
  const begun = useRef(false)
  useEffect(() => {
    if (!may || begun.current) return
    begun.current = true
    begin()
  }, [may, begin])
}
