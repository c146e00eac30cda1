/** The languages of the dashboard, each under its own name. */
export const LANGUAGES = { en: 'English', es: 'Español', 'zh-CN': '简体中文' } as const

export type Language = keyof typeof LANGUAGES

export function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && Object.hasOwn(LANGUAGES, value)
}

/** The first of the reader's languages that we speak; English if none. Traditional Chinese is not served with Simplified. */
export function pickLanguage(preferred: readonly string[]): Language {
  for (const tag of preferred) {
    const spoken = languageOf(tag)
    if (spoken) return spoken
  }
  return 'en'
}

/** Which regional way to write numbers and dates goes with a language: the reader's own variant of it if the browser names one. */
export function regionOf(language: Language, preferred: readonly string[]): string {
  return preferred.find((tag) => languageOf(tag) === language) ?? language
}

const known = new Map<string, Language | undefined>()

/** Kept: every figure on a page asks for the same few. */
function languageOf(tag: string): Language | undefined {
  if (!known.has(tag)) known.set(tag, readLanguage(tag))
  return known.get(tag)
}

function readLanguage(tag: string): Language | undefined {
  let locale: Intl.Locale
  try {
    locale = new Intl.Locale(tag).maximize()
  } catch {
    return undefined
  }
  if (locale.language === 'zh') return locale.script === 'Hans' ? 'zh-CN' : undefined
  return isLanguage(locale.language) ? locale.language : undefined
}
