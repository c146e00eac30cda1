import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { NUMBER_STYLES, setPreferences, usePreferences } from '../../local-data/preferences.ts'
import { Segmented } from '../../ui/Segmented.tsx'
import { Select } from '../../ui/Select.tsx'
import { Time } from '../../ui/Time.tsx'
import { formatAmountText } from '../../ui/format-amount.ts'
import { useNow } from '../../ui/use-now.ts'

/** 1,234,567.89 of an asset with two decimals: shows groups and the decimal mark at once. */
const SAMPLE = { atomic: 123_456_789n, decimals: 2 }

/** How numbers, dates and hours are written, where the language's own way is not the reader's. */
export function FigureSettings() {
  const { t } = useLingui()
  const { numbers, dates, hours } = usePreferences()
  const now = useNow()
  const sample = (locale?: string) =>
    formatAmountText(SAMPLE.atomic, SAMPLE.decimals, { locale }).text
  return (
    <>
      <SettingRow name={<Trans>Numbers</Trans>} note={<span className="figures">{sample()}</span>}>
        <Select
          aria-label={t`Numbers`}
          className="w-56"
          onChange={(event) =>
            setPreferences({
              numbers: NUMBER_STYLES.find((style) => style === event.target.value) ?? 'auto',
            })
          }
          value={numbers}
        >
          <option value="auto">{t`Automatic`}</option>
          {NUMBER_STYLES.map((style) => (
            <option key={style} value={style}>
              {sample(style)}
            </option>
          ))}
        </Select>
      </SettingRow>
      <SettingRow
        name={<Trans>Dates</Trans>}
        note={
          <Trans>
            Now: <Time at={now} look="full" />
          </Trans>
        }
      >
        <Segmented
          label={t`Dates`}
          onChange={(value) => setPreferences({ dates: value })}
          options={[
            { value: 'auto', label: t`Automatic` },
            { value: 'iso', label: 'ISO 8601' },
          ]}
          value={dates}
        />
      </SettingRow>
      <SettingRow name={<Trans>Hours</Trans>}>
        <Segmented
          label={t`Hours`}
          onChange={(value) => setPreferences({ hours: value })}
          options={[
            { value: 'auto', label: t`Automatic` },
            { value: 'h12', label: t`12 hours` },
            { value: 'h23', label: t`24 hours` },
          ]}
          value={hours}
        />
      </SettingRow>
    </>
  )
}

/** A setting's name and what it means now at the start, its control at the end of the line. */
export function SettingRow({
  name,
  note,
  children,
}: {
  name: ReactNode
  note?: ReactNode
  children: ReactNode
}) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 py-4 first:pt-0 last:pb-0">
      <div>
        <p className="text-sm font-medium">{name}</p>
        {note && <p className="text-sm text-muted">{note}</p>}
      </div>
      {children}
    </div>
  )
}
