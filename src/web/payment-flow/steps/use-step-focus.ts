import { useEffect, useRef, type RefObject } from 'react'

/** A new screen is a new heading: the focus goes there, so that keys and screen readers start where the page does. */
export function useStepFocus(screen: string): RefObject<HTMLDivElement | null> {
  const container = useRef<HTMLDivElement>(null)
  useEffect(() => {
    container.current?.querySelector<HTMLElement>('[data-step-heading]')?.focus()
  }, [screen])
  return container
}
