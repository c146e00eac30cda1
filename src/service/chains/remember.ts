/** Answers by key, each kept for `ttlMs`; a failure is not kept. Holds at most 1,000 keys, the oldest goes first. */
export function remember<T>(
  ttlMs: number,
  load: (key: string) => Promise<T>,
): (key: string) => Promise<T> {
  const known = new Map<string, { readAt: number; answer: Promise<T> }>()
  return (key) => {
    const entry = known.get(key)
    if (entry && performance.now() - entry.readAt < ttlMs) return entry.answer
    const answer = load(key)
    answer.catch(() => known.delete(key))
    known.delete(key)
    known.set(key, { readAt: performance.now(), answer })
    const oldest = known.keys().next()
    if (known.size > 1_000 && !oldest.done) known.delete(oldest.value)
    return answer
  }
}
