import type { ReactNode } from 'react'
import { setPreferences, usePreferences } from '../../preferences.ts'
import { Card } from '../../ui/Card.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Time } from '../../ui/Time.tsx'
import { useNow } from '../../ui/use-now.ts'

const themes = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const

const zones = [
  { value: 'local', label: 'Local' },
  { value: 'utc', label: 'UTC' },
] as const

export function Display() {
  const { theme, timeZone, hideAmounts } = usePreferences()
  const now = useNow()
  return (
    <Card title="Display">
      <div className="divide-y divide-line">
        <Row name="Theme">
          <Segmented label="Theme" onChange={(value) => setPreferences({ theme: value })} options={themes} value={theme} />
        </Row>
        <Row
          name="Time zone"
          note={
            <>
              Now: <Time at={now} look="full" />
            </>
          }
        >
          <Segmented label="Time zone" onChange={(value) => setPreferences({ timeZone: value })} options={zones} value={timeZone} />
        </Row>
        <div className="pt-4">
          <Checkbox
            checked={hideAmounts}
            hint="In lists and figures, for when someone looks over your shoulder. A payment’s own page always shows its amount."
            label="Hide amounts"
            onChange={(event) => setPreferences({ hideAmounts: event.target.checked })}
          />
        </div>
      </div>
    </Card>
  )
}

function Row({ name, note, children }: { name: string; note?: ReactNode; children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 py-4 first:pt-0">
      <div>
        <p className="text-sm font-medium">{name}</p>
        {note && <p className="text-sm text-muted">{note}</p>}
      </div>
      {children}
    </div>
  )
}
