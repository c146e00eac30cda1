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
import { isServed, type Purchase, listPurchases } from './pay/purchase.ts'
import { mayHavePaid, termsOf } from './pay/runs.ts'

/** Requests that were paid in this browser and not answered yet. Money was spent, and nothing received: every page says so. */
export function PurchaseNotice() {
  const [open, setOpen] = useState<readonly Unfinished[]>([])
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
  return open.map(({ purchase, terms }) => (
    <Banner
      action={
        <Link
          className={buttonClass({ size: 'sm' })}
          to={pathTo('explore', { search: { visit: purchase.id } })}
        >
          <Trans>Go on</Trans>
        </Link>
      }
      className="mb-4"
      key={purchase.id}
      role="note"
      title={<Trans>Paid, not delivered</Trans>}
      tone="warn"
    >
      <Bought terms={terms} purchase={purchase} />
    </Banner>
  ))
}

type Unfinished = { purchase: Purchase; terms: ReturnType<typeof termsOf> }

/** What was bought, and for how much. */
function Bought({ purchase, terms: { network, asset, amountAtomic } }: Unfinished) {
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

async function findUnfinished(): Promise<Unfinished[]> {
  const visits = (await listPurchases()).filter((purchase) => !isServed(purchase)).slice(0, 5)
  const paid = await Promise.all(visits.map(({ id }) => mayHavePaid(id)))
  return visits
    .filter((_, index) => paid[index])
    .map((purchase) => ({ purchase, terms: termsOf(purchase) }))
}
