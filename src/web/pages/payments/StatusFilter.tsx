import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { LISTED_STATUSES, type ListedStatus } from '#contract/payment.ts'
import { INCOMPLETE } from '../../api/payment-filter.ts'
import { Button } from '../../ui/Button.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Popover } from '../../ui/Popover.tsx'
import { statusLabel, statusMeaning } from '../../ui/status-words.ts'

export type StatusFilterProps = {
  statuses: readonly ListedStatus[]
  /** Whether drafts are asked for, and nothing else. */
  incomplete: boolean
  onChange: (statuses: readonly ListedStatus[] | typeof INCOMPLETE) => void
}

/** Any number of statuses, none is all of them; or what visitors did not complete, which is in no other list. */
export function StatusFilter({ statuses, incomplete, onChange }: StatusFilterProps) {
  const { t } = useLingui()
  const [only] = statuses
  // The address follows a moment later; a tick stands at once.
  const selected = incomplete ? INCOMPLETE : statuses
  const [ticked, setTicked] = useState(selected)
  const [lastSelected, setLastSelected] = useState(selected.toString())
  if (lastSelected !== selected.toString()) {
    setLastSelected(selected.toString())
    setTicked(selected)
  }
  const change = (next: readonly ListedStatus[] | typeof INCOMPLETE) => {
    setTicked(next)
    onChange(next)
  }
  const chosen: readonly string[] = typeof ticked === 'string' ? [ticked] : ticked
  return (
    <Popover
      label={t`Status`}
      trigger={
        <>
          {incomplete ? (
            statusLabel(INCOMPLETE)
          ) : statuses.length === 1 && only ? (
            statusLabel(only)
          ) : (
            <Plural _0="Any status" one="# status" other="# statuses" value={statuses.length} />
          )}
          <Icon className="text-muted" name="chevronDown" />
        </>
      }
    >
      {() => (
        <div className="space-y-3">
          {LISTED_STATUSES.map((status) => (
            <Checkbox
              checked={chosen.includes(status)}
              hint={statusMeaning(status)}
              key={status}
              label={statusLabel(status)}
              onChange={(event) =>
                change(
                  LISTED_STATUSES.filter((each) =>
                    each === status ? event.target.checked : chosen.includes(each),
                  ),
                )
              }
            />
          ))}
          <div className="border-t border-line pt-3">
            <Checkbox
              checked={ticked === INCOMPLETE}
              hint={statusMeaning(INCOMPLETE)}
              label={statusLabel(INCOMPLETE)}
              onChange={(event) => change(event.target.checked ? INCOMPLETE : [])}
            />
          </div>
          {chosen.length > 0 && (
            <Button onClick={() => change([])} size="sm" variant="quiet" className="-ms-2.5">
              <Trans>Any status</Trans>
            </Button>
          )}
        </div>
      )}
    </Popover>
  )
}
