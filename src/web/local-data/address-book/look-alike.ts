const ENDS = 4

/**
 * The known address that this one could be taken for: the same first and last four characters, yet another address. Thieves make such
 * addresses by the million and send dust from them, so that a history shows them where the right one is expected.
 */
export function findLookAlike<T extends { address: string }>(
  address: string,
  known: readonly T[],
): T | undefined {
  if (known.some((each) => each.address === address)) return undefined
  const ends = endsOf(address)
  return known.find((each) => endsOf(each.address) === ends)
}

// Case is dropped: a reader who compares ends does not see it, and a thief need not match it.
function endsOf(address: string): string {
  const body = address.startsWith('0x') ? address.slice(2) : address
  return `${address.startsWith('0x')} ${body.slice(0, ENDS)}…${body.slice(-ENDS)}`.toLowerCase()
}
