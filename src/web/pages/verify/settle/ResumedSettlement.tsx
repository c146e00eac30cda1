import { Trans } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import type { PaymentRun } from '../../../payment/run.ts'
import { PageSkeleton } from '../../../shell/PageSkeleton.tsx'
import { Banner } from '../../../ui/Banner.tsx'
import { Button } from '../../../ui/Button.tsx'
import { resumeSettlement } from './runs.ts'
import { SettleFlow } from './SettleFlow.tsx'

export type ResumedSettlementProps = { id: string; onLeave: () => void }

/** A settlement of this browser, where it was left. */
export function ResumedSettlement({ id, onLeave }: ResumedSettlementProps) {
  const [found, setFound] = useState<PaymentRun | 'held' | 'unknown'>()
  useEffect(() => {
    let current = true
    void resumeSettlement(id).then(
      (run) => current && setFound(run ?? 'unknown'),
      () => current && setFound('unknown'),
    )
    return () => {
      current = false
    }
  }, [id])
  if (found === undefined) return <PageSkeleton />
  if (typeof found === 'object') return <SettleFlow onDone={() => undefined} onLeave={onLeave} run={found} />
  return (
    <Banner
      action={
        <Button onClick={onLeave} size="sm">
          <Trans>Check another proof</Trans>
        </Button>
      }
      role="alert"
      tone="warn"
    >
      {found === 'held' ? (
        <Trans>This proof is being settled in another tab. Go on there.</Trans>
      ) : (
        <Trans>This settlement is over, or this browser does not know it. Paste the proof to see what became of it.</Trans>
      )}
    </Banner>
  )
}
