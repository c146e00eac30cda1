import { separators } from './decimal.ts'
import { numberLocale } from './formats.ts'

export type CsvCell = { text: string; /** A sign in front of one is a sign. */ figure: boolean }

/** How a file of one reader's spreadsheet is written. */
export type CsvShape = {
  /** `;` for spreadsheets whose decimals begin with a comma: figures have commas then. */
  separator: ',' | ';'
  /** Spreadsheets take UTF-8 for what it is only with this mark in front. */
  mark: boolean
}

/** By the reader's own decimal mark. */
export function readerShape(): CsvShape {
  return { separator: separators(numberLocale()).point === ',' ? ';' : ',', mark: true }
}

/** A whole file, its head first. */
export function csvFile(rows: readonly (readonly CsvCell[])[], shape: CsvShape): string {
  return `${shape.mark ? '\uFEFF' : ''}${rows.map((cells) => csvLine(cells, shape.separator)).join('')}`
}

export function csvLine(cells: readonly CsvCell[], separator: ',' | ';'): string {
  return `${cells.map(({ text, figure }) => csvCell(text, { separator, figure })).join(separator)}\r\n`
}

const SIGNS = '=+\\-@\\uFF1D\\uFF0B\\uFF0D\\uFF20'
const LEADING = new RegExp(`^(?=\\s*[${SIGNS}\\t\\r\\n])`)
/** Where a program begins a cell that splits at another separator and takes quotes otherwise. */
const INNER = new RegExp(`([,;\\t\\r\\n][\\s"]*)(?=[${SIGNS}])`, 'g')

/**
 * One cell by RFC 4180. A spreadsheet runs what begins like a formula, so a stranger's text that does
 * gets an apostrophe in front (OWASP, CSV injection). A program that splits at `;` reads a point as a
 * thousands separator, `12.345` as 12345.
 */
export function csvCell(
  text: string,
  { separator, figure = false }: { separator: ',' | ';'; figure?: boolean },
): string {
  if (figure && separator === ';') return text.replace('.', ',')
  const safe = figure ? text : text.replace(INNER, "$1'").replace(LEADING, "'")
  return /["\r\n]/.test(safe) || safe.includes(separator) || safe !== safe.trim()
    ? `"${safe.replaceAll('"', '""')}"`
    : safe
}
