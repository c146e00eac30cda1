import { Trans } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import { findAsset } from '#contract/network.ts'
import { useConfig } from '../../api/use-config.ts'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { Amount } from '../../ui/Amount.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { listUndelivered, readOverdue, termsOf, type UndeliveredPurchase } from './pay/runs.ts'

/** Requests that were paid in this browser, or may still be, and not answered yet: every page says so. */
export function PurchaseNotice() {
  const [open, setOpen] = useState<readonly Undelivered[]>([])
  useEffect(() => {
    let current = true
    async function list() {
      const found = await listUndelivered()
      if (current) setOpen(found.map((each) => ({ ...each, terms: termsOf(each.purchase) })))
      return found
    }
    // A browser that keeps nothing has nothing unfinished.
    void list()
      .then(async (found) => (await readOverdue(found)) && list())
      .catch(() => undefined)
    return () => {
      current = false
    }
  }, [])
  return open.map(({ purchase, payment, terms }) => (
    <Banner
      action={
        <Link
          className={buttonClass({ size: 'sm' })}
          to={pathTo('explore', { search: { visit: purchase.id } })}
        >
          <Trans>Continue</Trans>
        </Link>
      }
      className="no-print mb-4"
      key={purchase.id}
      role="note"
      title={
        payment === 'paid' ? <Trans>Paid, not delivered</Trans> : <Trans>Payment pending</Trans>
      }
      tone="warn"
    >
      <Bought purchase={purchase} terms={terms} />
    </Banner>
  ))
}

type Undelivered = UndeliveredPurchase & { terms: ReturnType<typeof termsOf> }

/** What was bought, and for how much. */
function Bought({
  purchase,
  terms: { network, asset, amountAtomic },
}: Pick<Undelivered, 'purchase' | 'terms'>) {
  const { networks } = useConfig()
  const known = networks.find((each) => each.network === network)
  const currency = known && findAsset(known, asset)
  return (
    <>
      <UntrustedText
        className="break-all"
        text={purchase.resource.description || purchase.request.url}
      />
      {currency && (
        <>
          {' · '}
          <Amount
            atomic={amountAtomic}
            decimals={currency.decimals}
            exact
            symbol={currency.symbol}
          />
        </>
      )}
    </>
  )
}
