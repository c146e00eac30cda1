/** Once the browser has time: for what nobody waits for yet. @returns what forgets it */
export function whenIdle(act: () => void): () => void {
  // Safari has none.
  if (!('requestIdleCallback' in window)) {
    const timer = setTimeout(act, 200)
    return () => clearTimeout(timer)
  }
  const handle = requestIdleCallback(act, { timeout: 1_000 })
  return () => cancelIdleCallback(handle)
}
