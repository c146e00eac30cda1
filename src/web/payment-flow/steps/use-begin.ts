import { useEffect, useRef } from 'react'

/** Runs once, as soon as it may. */
export function useBegin(may: boolean, begin: () => void): void {
  const begun = useRef(false)
  useEffect(() => {
    if (!may || begun.current) return
    begun.current = true
    begin()
  }, [may, begin])
}
