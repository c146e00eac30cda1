import type { Catalog } from './i18n.ts'

/** The catalogs of one language: a list that only its readers load. */
export const catalogs = import.meta.glob<{ messages: Catalog }>('./pseudo/*.po')
