/** The parts of a curl command that matter here: its address and its headers. Quotes and line ends as shells have them. */
export type Curl = {
  url: string | null
  headers: readonly (readonly [name: string, value: string])[]
}

export function isCurl(text: string): boolean {
  return /^\s*\$?\s*curl\s/.test(text)
}

export function readCurl(text: string): Curl | { problem: 'quote' } {
  const words = splitWords(text.replace(/\\\r?\n/g, ' '))
  if (!words) return { problem: 'quote' }
  const headers: [string, string][] = []
  let url: string | null = null
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    const [name, inline] =
      word.startsWith('--') && word.includes('=')
        ? [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]
        : [word, undefined]
    if (name === '-H' || name === '--header') addHeader(headers, inline ?? words[++index] ?? '')
    else if (word.startsWith('-H') && word.length > 2) addHeader(headers, word.slice(2))
    else if (name === '--url') url = inline ?? words[++index] ?? null
    else if (/^https?:\/\//i.test(word)) url ??= word
  }
  return { url, headers }
}

function addHeader(headers: [string, string][], text: string): void {
  const colon = text.indexOf(':')
  if (colon > 0)
    headers.push([text.slice(0, colon).trim().toLowerCase(), text.slice(colon + 1).trim()])
}

/** Words of a shell command; nothing when a quote is left open. */
function splitWords(text: string): string[] | undefined {
  const words: string[] = []
  let word = ''
  let open = false
  let quote = ''
  for (let index = 0; index < text.length; index++) {
    const char = text[index] ?? ''
    if (quote) {
      if (char === quote) quote = ''
      else if (char === '\\' && quote === '"') word += text[++index] ?? ''
      else word += char
    } else if (char === "'" || char === '"') {
      quote = char
      open = true
    } else if (char === '\\') {
      word += text[++index] ?? ''
      open = true
    } else if (/\s/.test(char)) {
      if (open || word) words.push(word)
      word = ''
      open = false
    } else word += char
  }
  if (quote) return undefined
  if (open || word) words.push(word)
  return words
}
