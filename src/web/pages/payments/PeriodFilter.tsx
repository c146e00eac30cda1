import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type FormEvent } from 'react'
import { PERIODS } from '../../router/paths.ts'
import type { PaymentFilter } from '../../api/payment-filter.ts'
import { usePreferences } from '../../local-data/preferences.ts'
import { Button } from '../../ui/Button.tsx'
import { cx } from '../../ui/button-class.ts'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Input } from '../../ui/Input.tsx'
import { Popover } from '../../ui/Popover.tsx'
import { periodWords } from '../../payment-view/filter-words.ts'

type Dates = Pick<PaymentFilter, 'when' | 'from' | 'to'>

/** A period that moves with the calendar, or two days. */
export function PeriodFilter({
  dates,
  label,
  onChange,
}: {
  dates: Dates
  label: string | undefined
  onChange: (dates: Dates) => void
}) {
  const { t } = useLingui()
  return (
    <Popover
      label={t`Date`}
      trigger={
        <>
          <span className="max-w-44 truncate">{label ?? <Trans>Any date</Trans>}</span>
          <Icon className="text-muted" name="chevronDown" />
        </>
      }
    >
      {(close) => (
        <PeriodForm
          dates={dates}
          key={JSON.stringify(dates)}
          onChange={(next) => {
            onChange(next)
            close()
          }}
        />
      )}
    </Popover>
  )
}

function PeriodForm({ dates, onChange }: { dates: Dates; onChange: (dates: Dates) => void }) {
  const { t } = useLingui()
  const zone = usePreferences().timeZone
  const [from, setFrom] = useState(dates.from ?? '')
  const [to, setTo] = useState(dates.to ?? '')
  const backwards = from !== '' && to !== '' && from > to
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!backwards) onChange({ when: undefined, from: from || undefined, to: to || undefined })
  }
  return (
    <form onSubmit={submit}>
      <div className="flex flex-wrap gap-2">
        {PERIODS.map((period) => (
          <button
            aria-pressed={dates.when === period}
            className={cx(
              'touch-target forced-chosen h-8 rounded-full border px-3 text-sm transition-colors hover:bg-hover',
              dates.when === period
                ? 'border-accent bg-accent-soft text-accent-ink'
                : 'border-line text-ink',
            )}
            key={period}
            onClick={() =>
              onChange({
                when: dates.when === period ? undefined : period,
                from: undefined,
                to: undefined,
              })
            }
            type="button"
          >
            {t(periodWords[period])}
          </button>
        ))}
      </div>
      <div className="mt-4 grid gap-3">
        <Field label={<Trans context="date">From</Trans>}>
          <Input
            max="2999-12-31"
            min="2000-01-01"
            onChange={(event) => setFrom(event.target.value)}
            type="date"
            value={from}
          />
        </Field>
        <Field
          error={backwards ? <Trans>End precedes start.</Trans> : undefined}
          label={<Trans>To (inclusive)</Trans>}
        >
          <Input
            max="2999-12-31"
            min="2000-01-01"
            onChange={(event) => setTo(event.target.value)}
            type="date"
            value={to}
          />
        </Field>
      </div>
      <p className="mt-3 text-xs text-muted">
        {zone === 'utc' ? <Trans>Time zone: UTC</Trans> : <Trans>Your time zone</Trans>}
      </p>
      <div className="mt-4 flex justify-end gap-2">
        <Button
          onClick={() => onChange({ when: undefined, from: undefined, to: undefined })}
          size="sm"
          variant="quiet"
        >
          <Trans>Any date</Trans>
        </Button>
        <Button size="sm" type="submit">
          <Trans>Apply</Trans>
        </Button>
      </div>
    </form>
  )
}
