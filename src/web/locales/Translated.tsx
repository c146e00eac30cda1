import type { ReactNode } from 'react'
import { usePreferences } from '../local-data/preferences.ts'
import { useLingui } from './Trans.tsx'

/**
 * Wraps everything with text. A change of language or number format renders all of it again without
 * losing typed input.
 */
export function Translated({ render }: { render: () => ReactNode }): ReactNode {
  useLingui()
  usePreferences()
  return render()
}
