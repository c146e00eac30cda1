import { useEffect, useState } from 'react'
import { shortAddress } from '#contract/known-address.ts'
import { pathTo } from '../../paths.ts'
import { Link } from '../../router/Link.tsx'
import type { JournalEntry } from '../../payment/journal.ts'
import { Amount } from '../../ui/Amount.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { unfinishedPayments } from './runs.ts'

/** Payments of this browser that are under way: nobody should pay them a second time by accident. */
export function Unfinished() {
  const [entries, setEntries] = useState<readonly JournalEntry[]>([])
  useEffect(() => {
    unfinishedPayments().then(setEntries, () => setEntries([]))
  }, [])

  return entries.map(({ id, state }) => (
    <Banner
      action={
        <Link className={buttonClass({ size: 'sm' })} replace to={pathTo('checkout', { search: { payment: id } })}>
          Go on
        </Link>
      }
      className="mb-4"
      key={id}
      title="A payment from this browser is not settled yet"
      tone="warn"
    >
      <Amount atomic={state.order.amountAtomic} decimals={state.order.asset.decimals} exact symbol={state.order.asset.symbol} /> to{' '}
      <span className="font-mono text-[13px]">{shortAddress(state.order.recipient)}</span>
    </Banner>
  ))
}
