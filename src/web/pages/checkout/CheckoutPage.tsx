import { useCallback, useEffect, useState } from 'react'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { pathTo } from '../../paths.ts'
import { navigate } from '../../router/location.ts'
import { useSearch } from '../../router/use-route.ts'
import { Banner } from '../../ui/Banner.tsx'
import type { PaymentOrder } from '../../payment/order.ts'
import type { PaymentRun } from '../../payment/run.ts'
import { Details } from './Details.tsx'
import { Flow } from './Flow.tsx'
import { beginRun, resumeRun, unfinishedPayments } from './runs.ts'
import { Unfinished } from './Unfinished.tsx'

type View =
  | { name: 'opening' }
  /** `previous`: the inputs of a payment that was given up or refused, to be changed. */
  | { name: 'details'; previous?: PaymentOrder; network?: string; notice?: string }
  | { name: 'payment'; run: PaymentRun }

/**
 * Paying, under one address. The address names the payment from its first request on, so a reload takes up the same one,
 * and going back never sends anything again.
 */
export function CheckoutPage() {
  const search = useSearch('checkout')
  const [view, setView] = useState<View>({ name: 'opening' })
  const wanted = search.payment

  useEffect(() => {
    let current = true
    void openView(wanted).then((next) => {
      if (current) setView((view) => (view.name === 'payment' && view.run.state().order.id === wanted ? view : next))
    })
    return () => {
      current = false
    }
  }, [wanted])

  const start = useCallback(
    async (order: PaymentOrder) => {
      const run = await beginRun(order)
      setView({ name: 'payment', run })
      navigate(pathTo('checkout', { search: { ...search, payment: order.id } }), { replace: true })
      await run.build()
    },
    [search],
  )

  const startOver = useCallback(
    (from: { change: PaymentOrder } | { after: PaymentOrder }) => {
      const { network } = 'after' in from ? from.after : from.change
      setView({ name: 'details', network, previous: 'change' in from ? from.change : undefined })
      navigate(pathTo('checkout', { search: 'change' in from ? { ...search, payment: undefined } : { network } }), { replace: true })
    },
    [search],
  )

  return (
    <div className="mx-auto max-w-[880px]">
      <div className="no-print">
        <PageHeader subtitle="From your wallet, straight to the recipient." title="Pay" />
      </div>
      {view.name === 'opening' && <PageSkeleton />}
      {view.name === 'details' && (
        <>
          {view.notice && (
            <Banner className="mb-4" role="status" tone="warn">
              {view.notice}
            </Banner>
          )}
          <Unfinished />
          <Details network={view.network} onStart={start} previous={view.previous} />
        </>
      )}
      {view.name === 'payment' && <Flow key={view.run.state().order.id} onStart={start} onStartOver={startOver} run={view.run} />}
    </div>
  )
}

async function openView(wanted: string | undefined): Promise<View> {
  try {
    if (wanted === undefined) return { name: 'details' }
    const run = await resumeRun(wanted)
    if (run === 'held') return { name: 'details', notice: 'This payment is open in another tab. Go on there.' }
    if (run) return { name: 'payment', run }
    const [open] = await unfinishedPayments()
    return { name: 'details', notice: open ? undefined : 'This browser does not know that payment. Here you can start a new one.' }
  } catch (error) {
    return { name: 'details', notice: `The payment could not be opened: ${error instanceof Error ? error.message : 'unknown reason'}. Reload to try again.` }
  }
}
