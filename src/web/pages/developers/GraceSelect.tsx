import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import { GRACE_SECONDS } from '#contract/api-key-body.ts'
import { Select } from '../../ui/Select.tsx'

export type Grace = (typeof GRACE_SECONDS)[number]

/** What a reader is offered first. */
export const USUAL_GRACE: Grace = 3600

const words: Readonly<Record<Grace, MessageDescriptor>> = {
  0: msg`Revoke now`,
  60: msg`1 minute`,
  900: msg`15 minutes`,
  3600: msg`1 hour`,
  21600: msg`6 hours`,
  86400: msg`1 day`,
}

type GraceSelectProps = { value: Grace; onChange: (grace: Grace) => void }

/** How long a key or a secret that was replaced is still valid, in seconds. */
export function GraceSelect({ value, onChange }: GraceSelectProps) {
  const { t } = useLingui()
  return (
    <Select
      onChange={(event) =>
        onChange(GRACE_SECONDS.find((each) => each === Number(event.target.value)) ?? USUAL_GRACE)
      }
      value={value}
    >
      {GRACE_SECONDS.map((each) => (
        <option key={each} value={each}>
          {t(words[each])}
        </option>
      ))}
    </Select>
  )
}
