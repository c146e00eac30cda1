import { useLingui } from '@lingui/react/macro'
import { useCallback } from 'react'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { pathTo } from '../../paths.ts'
import { useSearch } from '../../router/use-route.ts'
import { Checkout } from './Checkout.tsx'

/** A payment to whomever the payer, or the page's address, names. */
export function CheckoutPage() {
  const { t } = useLingui()
  const search = useSearch('checkout')
  const { payment, ...asked } = search
  const addressOf = useCallback(
    (at: { payment?: string; network?: string }) =>
      pathTo('checkout', { search: at.network === undefined ? { ...search, payment: at.payment } : { network: at.network } }),
    [search],
  )
  return (
    <div className="mx-auto max-w-[880px]">
      <div className="no-print">
        <PageHeader subtitle={t`From your wallet, straight to the recipient.`} title={t`Pay`} />
      </div>
      <Checkout addressOf={addressOf} asked={asked} wanted={payment} />
    </div>
  )
}
