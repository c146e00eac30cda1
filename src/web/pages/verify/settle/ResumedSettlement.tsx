import { Trans } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import type { PaymentRun } from '../../../payment-flow/run.ts'
import { untilLetGo } from '../../../payment-flow/tab-runs.ts'
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
    const gone = new AbortController()
    void resume()
    return () => gone.abort()

    async function resume() {
      const run = (await resumeSettlement(id).catch(() => undefined)) ?? 'unknown'
      if (gone.signal.aborted) return
      setFound(run)
      if (run === 'held' && (await untilLetGo(id, gone.signal))) await resume()
    }
  }, [id])
  if (found === undefined) return <PageSkeleton />
  if (typeof found === 'object')
    return <SettleFlow onDone={() => undefined} onLeave={onLeave} run={found} />
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
        <Trans>Open in another tab. Continue there, or close it.</Trans>
      ) : (
        <Trans>No such settlement here. Paste the proof.</Trans>
      )}
    </Banner>
  )
}
