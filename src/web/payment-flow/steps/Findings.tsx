import { useLingui } from '@lingui/react/macro'
import type { Finding } from '../../payment-intent/intent.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'

export type FindingsProps = {
  findings: readonly Finding[]
  /** Nothing to tick: it will not be signed. */ blocked: boolean
  ticked: readonly string[]
  onTick: (codes: readonly string[]) => void
}

/** What the checks say. A critical one blocks and has no tick; a warning needs one each. */
export function Findings({ findings, blocked, ticked, onTick }: FindingsProps) {
  const { t } = useLingui()
  const order = { critical: 0, warn: 1, info: 2 }
  const sorted = [...findings].sort((a, b) => order[a.severity] - order[b.severity])
  return sorted.map(({ code, severity, text }) => (
    <Banner
      className="mt-4"
      key={code}
      role={severity === 'critical' ? 'alert' : 'note'}
      title={severity === 'critical' ? t`Blocked` : severity === 'warn' ? t`Take care` : undefined}
      tone={severity === 'critical' ? 'bad' : severity === 'warn' ? 'warn' : 'info'}
    >
      {text}
      {severity === 'critical' && <> {t`Nothing was sent.`}</>}
      {severity === 'warn' && !blocked && (
        <Checkbox
          checked={ticked.includes(code)}
          className="mt-2"
          label={t`I understand and want to go on`}
          onChange={(event) =>
            onTick(
              event.target.checked ? [...ticked, code] : ticked.filter((each) => each !== code),
            )
          }
        />
      )}
    </Banner>
  ))
}
