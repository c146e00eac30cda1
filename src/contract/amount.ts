/**
 * Money. An amount is held in atomic units (wei, lamports) as a `bigint`; text is only its spelling.
 * No function here goes through a double.
 */

/** A decimal spelled as JSON allows it: `0.1`, `1e-3`, `100`. */
const DECIMAL = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/

/** Longer spellings carry no payment anyone can make, and would make the exponent arithmetic unbounded. */
const MAX_TEXT_LENGTH = 100
const MAX_EXPONENT = 60

export type AmountProblem = 'not_a_decimal' | 'not_positive' | 'too_many_decimals' | 'too_large'

export type ParsedAmount = { ok: true; atomic: bigint } | { ok: false; problem: AmountProblem }

/** The largest amount a column `numeric(78,0)` and a `uint256` both hold. */
export const MAX_ATOMIC = 2n ** 256n - 1n

/**
 * Reads a positive decimal from its source text into atomic units.
 * @param text the digits as written, for example `0.1` or `1e-3`
 * @param decimals of the asset: 18 for ETH, 9 for SOL, 6 for USDC
 */
export function parseAmount(text: string, decimals: number): ParsedAmount {
  const match = text.length <= MAX_TEXT_LENGTH ? DECIMAL.exec(text) : null
  if (!match) return { ok: false, problem: 'not_a_decimal' }
  const [, sign, whole = '', fraction = '', exponentText = '0'] = match
  const exponent = Number(exponentText)
  if (Math.abs(exponent) > MAX_EXPONENT) return { ok: false, problem: 'not_a_decimal' }

  const digits = BigInt(whole + fraction)
  if (digits === 0n || sign === '-') return { ok: false, problem: 'not_positive' }

  const shift = decimals + exponent - fraction.length
  if (shift >= 0) {
    const atomic = digits * 10n ** BigInt(shift)
    return atomic > MAX_ATOMIC ? { ok: false, problem: 'too_large' } : { ok: true, atomic }
  }
  const divisor = 10n ** BigInt(-shift)
  if (digits % divisor !== 0n) return { ok: false, problem: 'too_many_decimals' }
  const atomic = digits / divisor
  return atomic > MAX_ATOMIC ? { ok: false, problem: 'too_large' } : { ok: true, atomic }
}

/** Spells atomic units as a plain decimal, without an exponent and without trailing zeros: `10000000000000000n, 18` → `0.01`. */
export function formatAmount(atomic: bigint, decimals: number): string {
  const negative = atomic < 0n
  const digits = (negative ? -atomic : atomic).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${negative ? '-' : ''}${whole}${fraction ? `.${fraction}` : ''}`
}

/** What to tell the person who wrote the amount. */
export function describeAmountProblem(
  problem: AmountProblem,
  text: string,
  decimals: number,
): string {
  switch (problem) {
    case 'not_a_decimal':
      return `Expected a decimal number, received ${text}.`
    case 'not_positive':
      return `Expected an amount above 0, received ${text}.`
    case 'too_many_decimals':
      return `Expected at most ${decimals} decimals, received ${text}.`
    case 'too_large':
      return `Expected an amount that fits 256 bits, received ${text}.`
  }
}
