import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { labelsQuery } from '../../api/notes.ts'
import type { NoteFilter as Noted } from '../../api/payment-filter.ts'
import { Field } from '../../ui/Field.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Popover } from '../../ui/Popover.tsx'
import { Select } from '../../ui/Select.tsx'

type NoteFilterProps = Partial<Record<keyof Noted, string | undefined>> & {
  onChange: (noted: Partial<Record<keyof Noted, string | undefined>>) => void
}

/** By what the reader's side wrote beside payments: a label, and whether they are matched with the books. */
export function NoteFilter({ label, reconciled, onChange }: NoteFilterProps) {
  const { t } = useLingui()
  return (
    <Popover
      label={t`Labels and books`}
      trigger={
        <>
          {label ??
            (reconciled === 'yes' ? (
              <Trans>Reconciled</Trans>
            ) : reconciled === 'no' ? (
              <Trans>Not reconciled</Trans>
            ) : (
              <Trans>Any label</Trans>
            ))}
          <Icon className="text-muted" name="chevronDown" />
        </>
      }
    >
      {() => <Choices label={label} onChange={onChange} reconciled={reconciled} />}
    </Popover>
  )
}

function Choices({ label, reconciled, onChange }: NoteFilterProps) {
  const labels = useQuery(labelsQuery).data ?? []
  const known =
    label === undefined || labels.some((each) => each.label === label)
      ? labels
      : [{ label, payments: 0 }, ...labels]
  return (
    <div className="grid gap-4">
      <Field
        hint={
          known.length === 0 ? <Trans>Pick payments in the list to label them.</Trans> : undefined
        }
        label={<Trans>Label</Trans>}
      >
        <Select
          onChange={(event) => onChange({ label: event.target.value || undefined })}
          value={label ?? ''}
        >
          <option value="">
            <Trans>Any label</Trans>
          </option>
          {known.map((each) => (
            <option key={each.label} value={each.label}>
              {each.label}
            </option>
          ))}
        </Select>
      </Field>
      <Field label={<Trans>In the books</Trans>}>
        <Select
          onChange={(event) => onChange({ reconciled: event.target.value || undefined })}
          value={reconciled ?? ''}
        >
          <option value="">
            <Trans>Reconciled or not</Trans>
          </option>
          <option value="yes">
            <Trans>Reconciled</Trans>
          </option>
          <option value="no">
            <Trans>Not reconciled</Trans>
          </option>
        </Select>
      </Field>
    </div>
  )
}
