import { Trans, useLingui } from '@lingui/react/macro'
import { FigureSettings } from './FigureSettings.tsx'
import { LanguageSetting } from './LanguageSetting.tsx'
import { setPreferences, usePreferences } from '../../local-data/preferences.ts'
import { Card } from '../../ui/Card.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { SettingRow } from './SettingRow.tsx'

export function Display() {
  const { t } = useLingui()
  const { theme, timeZone, hideAmounts } = usePreferences()
  return (
    <Card title={<Trans>Display</Trans>}>
      <div className="divide-y divide-line">
        <SettingRow name={<Trans>Theme</Trans>}>
          <Segmented
            label={t`Theme`}
            onChange={(value) => setPreferences({ theme: value })}
            options={[
              { value: 'system', label: t`System` },
              { value: 'light', label: t`Light` },
              { value: 'dark', label: t`Dark` },
            ]}
            value={theme}
          />
        </SettingRow>
        <LanguageSetting />
        <FigureSettings />
        <SettingRow
          name={<Trans>Time zone</Trans>}
          note={
            timeZone === 'local' ? new Intl.DateTimeFormat().resolvedOptions().timeZone : undefined
          }
        >
          <Segmented
            label={t`Time zone`}
            onChange={(value) => setPreferences({ timeZone: value })}
            options={[
              { value: 'local', label: t`Local` },
              { value: 'utc', label: 'UTC' },
            ]}
            value={timeZone}
          />
        </SettingRow>
        <div className="pt-4">
          <Checkbox
            checked={hideAmounts}
            hint={
              <Trans>
                In lists and figures, for when someone looks over your shoulder. A payment’s own
                page always shows its amount.
              </Trans>
            }
            label={<Trans>Hide amounts</Trans>}
            onChange={(event) => setPreferences({ hideAmounts: event.target.checked })}
          />
        </div>
      </div>
    </Card>
  )
}
