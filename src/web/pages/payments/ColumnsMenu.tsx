import { Trans, useLingui } from '@lingui/react/macro'
import { Button } from '../../ui/Button.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Popover } from '../../ui/Popover.tsx'
import {
  COLUMN_NAMES,
  columns,
  FIXED_COLUMN,
  resetColumns,
  toggleColumn,
  useColumns,
} from '../../payment-view/columns.ts'

/** What the table shows, kept in this browser. */
export function ColumnsMenu() {
  const { t } = useLingui()
  const shown = useColumns()
  return (
    <Popover
      className="max-md:hidden"
      label={t`Columns`}
      look={{ size: 'sm' }}
      trigger={
        <>
          <Icon name="table" />
          <Trans>Columns</Trans>
        </>
      }
    >
      {() => (
        <div className="space-y-3">
          {COLUMN_NAMES.filter((name) => name !== FIXED_COLUMN).map((name) => (
            <Checkbox
              checked={shown.includes(name)}
              key={name}
              label={t(columns[name].label)}
              onChange={() => toggleColumn(name)}
            />
          ))}
          <Button className="-ms-2.5" onClick={resetColumns} size="sm" variant="quiet">
            <Trans>Usual columns</Trans>
          </Button>
        </div>
      )}
    </Popover>
  )
}
