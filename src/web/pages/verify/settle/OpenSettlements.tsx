import { Trans } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import type { JournalEntry } from '../../../payment-flow/journal.ts'
import { Address } from '../../../ui/Address.tsx'
import { Amount } from '../../../ui/Amount.tsx'
import { Banner } from '../../../ui/Banner.tsx'
import { Button } from '../../../ui/Button.tsx'

/** Settlements begun in this browser whose outcome is open: each is gone on with, never begun a second time. */
export function OpenSettlements({ onOpen }: { onOpen: (id: string) => void }) {
  const [open, setOpen] = useState<readonly JournalEntry[]>([])
  useEffect(() => {
    let current = true
    void import('./runs.ts')
      .then(({ openSettlements }) => openSettlements())
      .then(
        (found) => current && setOpen(found),
        // A browser that keeps nothing has nothing open.
        () => undefined,
      )
    return () => {
      current = false
    }
  }, [])
  return open.map(({ id, state: { order } }) => {
    const amount = (
      <Amount
        atomic={order.amountAtomic}
        decimals={order.asset.decimals}
        symbol={order.asset.symbol}
      />
    )
    const wallet = <Address value={order.recipient} />
    return (
      <Banner
        action={
          <Button onClick={() => onOpen(id)} size="sm">
            <Trans>Continue</Trans>
          </Button>
        }
        key={id}
        role="note"
        title={<Trans>Settlement not finished</Trans>}
        tone="warn"
      >
        {order.operation?.kind === 'acknowledge' ? (
          <Trans>On-chain receipt for {wallet}</Trans>
        ) : (
          <Trans>
            {amount} into {wallet}.
          </Trans>
        )}
      </Banner>
    )
  })
}
