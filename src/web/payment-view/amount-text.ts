import { readDecimal, separators } from '../locales/decimal.ts'
import { numberLocale } from '../locales/formats.ts'

/** A plain decimal of the address with the reader's decimal point. */
export function localDecimalOf(plain: string): string {
  return plain.replace('.', separators(numberLocale()).point)
}

/** What a reader typed as the address carries it; nothing for nothing, and undefined for what is no amount. */
export function plainDecimalOf(typed: string): string | undefined {
  if (typed.trim() === '') return ''
  const read = readDecimal(typed, numberLocale())
  return read.ok && /^[0-9]{1,30}(\.[0-9]{1,36})?$/.test(read.plain) ? read.plain : undefined
}
