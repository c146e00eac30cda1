import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
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
  // The address follows a moment later; a tick stands at once.
  const [ticked, setTicked] = useState(statuses)
  const [told, setTold] = useState(statuses.join())
  if (told !== statuses.join()) {
    setTold(statuses.join())
    setTicked(statuses)
  }
  const change = (next: readonly PaymentStatus[]) => {
    setTicked(next)
    onChange(next)
  }
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
              checked={ticked.includes(status)}
              hint={statusMeaning(status)}
              key={status}
              label={statusLabel(status)}
              onChange={(event) => change(PAYMENT_STATUSES.filter((each) => (each === status ? event.target.checked : ticked.includes(each))))}
            />
          ))}
          {ticked.length > 0 && (
            <Button onClick={() => change([])} size="sm" variant="quiet" className="-ms-2.5">
              <Trans>Any status</Trans>
            </Button>
          )}
        </div>
      )}
    </Popover>
  )
}
