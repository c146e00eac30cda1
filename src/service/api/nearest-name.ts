/** The known name a misspelt one most likely means: at most a third of it differs. */
export function nearestName(wrong: string, known: readonly string[]): string | undefined {
  if (wrong.length > 64) return undefined
  const scored = known
    .map((name) => ({
      name,
      distance: editDistance(wrong.toLowerCase().replaceAll(/[_-]/g, ''), name.toLowerCase()),
    }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(name.length / 3)))
    .sort((a, b) => a.distance - b.distance)
  return scored[0]?.name
}

/** Levenshtein distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(
        (next[j - 1] ?? 0) + 1,
        (row[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
      )
    }
    row = next
  }
  return row[b.length] ?? 0
}
