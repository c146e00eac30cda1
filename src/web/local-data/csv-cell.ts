export type CsvCell = { text: string; /** A sign in front of one is a sign. */ figure: boolean }

export function csvLine(cells: readonly CsvCell[], separator: ',' | ';'): string {
  return `${cells.map(({ text, figure }) => csvCell(text, { separator, figure })).join(separator)}\r\n`
}

const SIGNS = '=+\\-@\\uFF1D\\uFF0B\\uFF0D\\uFF20'
const LEADING = new RegExp(`^(?=\\s*[${SIGNS}\\t\\r\\n])`)
/** Where a program begins a cell that splits at another separator and takes quotes otherwise. */
const INNER = new RegExp(`([,;\\t\\r\\n][\\s"]*)(?=[${SIGNS}])`, 'g')

/**
 * One cell by RFC 4180. A spreadsheet runs what begins like a formula, so a stranger's text that does
 * gets an apostrophe in front (OWASP, CSV injection).
 */
export function csvCell(
  text: string,
  { separator, figure = false }: { separator: ',' | ';'; figure?: boolean },
): string {
  const safe = figure ? text : text.replace(INNER, "$1'").replace(LEADING, "'")
  return /["\r\n]/.test(safe) || safe.includes(separator) || safe !== safe.trim()
    ? `"${safe.replaceAll('"', '""')}"`
    : safe
}
