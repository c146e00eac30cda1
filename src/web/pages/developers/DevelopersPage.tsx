import { Trans, useLingui } from '@lingui/react/macro'
import { useState, useEffect } from 'react'
import type { Viewer } from '../../api/queries.ts'
import { remainingAt, useQuota } from '../../api/quota.ts'
import { useConfig } from '../../api/use-config.ts'
import { usePauseSeconds } from '../../api/rate-limit-pause.ts'
import { formatNumber } from '../../locales/formats.ts'
import { NoAccess } from '../../shell/NoAccess.tsx'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { SignedIn } from '../../shell/SignedIn.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Card } from '../../ui/Card.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { cx } from '../../ui/button-class.ts'
import { KeysCard } from './KeysCard.tsx'
import { RequestsCard } from './RequestsCard.tsx'
import { TakePaymentCard } from './TakePaymentCard.tsx'
import { UsageCard } from './UsageCard.tsx'
import { WebhooksCard } from './WebhooksCard.tsx'

/**
 * For developers who connect their own server: keys, their usage, what is left of the quota, and
 * how to start.
 */
export function DevelopersPage() {
  return (
    <>
      <PageHeader title={<Trans>Developers</Trans>} />
      <SignedIn skeleton={<Skeleton className="h-76 rounded-xl" />}>
        {(viewer) => <Content viewer={viewer} />}
      </SignedIn>
    </>
  )
}

function Content({ viewer }: { viewer: Viewer }) {
  const { networks } = useConfig()
  // The example and the env file of a new key are for one network.
  const [network, setNetwork] = useState(networks[0])
  const example = <TakePaymentCard network={network} onChoose={setNetwork} viewer={viewer} />
  if (viewer.wallets !== 'all') {
    return (
      <div className="grid gap-4">
        <NoAccess icon="shield" />
        {example}
      </div>
    )
  }
  return (
    <div className="grid gap-4">
      <KeysCard network={network} />
      {example}
      <WebhooksCard />
      <QuotaCard />
      <UsageCard />
      <RequestsCard />
    </div>
  )
}

/** Below this share the gauge turns amber. */
const LOW = 0.2

/** What is left of the dashboard's own plan, from the latest response and as it refills. */
function QuotaCard() {
  const { t } = useLingui()
  const quota = useQuota()
  const seconds = usePauseSeconds()
  const now = useSeconds()
  const left = quota && remainingAt(quota, now)
  const share = quota && left !== undefined ? left / quota.limit : 0
  const [shown, limit] = [formatNumber(left ?? 0), formatNumber(quota?.limit ?? 0)]
  return (
    <Card subtitle={<Trans>Shared by all users.</Trans>} title={<Trans>API quota</Trans>}>
      {seconds > 0 && (
        // The banner at the top announces the pause once; this one counts down, and is not read out
        // every second.
        <Banner
          className="mb-4"
          icon="hourglass"
          title={<Trans>Requests paused</Trans>}
          tone="warn"
        >
          <Trans>Rate limit reached. Resuming in {seconds} s.</Trans>
        </Banner>
      )}
      {quota && left !== undefined ? (
        <>
          <p className="flex items-baseline gap-2">
            <span className="figures shrink-0 text-2xl font-semibold tracking-tight">{shown}</span>
            <span className="text-sm text-muted">
              <Trans>of {limit} requests left this minute</Trans>
            </span>
          </p>
          <div
            aria-label={t`API quota`}
            aria-valuemax={quota.limit}
            aria-valuemin={0}
            aria-valuenow={left}
            aria-valuetext={t`${shown} of ${{ total: limit }}`}
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
          {share < LOW && (
            <p className="mt-3 text-xs text-muted">
              <Trans>Payments go first.</Trans>
            </p>
          )}
        </>
      ) : (
        <p className="text-sm text-muted">
          <Trans>Not known</Trans>
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
