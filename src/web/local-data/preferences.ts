import { createBrowserStore } from './store.ts'
import { isLanguage, type Language } from './languages.ts'

/** What a reader chose for this browser. Nothing here is about money or identity. */
export type Preferences = {
  theme: 'system' | 'light' | 'dark'
  /** `auto` is the browser's. */
  language: Language | 'auto'
  hideAmounts: boolean
  timeZone: 'local' | 'utc'
  /** How figures are written, as the tag of a place that writes them so; `auto` goes with the language. */
  numbers: 'auto' | (typeof NUMBER_STYLES)[number]
  /** `iso` is 2026-11-21; `auto` goes with the language. */
  dates: 'auto' | 'iso'
  hours: 'auto' | 'h12' | 'h23'
  /** RPC address by network, in place of the configured one. */
  rpcUrls: Readonly<Record<string, string>>
}

/** 1,234.56 · 1.234,56 · 1 234,56 · 1’234.56 · 12,34,567.89 */
export const NUMBER_STYLES = ['en-US', 'de-DE', 'fr-FR', 'de-CH', 'en-IN'] as const

const KEY = 'paydesk.preferences'
const defaults: Preferences = {
  theme: 'system',
  language: 'auto',
  hideAmounts: false,
  timeZone: 'local',
  numbers: 'auto',
  dates: 'auto',
  hours: 'auto',
  rpcUrls: {},
}

const store = createBrowserStore(KEY, parsePreferences)
store.subscribe(() => applyTheme(store.get().theme))

export const usePreferences = store.use

export const getPreferences = store.get

/** Tells of every change, another tab's included. */
export const onPreferences = store.subscribe

export function setPreferences(change: Partial<Preferences>): void {
  store.set({ ...store.get(), ...change })
}

/** Reads stored text into preferences; what is not understood falls back to its default. */
export function parsePreferences(text: string | null): Preferences {
  let value: unknown
  try {
    value = JSON.parse(text ?? '{}')
  } catch {
    return defaults
  }
  if (typeof value !== 'object' || value === null) return defaults
  const stored: Partial<Record<keyof Preferences, unknown>> = value
  return {
    theme: stored.theme === 'light' || stored.theme === 'dark' ? stored.theme : 'system',
    language: isLanguage(stored.language) ? stored.language : 'auto',
    hideAmounts: stored.hideAmounts === true,
    timeZone: stored.timeZone === 'utc' ? 'utc' : 'local',
    numbers: NUMBER_STYLES.find((style) => style === stored.numbers) ?? 'auto',
    dates: stored.dates === 'iso' ? 'iso' : 'auto',
    hours: stored.hours === 'h12' || stored.hours === 'h23' ? stored.hours : 'auto',
    rpcUrls: readRpcUrls(stored.rpcUrls),
  }
}

function readRpcUrls(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(
    Object.entries(value).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && URL.canParse(entry[1]),
    ),
  )
}

function applyTheme(theme: Preferences['theme']): void {
  const root = document.documentElement
  if (theme === 'system') delete root.dataset['theme']
  else root.dataset['theme'] = theme
}
