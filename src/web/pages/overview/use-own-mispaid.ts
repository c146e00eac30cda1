import { useEffect } from 'react'
import type { Viewer } from '../../api/queries.ts'
import { forgetMispaid, useMispaid, type Mispaid } from '../../payment-view/mispaid.ts'

/** What came to the viewer's wallets in another amount than was asked for, and has not gone back from this browser. */
export function useOwnMispaid({ wallets }: Viewer): readonly Mispaid[] {
  const all = useMispaid()
  useEffect(() => {
    if (all.length > 0) void forgetReturned(all).catch(() => undefined)
  }, [all])
  return all.filter(({ wallet }) => wallets === 'all' || wallets.includes(wallet))
}

/** A payment of this browser that names the transaction and arrived has dealt with it. */
async function forgetReturned(all: readonly Mispaid[]): Promise<void> {
  const [{ openJournal }, { isPaid }] = await Promise.all([
    import('../../payment-flow/journal.ts'),
    import('../../payment-flow/machine.ts'),
  ])
  const paid = (await openJournal().list()).filter(({ state }) => isPaid(state))
  for (const mispaid of all) {
    const back = paid.some(
      ({ state: { order } }) =>
        order.reference === mispaid.transaction &&
        order.network === mispaid.network &&
        order.recipient === mispaid.payer,
    )
    if (back) forgetMispaid(mispaid)
  }
}
