import type { ReactNode } from 'react'
import { usePreferences } from '../local-data/preferences.ts'
import { useLingui } from './Trans.tsx'

/** Everything that speaks stands in here. A change of language, or of how figures are written, renders all of it anew and loses nothing typed. */
export function Translated({ render }: { render: () => ReactNode }): ReactNode {
  useLingui()
  usePreferences()
  return render()
}
