export type CsvCell = { text: string; /** A sign in front of one is a sign. */ figure: boolean }

export function csvLine(cells: readonly CsvCell[], separator: ',' | ';'): string {
  return `${cells.map(({ text, figure }) => csvCell(text, { separator, figure })).join(separator)}\r\n`
}

/**
 * One cell by RFC 4180. A spreadsheet runs what begins like a formula, so a stranger's text that does
 * gets an apostrophe in front (OWASP, CSV injection).
 */
export function csvCell(
  text: string,
  { separator, figure = false }: { separator: ',' | ';'; figure?: boolean },
): string {
  const safe = !figure && /^\s*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/.test(text) ? `'${text}` : text
  return /["\r\n]/.test(safe) || safe.includes(separator) || safe !== safe.trim()
    ? `"${safe.replaceAll('"', '""')}"`
    : safe
}
