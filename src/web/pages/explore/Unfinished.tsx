import { Trans } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { mayHavePaid } from './pay/runs.ts'
import { isServed, type Purchase } from './pay/purchase.ts'
import { listPurchases } from './pay/purchases.ts'

/** Requests that were paid here and not answered yet. */
export function Unfinished({ onOpen }: { onOpen: (id: string) => void }) {
  const [open, setOpen] = useState<readonly Purchase[]>([])
  useEffect(() => {
    let current = true
    void findUnfinished().then(
      (found) => current && setOpen(found),
      // A browser that keeps nothing has nothing unfinished.
      () => undefined,
    )
    return () => {
      current = false
    }
  }, [])
  return open.map((visit) => (
    <Banner
      action={
        <Button onClick={() => onOpen(visit.id)} size="sm">
          <Trans>Go on</Trans>
        </Button>
      }
      className="mb-4"
      key={visit.id}
      role="note"
      title={<Trans>A request you paid for is not finished</Trans>}
      tone="warn"
    >
      <UntrustedText className="break-all" text={visit.request.url} />
    </Banner>
  ))
}

async function findUnfinished(): Promise<Purchase[]> {
  const visits = (await listPurchases()).filter((visit) => !isServed(visit)).slice(0, 5)
  const paid = await Promise.all(visits.map(({ id }) => mayHavePaid(id)))
  return visits.filter((_, index) => paid[index])
}
