import { useSyncExternalStore } from 'react'

/** What a reader chose for this browser. Nothing here is about money or identity. */
export type Preferences = {
  theme: 'system' | 'light' | 'dark'
  hideAmounts: boolean
  timeZone: 'local' | 'utc'
  /** RPC address by network, in place of the configured one. */
  rpcUrls: Readonly<Record<string, string>>
}

const KEY = 'paydesk.preferences'
const defaults: Preferences = { theme: 'system', hideAmounts: false, timeZone: 'local', rpcUrls: {} }

let current = read()
const listeners = new Set<() => void>()

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, getPreferences)
}

export function getPreferences(): Preferences {
  return current
}

export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change }
  applyTheme(current.theme)
  try {
    localStorage.setItem(KEY, JSON.stringify(current))
  } catch {
    // A browser that keeps nothing still gets the choice for this visit.
  }
  for (const listener of listeners) listener()
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
    hideAmounts: stored.hideAmounts === true,
    timeZone: stored.timeZone === 'utc' ? 'utc' : 'local',
    rpcUrls: readRpcUrls(stored.rpcUrls),
  }
}

function readRpcUrls(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string' && URL.canParse(entry[1])))
}

function read(): Preferences {
  try {
    return parsePreferences(localStorage.getItem(KEY))
  } catch {
    return defaults
  }
}

function applyTheme(theme: Preferences['theme']): void {
  const root = document.documentElement
  if (theme === 'system') delete root.dataset['theme']
  else root.dataset['theme'] = theme
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

// Another tab's choice holds here too.
if (typeof window !== 'undefined') {
  window.addEventListener('storage', (event) => {
    if (event.key !== KEY) return
    current = parsePreferences(event.newValue)
    applyTheme(current.theme)
    for (const listener of listeners) listener()
  })
}
