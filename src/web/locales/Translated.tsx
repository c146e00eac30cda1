import { I18nProvider, useLingui } from '@lingui/react'
import type { ReactNode } from 'react'
import { usePreferences } from '../preferences.ts'
import { i18n } from './i18n.ts'

/** Everything that speaks stands in here. A change of language, or of how figures are written, renders all of it anew and loses nothing typed. */
export function Translated({ render }: { render: () => ReactNode }) {
  return (
    <I18nProvider i18n={i18n}>
      <Fresh render={render} />
    </I18nProvider>
  )
}

function Fresh({ render }: { render: () => ReactNode }) {
  useLingui()
  usePreferences()
  return render()
}
