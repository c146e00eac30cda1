import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import { usePauseSeconds } from '../../api/rate-limit-pause.ts'
import { remainingAt, useQuota } from '../../api/quota.ts'
import { formatNumber } from '../../locales/formats.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Card } from '../../ui/Card.tsx'
import { cx } from '../../ui/cx.ts'

/** Below this share the gauge turns amber. */
const LOW = 0.2

/** What is left of the dashboard's own plan, from the latest response and as it refills. */
export function QuotaCard() {
  const { t } = useLingui()
  const quota = useQuota()
  const pause = usePauseSeconds()
  const now = useSeconds()
  const left = quota && remainingAt(quota, now)
  const share = quota && left !== undefined ? left / quota.limit : 0
  const [shown, limit] = [formatNumber(left ?? 0), formatNumber(quota?.limit ?? 0)]
  const refill = formatNumber(Math.max(1, Math.round((quota?.limit ?? 0) / 60)))
  return (
    <Card
      subtitle={<Trans>Shared by everybody who uses this dashboard.</Trans>}
      title={<Trans>API quota</Trans>}
    >
      {pause > 0 && (
        // The banner at the top announces the pause once; this one counts down, and is not read out
        // every second.
        <Banner className="mb-4" icon="hourglass" title={<Trans>Paused</Trans>} tone="warn">
          <Trans>
            Nothing is asked for <span className="figures">{pause}</span> s, then it goes on by
            itself.
          </Trans>
        </Banner>
      )}
      {quota && left !== undefined ? (
        <>
          <p className="flex items-baseline gap-2">
            <span className="figures text-2xl font-semibold tracking-tight">{shown}</span>
            <span className="text-sm text-muted">
              <Trans>of {limit} requests left this minute</Trans>
            </span>
          </p>
          <div
            aria-label={t`Requests left`}
            aria-valuemax={quota.limit}
            aria-valuemin={0}
            aria-valuenow={left}
            aria-valuetext={t`${shown} of ${limit}`}
            className="forced-edge mt-3 h-2 overflow-hidden rounded-full bg-neutral-soft"
            role="meter"
          >
            <div
              className={cx(
                'forced-fill h-full rounded-full transition-[width]',
                share < LOW ? 'bg-warn-edge' : 'bg-accent',
              )}
              style={{ width: `${Math.max(share * 100, left > 0 ? 1 : 0)}%` }}
            />
          </div>
          <p className="mt-3 text-xs text-muted">
            {share < LOW ? (
              <Trans>
                Little is left: lists wait first, payments last. About {refill} come back every
                second.
              </Trans>
            ) : (
              <Trans>About {refill} come back every second.</Trans>
            )}
          </p>
        </>
      ) : (
        <p className="text-sm text-muted">
          <Trans>Not known yet. The next answer of the service tells it.</Trans>
        </p>
      )}
    </Card>
  )
}

function useSeconds(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return now
}
