import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import { pathTo } from '../../router/paths.ts'
import { Link } from '../../router/Link.tsx'
import type { JournalEntry } from '../../payment-flow/journal.ts'
import { isPaid } from '../../payment-flow/machine.ts'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { unconfirmedPayments, unfinishedPayments } from '../../payment-flow/form/runs.ts'

/** Payments of this browser that are under way, or that their payer still has to confirm: nobody should pay them a second time by accident. */
export function Unfinished() {
  const { t } = useLingui()
  const [entries, setEntries] = useState<readonly JournalEntry[]>([])
  const [unconfirmed, setUnconfirmed] = useState<readonly JournalEntry[]>([])
  useEffect(() => {
    unfinishedPayments().then(setEntries, () => setEntries([]))
    unconfirmedPayments().then(setUnconfirmed, () => setUnconfirmed([]))
  }, [])

  return [...entries, ...unconfirmed].map(({ id, state }) => (
    <Banner
      action={
        <Link
          className={buttonClass({ size: 'sm' })}
          replace
          to={pathTo('checkout', { search: { payment: id } })}
        >
          <Trans>Go on</Trans>
        </Link>
      }
      className="mb-4"
      key={id}
      title={
        isPaid(state)
          ? t`A payment from this browser is not confirmed to be yours`
          : t`A payment from this browser is not settled yet`
      }
      tone="warn"
    >
      <Trans>
        <Amount
          atomic={state.order.amountAtomic}
          decimals={state.order.asset.decimals}
          exact
          symbol={state.order.asset.symbol}
        />{' '}
        to <Address value={state.order.recipient} />
      </Trans>
    </Banner>
  ))
}
