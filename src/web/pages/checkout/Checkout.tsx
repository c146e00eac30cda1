import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useCallback, useEffect, useState, type ReactNode } from 'react'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { navigate } from '../../router/location.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import type { PaymentRun } from '../../payment-flow/run.ts'
import { untilLetGo } from '../../payment-flow/tab-runs.ts'
import { Details } from './Details.tsx'
import { Flow, type StartOver } from './Flow.tsx'
import type { OpenLink } from '../../payment-flow/form/open-link.ts'
import { beginRun, resumeRun, unfinishedPayments } from '../../payment-flow/form/runs.ts'
import type { CheckoutPrefill } from '../../payment-flow/form/start-values.ts'
import { Unfinished } from './Unfinished.tsx'

type View =
  | { name: 'opening' }
  /** `previous`: the inputs of a payment that was given up or refused, to be changed. */
  | { name: 'details'; previous?: WalletPaymentIntent; network?: string; notice?: string }
  /** Another tab has it. A form with its values here would invite to pay twice. */
  | { name: 'held' }
  | { name: 'payment'; run: PaymentRun }

export type CheckoutProps = {
  asked: CheckoutPrefill
  link?: OpenLink
  /** The payment that the address names. */
  wanted: string | undefined
  /** The page's own address, with a payment or without; `network` is that of the payment before. */
  addressOf: (at: { payment?: string; network?: string }) => string
  /** On top, and no form then: why no new payment can be made here. */
  closed?: ReactNode | false
  /** Above the form. */
  children?: ReactNode
}

/**
 * Paying, under one address. The address names the payment from its first request on, so a reload takes up the same one,
 * and going back never sends anything again.
 */
export function Checkout({ asked, link, wanted, addressOf, closed, children }: CheckoutProps) {
  const [view, setView] = useState<View>({ name: 'opening' })

  useEffect(() => {
    const gone = new AbortController()
    void open()
    return () => gone.abort()

    async function open() {
      const next = await openView(wanted)
      if (gone.signal.aborted) return
      setView((view) =>
        view.name === 'payment' && view.run.state().order.id === wanted ? view : next,
      )
      if (next.name === 'held' && wanted && (await untilLetGo(wanted, gone.signal))) await open()
    }
  }, [wanted])

  const start = useCallback(
    async (order: WalletPaymentIntent) => {
      const run = await beginRun(order)
      setView({ name: 'payment', run })
      navigate(addressOf({ payment: order.id }), { replace: true })
      await run.build()
    },
    [addressOf],
  )

  const startOver = useCallback(
    (from: StartOver) => {
      const order = 'after' in from ? from.after : 'again' in from ? from.again : from.change
      // A reference names one order: paying again is another one.
      const previous =
        'after' in from ? undefined : 'again' in from ? { ...order, reference: undefined } : order
      setView({ name: 'details', network: order.network, previous })
      navigate(addressOf('after' in from ? { network: order.network } : {}), { replace: true })
    },
    [addressOf],
  )

  if (view.name === 'opening') return <PageSkeleton />
  if (view.name === 'held') return <Held onOther={() => navigate(addressOf({}))} />
  if (view.name === 'payment')
    return (
      <Flow
        key={view.run.state().order.id}
        onStart={start}
        onStartOver={startOver}
        run={view.run}
      />
    )
  return (
    <>
      {view.notice && (
        <Banner className="mb-4" role="status" tone="warn">
          {view.notice}
        </Banner>
      )}
      <Unfinished />
      {closed && <div className="mb-4">{closed}</div>}
      {children}
      {!closed && (
        <Details
          asked={{ ...asked, network: view.network ?? asked.network }}
          link={link}
          onStart={start}
          previous={view.previous}
        />
      )}
    </>
  )
}

function Held({ onOther }: { onOther: () => void }) {
  return (
    <Banner
      action={
        <Button onClick={onOther} size="sm">
          <Trans>New payment</Trans>
        </Button>
      }
      role="status"
      title={<Trans>This payment is open in another tab</Trans>}
      tone="warn"
    >
      <Trans>Go on there, or close that tab to go on here.</Trans>
    </Banner>
  )
}

async function openView(wanted: string | undefined): Promise<View> {
  try {
    if (wanted === undefined) return { name: 'details' }
    const run = await resumeRun(wanted)
    if (run === 'held') return { name: 'held' }
    if (run) return { name: 'payment', run }
    const [open] = await unfinishedPayments()
    return {
      name: 'details',
      notice: open
        ? undefined
        : t`This browser does not know that payment. Here you can start a new one.`,
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : t`unknown reason`
    return {
      name: 'details',
      notice: t`The payment could not be opened: ${reason}. Reload to try again.`,
    }
  }
}
