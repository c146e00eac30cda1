import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { PAYMENT_STATUSES, type PaymentStatus } from '#contract/payment.ts'
import { Button } from '../../ui/Button.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Popover } from '../../ui/Popover.tsx'
import { statusLabel, statusMeaning } from '../../ui/status-words.ts'

/** Any number of statuses; none is all of them. */
export function StatusFilter({ statuses, onChange }: { statuses: readonly PaymentStatus[]; onChange: (statuses: readonly PaymentStatus[]) => void }) {
  const { t } = useLingui()
  const [only] = statuses
  return (
    <Popover
      label={t`Status`}
      trigger={
        <>
          {statuses.length === 1 && only ? statusLabel(only) : <Plural _0="Any status" one="# status" other="# statuses" value={statuses.length} />}
          <Icon className="text-muted" name="chevronDown" />
        </>
      }
    >
      {() => (
        <div className="space-y-3">
          {PAYMENT_STATUSES.map((status) => (
            <Checkbox
              checked={statuses.includes(status)}
              hint={statusMeaning(status)}
              key={status}
              label={statusLabel(status)}
              onChange={(event) => onChange(PAYMENT_STATUSES.filter((each) => (each === status ? event.target.checked : statuses.includes(each))))}
            />
          ))}
          {statuses.length > 0 && (
            <Button onClick={() => onChange([])} size="sm" variant="quiet" className="-ms-2.5">
              <Trans>Any status</Trans>
            </Button>
          )}
        </div>
      )}
    </Popover>
  )
}
