import { useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useCallback, useState } from 'react'
import { hasRole } from '#contract/role.ts'
import { hostedWalletsQuery } from '../../api/hosted-wallets.ts'
import { useRole } from '../../api/session.ts'
import { useConfig } from '../../api/use-config.ts'
import { ItemLine, MerchantHeader, PayShell } from '../../shell/PayShell.tsx'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { useInDashboard } from '../../shell/Shell.tsx'
import { navigate } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { useSearch } from '../../router/use-route.tsx'
import { Checkout } from './Checkout.tsx'
import { PayFrom, type PayingWallet } from './PayFrom.tsx'

/** For operators alone. */
const HostedCheckout = lazy(() =>
  import('./hosted/HostedCheckout.tsx').then((module) => ({ default: module.HostedCheckout })),
)

/** A payment to whomever the payer, or the page's address, names. */
export function CheckoutPage() {
  const { t } = useLingui()
  const search = useSearch('checkout')
  const { payment, from, ...prefill } = search
  const addressOf = useCallback(
    (at: { payment?: string; network?: string }) =>
      pathTo('checkout', {
        search:
          at.network === undefined ? { ...search, payment: at.payment } : { network: at.network },
      }),
    [search],
  )
  // Opened again, this address shows an empty form: what is signed is not prepared once more.
  const forget = useCallback(
    () =>
      navigate(pathTo('checkout', { search: { from, network: search.network } }), {
        replace: true,
      }),
    [from, search.network],
  )
  const { title } = useConfig()
  const [network, setNetwork] = useState<string>()
  const operator = hasRole(useRole(), 'operator')
  const { data: wallets = [] } = useQuery({ ...hostedWalletsQuery, enabled: operator })
  const [source, setSource] = useState<PayingWallet>(from === undefined ? 'own' : 'managed')
  if (!useInDashboard())
    return (
      <PayShell>
        <MerchantHeader name={title} network={network} />
        <Checkout
          addressOf={addressOf}
          item={<ItemLine description={prefill.description} reference={prefill.reference} />}
          onNetwork={setNetwork}
          paymentId={payment}
          prefill={prefill}
        />
      </PayShell>
    )
  return (
    <div className="mx-auto max-w-[880px]">
      <div className="no-print">
        <PageHeader
          action={wallets.length > 0 && <PayFrom onChange={setSource} value={source} />}
          title={t`Pay`}
        />
      </div>
      {source === 'managed' && wallets.length > 0 ? (
        <Suspense fallback={<PageSkeleton />}>
          <HostedCheckout onSigned={forget} prefill={{ ...prefill, from }} wallets={wallets} />
        </Suspense>
      ) : (
        <Checkout addressOf={addressOf} prefill={prefill} paymentId={payment} />
      )}
    </div>
  )
}
