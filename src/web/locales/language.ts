import { getPreferences, onPreferences, setPreferences } from '../local-data/preferences.ts'
import { i18n, type Catalog } from './i18n.ts'
import { pickLanguage, regionOf, type Language } from '../local-data/languages.ts'

/** Where the catalogs of each language are; English has its words in the code. */
const languages: Readonly<
  Record<
    string,
    () => Promise<{ catalogs: Readonly<Record<string, () => Promise<{ messages: Catalog }>>> }>
  >
> = {
  es: () => import('./es-catalogs.ts'),
  'zh-CN': () => import('./zh-cn-catalogs.ts'),
}
/** The catalogs that what is in view needs; another language loads the same ones before it takes over. */
const needed = new Set<string>()
const loaded = new Map<string, Promise<void>>()

/** Before the first render, so that nothing is ever seen in another language. */
export async function startLanguage(): Promise<void> {
  onPreferences(() => void applyPreferences())
  needed.add('desk')
  await applyPreferences()
}

/** Brings the words of a page, or of what is loaded late, in the current language. English has them in its code. */
export async function loadMessages(catalog: string): Promise<void> {
  needed.add(catalog)
  await load(i18n.locale, catalog)
}

/** Changes the language once its words are here, and remembers it. @throws what the network said; the old language then stays. */
export async function chooseLanguage(language: Language | 'auto'): Promise<void> {
  await loadAll(resolve(language))
  setPreferences({ language })
}

async function applyPreferences(): Promise<void> {
  const language = resolve(getPreferences().language)
  try {
    await loadAll(language)
  } catch {
    // Without its words the page stays in the language it has: better than no page.
    return
  }
  // Meanwhile the reader may have chosen again.
  if (language !== resolve(getPreferences().language)) return
  if (language !== i18n.locale) i18n.activate(language, regionOf(language, navigator.languages))
  document.documentElement.lang = language
}

function resolve(language: Language | 'auto'): Language {
  return language === 'auto' ? pickLanguage(navigator.languages) : language
}

async function loadAll(language: Language): Promise<void> {
  let known: number
  do {
    known = needed.size
    await Promise.all([...needed].map((catalog) => load(language, catalog)))
  } while (needed.size > known)
}

function load(language: string, catalog: string): Promise<void> {
  const path = `./${language}/${catalog}.po`
  const known = loaded.get(path)
  if (known) return known
  const loading = fetchCatalog(language, path)
  loaded.set(path, loading)
  loading.catch(() => loaded.delete(path))
  return loading
}

async function fetchCatalog(language: string, path: string): Promise<void> {
  const file = (await languages[language]?.())?.catalogs[path]
  if (file) i18n.load(language, (await file()).messages)
}
