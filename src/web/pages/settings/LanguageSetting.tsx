import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { chooseLanguage } from '../../locales/language.ts'
import { isLanguage, LANGUAGES, pickLanguage } from '../../local-data/languages.ts'
import { usePreferences } from '../../local-data/preferences.ts'
import { Select } from '../../ui/Select.tsx'
import { toast } from '../../ui/Toast.tsx'
import { SettingRow } from './SettingRow.tsx'

/**
 * Each language under its own name, so that readers who cannot read the current one find theirs.
 */
export function LanguageSetting() {
  const { t } = useLingui()
  const { language } = usePreferences()
  const [changing, setChanging] = useState(false)
  const own = pickLanguage(navigator.languages)

  async function choose(value: string) {
    setChanging(true)
    try {
      await chooseLanguage(isLanguage(value) ? value : 'auto')
    } catch {
      toast(t`That language could not be loaded. Check your connection and try again.`, {
        tone: 'warn',
      })
    } finally {
      setChanging(false)
    }
  }

  return (
    <SettingRow name={<Trans>Language</Trans>}>
      <Select
        aria-busy={changing}
        aria-label={t`Language`}
        className="w-56"
        onChange={(event) => void choose(event.target.value)}
        value={language}
      >
        <option value="auto">{t`Like the browser (${LANGUAGES[own]})`}</option>
        {Object.entries(LANGUAGES).map(([tag, name]) => (
          <option key={tag} lang={tag} value={tag}>
            {name}
          </option>
        ))}
      </Select>
    </SettingRow>
  )
}
