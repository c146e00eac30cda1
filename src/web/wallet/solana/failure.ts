/** A cluster's error in a word or two: `InsufficientFundsForRent`, or the instruction that failed and how. */
export function describeFailure(error: unknown): string {
  if (typeof error === 'string') return error
  if (typeof error !== 'object' || error === null) return 'no reason given'
  const [name, detail] = Object.entries(error)[0] ?? ['no reason given', undefined]
  return name === 'InstructionError' && Array.isArray(detail)
    ? `instruction ${Number(detail[0]) + 1}, ${describeFailure(detail[1])}`
    : name === 'Custom'
      ? `code ${String(detail)}`
      : name
}
