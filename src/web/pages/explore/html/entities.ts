/** The names that pages of prose use; any other stands as it is written. */
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  shy: '\u00ad',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  sbquo: '‚',
  ldquo: '“',
  rdquo: '”',
  bdquo: '„',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  times: '×',
  divide: '÷',
  minus: '−',
  plusmn: '±',
  ne: '≠',
  le: '≤',
  ge: '≥',
  asymp: '≈',
  infin: '∞',
  deg: '°',
  micro: 'µ',
  frac12: '½',
  frac14: '¼',
  frac34: '¾',
  sup1: '¹',
  sup2: '²',
  sup3: '³',
  euro: '€',
  pound: '£',
  yen: '¥',
  cent: '¢',
  sect: '§',
  para: '¶',
  dagger: '†',
  larr: '←',
  rarr: '→',
  uarr: '↑',
  darr: '↓',
  harr: '↔',
  iexcl: '¡',
  iquest: '¿',
  ordf: 'ª',
  ordm: 'º',
  thinsp: '\u2009',
  ensp: '\u2002',
  emsp: '\u2003',
  szlig: 'ß',
  aelig: 'æ',
  AElig: 'Æ',
  oelig: 'œ',
  OElig: 'Œ',
  oslash: 'ø',
  Oslash: 'Ø',
}

/** `eacute`, `Uuml`: a letter with the mark that its name tells. */
const MARKS: Readonly<Record<string, string>> = {
  acute: '\u0301',
  grave: '\u0300',
  circ: '\u0302',
  tilde: '\u0303',
  uml: '\u0308',
  ring: '\u030a',
  cedil: '\u0327',
  caron: '\u030c',
}

/** Text with its character references read. */
export function decodeEntities(text: string): string {
  return text.replace(/&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});/g, (whole, reference: string) => {
    if (!reference.startsWith('#')) return readName(reference) ?? whole
    return readCode(/^#x/i.test(reference) ? Number.parseInt(reference.slice(2), 16) : Number(reference.slice(1)))
  })
}

function readName(name: string): string | undefined {
  if (Object.hasOwn(NAMED, name)) return NAMED[name]
  const [, letter = '', mark = ''] = /^([a-zA-Z])([a-z]+)$/.exec(name) ?? []
  return Object.hasOwn(MARKS, mark) ? `${letter}${MARKS[mark]}`.normalize('NFC') : undefined
}

/** What is no character is the sign for one that is missing; 128 to 159 are those of Windows, which is what their writers mean. */
function readCode(code: number): string {
  if (code >= 0x80 && code <= 0x9f) return new TextDecoder('windows-1252').decode(Uint8Array.of(code))
  const readable = code === 9 || code === 10 || code === 13 || (code >= 0x20 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff))
  return readable ? String.fromCodePoint(code) : '\ufffd'
}
